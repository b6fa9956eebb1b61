//! Disks without room, and disks that may only be read.

use super::super::harness::{Disk, gate};

#[test]
fn on_a_full_disk_one_can_read_and_is_told_why_one_cannot_write() {
    let Some((desk, disk)) = Disk::with_desk() else { return };
    desk.add(&[], "true");
    desk.add(&["--after", "1"], "true");
    disk.fill();
    for words in
        [&["list"][..], &["show", "1"], &["status"], &["deps", "2"], &["list", "all", "--json"]]
    {
        let said = desk.ax(words);
        assert_eq!((said.exit, &said.err[..]), (0, ""), "{words:?}");
    }
    for words in [&["add", "true"][..], &["hold", "1"], &["run", "--once"], &["recover"]] {
        let said = desk.ax(words);
        let is_refused = said.exit == 5 && said.err.starts_with("ax: no space is left for ");
        assert!(is_refused || words == ["recover"] && said.exit == 0, "{words:?}: {}", said.err);
    }
    disk.empty();
    desk.add(&[], "true");
    assert_eq!(desk.run(&["--once"]).exit(), 0);
    assert_eq!(desk.states(), ["success"; 3]);
    desk.ok(&["doctor"]);
}

#[test]
fn a_result_that_finds_no_room_is_kept_without_its_runner() {
    let Some((desk, disk)) = Disk::with_desk() else { return };
    desk.add(&["-r", "0"], &format!("echo $$ > main; {}; exit 3", gate("go")));
    let runner = desk.run(&[]);
    let main = desk.pid_in("main");
    desk.wait_for_states(&["running"]);
    disk.fill();
    runner.kill();
    desk.open("go");
    desk.wait_until("it has ended", || !super::super::harness::process::is_alive(main));
    assert_eq!(desk.states(), ["running"]);
    disk.empty();
    desk.wait_for_states(&["dead"]);
    assert_eq!(desk.job(1)["exit_code"], 3);
    assert_eq!(desk.job(1)["attempts"], 1);
}

#[test]
fn on_a_disk_that_may_only_be_read_one_is_told_so() {
    let Some((desk, disk)) = Disk::with_desk() else { return };
    desk.add(&[], "true");
    assert!(disk.let_write(false), "nobody has it open");
    for words in [&["add", "true"][..], &["hold", "1"], &["run", "--once"]] {
        let said = desk.ax(words);
        assert_eq!(said.exit, 5, "{words:?}: {}", said.err);
        let why = "ax.db lies on a disk that may only be read\n";
        assert!(said.err.contains(why), "{words:?}: {}", said.err);
    }
    assert!(disk.let_write(true));
    assert_eq!(desk.run(&["--once"]).exit(), 0);
    assert_eq!(desk.states(), ["success"]);
}
