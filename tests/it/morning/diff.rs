//! `ax diff`, over real attempts.

use crate::harness::Desk;

/// Prints some lines, the last of them by a file that may be there, and fails
/// without it.
const READS: &str = "echo \"at $(date +%T) by $$\"; echo reading; cat fixed && echo done";

#[test]
fn the_last_good_attempt_of_a_job_is_compared_with_its_last_bad_one() {
    let desk = Desk::new();
    desk.add(&["-n", "reader", "-r", "0"], READS);
    assert_eq!(desk.ax(&["run", "--until-idle"]).exit, 1);
    desk.open("fixed");
    desk.ok(&["retry", "1"]);
    desk.ok(&["run", "--until-idle"]);
    let text = desk.ok(&["diff", "1"]);
    assert!(text.contains("\nattempt  2  "), "{text}");
    assert!(text.contains("\nend      exit 0  "), "{text}");
    let difference = "\
the outputs differ from line 3 on:
  1  at [TIME] by [PID]
  2  reading
- 3  done
+ 3  cat: fixed: No such file or directory
";
    let bracketed = regex::Regex::new(r"at \S+ by \d+")
        .expect("valid")
        .replace_all(&text, "at [TIME] by [PID]")
        .into_owned();
    assert!(bracketed.ends_with(difference), "{text}");
    let exact = desk.ok(&["diff", "1", "--exact", "-n", "0"]);
    assert!(exact.contains("\nthe outputs differ from line 1 on:\n- 1  at "), "{exact}");
    assert_eq!(desk.ok(&["diff", "1", "-o", "ids"]), "1\n1\n");
    assert_eq!(desk.ok(&["diff", "1", "-o", "csv"]).lines().count(), 3);
    let json = desk.ax(&["diff", "1.1", "1.2", "--json"]).json();
    assert_eq!((&json["first"]["exit_code"], &json["second"]["exit_code"]), (&1.into(), &0.into()));
}

#[test]
fn what_one_job_lacks_is_found_among_those_of_its_name_or_its_schedule() {
    let desk = Desk::new();
    for (name, text) in [("a", "echo fine"), ("b", "echo other"), ("a", "echo broken; exit 3")] {
        desk.add(&["-n", name, "-r", "0"], text);
    }
    desk.ax(&["run", "--until-idle"]);
    let json = desk.ax(&["diff", "3", "--json"]).json();
    assert_eq!((&json["good"]["id"], &json["bad"]["id"]), (&1.into(), &3.into()));
    assert_eq!(json["difference"]["good"][0], "fine");
    let json = desk.ax(&["diff", "name:?", "--json"]).json();
    assert_eq!(json["good"]["id"], 2, "of several jobs the newest counts");

    let said = desk.ax(&["diff", "2"]);
    assert_eq!(said.exit, 3);
    let want = "ax: no attempt of job 2 failed, nor any other named `b`\nhint: `ax logs 2 --attempt 1` shows";
    assert!(said.err.starts_with(want), "{}", said.err);
}

#[test]
fn what_cannot_be_compared_is_told_in_words() {
    let desk = Desk::new();
    desk.add(&[], "true");
    let said = desk.ax(&["diff", "1"]);
    let want =
        "ax: no attempt of `1` ended well or failed\nhint: `ax list 1` shows where it stands\n";
    assert_eq!((said.exit, said.err.as_str()), (3, want));
    assert_eq!(desk.ax(&["diff", "9"]).exit, 3);
    assert_eq!(desk.ax(&["diff", "1", "1"]).exit, 3);
    assert_eq!(desk.ax(&["diff", "1.1"]).exit, 2);
    desk.ok(&["run", "--until-idle"]);
    assert_eq!(desk.ax(&["diff", "1.7", "1"]).exit, 3);
    assert!(desk.ok(&["diff", "1", "1"]).ends_with("\nneither printed anything\n"));
}

#[test]
fn an_output_that_is_gone_hides_nothing_else() {
    let desk = Desk::new();
    let long = "head -c 20000 /dev/zero | tr '\\0' x; test -e fixed";
    desk.add(&["-r", "0"], long);
    desk.ax(&["run", "--until-idle"]);
    desk.open("fixed");
    desk.ok(&["retry", "1"]);
    desk.ok(&["run", "--until-idle"]);
    assert!(desk.ok(&["diff", "1"]).ends_with("\nthe outputs are the same, 1 line\n"));
    for entry in std::fs::read_dir(desk.file("ax.db.d/out")).expect("there").flatten() {
        std::fs::remove_file(entry.path()).expect("removed");
    }
    let text = desk.ok(&["diff", "1"]);
    assert!(text.contains("\nend      exit 0  "), "{text}");
    assert!(text.ends_with(", is gone\n"), "{text}");
}
