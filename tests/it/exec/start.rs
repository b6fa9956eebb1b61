//! What a job sees, and how it is told that it cannot be started.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::Arc;
use std::time::Duration;

use ax_scheduler::job::{EnvBlock, Outcome};

use super::bench::{Bench, wait_until};

fn unstartable(why: impl Into<String>) -> Outcome {
    Outcome::Unstartable(why.into())
}

#[test]
fn the_exit_code_is_the_outcome() {
    let mut bench = Bench::new();
    for code in [0, 1, 3, 127, 255] {
        assert_eq!(bench.run_text(&format!("exit {code}")).outcome, Outcome::Exited(code));
    }
}

#[test]
fn a_signal_is_the_outcome_also_a_real_time_one() {
    let mut bench = Bench::new();
    assert_eq!(bench.run_text("kill -9 $$").outcome, Outcome::Signaled(9));
    assert_eq!(bench.run_text("kill -35 $$").outcome, Outcome::Signaled(35));
}

#[test]
fn jobs_share_one_supervisor_and_each_has_its_own_process() {
    let mut bench = Bench::new();
    let first = bench.run_text("true").process.expect("started");
    let supervisor = bench.supervisor();
    let second = bench.run_text("true").process.expect("started");
    assert_ne!(first.pid, second.pid);
    assert_eq!(bench.supervisor(), supervisor);
}

#[test]
fn exact_words_reach_the_program_as_they_are() {
    let mut bench = Bench::new();
    let job = bench.words(&["printf", "[%s]", "a b", "", "$HOME", "*", "'\"", "ü"]);
    assert_eq!(bench.output_of(&job), "[a b][][$HOME][*]['\"][ü]");
}

#[test]
fn a_shell_text_is_one_for_the_shell() {
    let mut bench = Bench::new();
    let job = bench.job("x=$((6 * 7)); echo $x | tr 2 3");
    assert_eq!(bench.output_of(&job), "43\n");
}

#[test]
fn a_program_is_looked_up_in_the_path_of_the_job() {
    let mut bench = Bench::new();
    let tools = bench.path("tools");
    fs::create_dir(&tools).expect("made");
    fs::write(tools.join("frob"), "#!/bin/sh\necho frobbed\n").expect("written");
    fs::set_permissions(tools.join("frob"), fs::Permissions::from_mode(0o755)).expect("set");
    let mut job = bench.words(&["frob"]);
    assert_eq!(bench.run(&job).outcome, unstartable("no program `frob` in PATH"));
    let path = [b"PATH=tools:", tools.as_os_str().as_bytes()].concat();
    job.spec.env = Some(Arc::new(EnvBlock::from_entries([path.as_slice()])));
    assert_eq!(bench.output_of(&job), "frobbed\n");
    let relative = bench.words(&["tools/frob"]);
    assert_eq!(bench.output_of(&relative), "frobbed\n");
}

#[test]
fn a_script_without_an_interpreter_line_is_run_by_the_shell() {
    let mut bench = Bench::new();
    fs::write(bench.path("script"), "echo \"$0 $1\"\n").expect("written");
    fs::set_permissions(bench.path("script"), fs::Permissions::from_mode(0o755)).expect("set");
    let job = bench.words(&["./script", "a b"]);
    assert_eq!(bench.output_of(&job), "./script a b\n");
}

#[test]
fn what_cannot_be_started_says_why() {
    let mut bench = Bench::new();
    let here = bench.temp.path().display().to_string();
    fs::write(bench.path("plain"), "").expect("written");
    for (script, interpreter) in [("orphan", "/no/such/interpreter"), ("child", "/tmp")] {
        fs::write(bench.path(script), format!("#!{interpreter}\n")).expect("written");
        fs::set_permissions(bench.path(script), fs::Permissions::from_mode(0o755)).expect("set");
    }
    for (program, why) in [
        ("./missing", "./missing does not exist"),
        ("./plain", "./plain is not executable"),
        ("./plain/x", "./plain/x: not a directory"),
        ("./orphan", "the interpreter of ./orphan does not exist"),
        ("./child", "the interpreter of ./child is not executable"),
        (here.as_str(), &format!("{here} is a directory")),
    ] {
        let job = bench.words(&[program]);
        let ended = bench.run(&job);
        assert_eq!(ended.outcome, unstartable(why));
        assert_eq!(ended.process, None);
    }
    let job = bench.words(&["true"]);
    assert_eq!(bench.output_of(&job), "");
}

#[test]
fn words_that_are_too_large_together_say_so() {
    let mut bench = Bench::new();
    let large = "x".repeat(100_000);
    let mut words = vec!["true"];
    words.resize(100, large.as_str());
    let job = bench.words(&words);
    let why = "its arguments and environment are too large together";
    assert_eq!(bench.run(&job).outcome, unstartable(why));
}

#[test]
fn a_directory_that_is_gone_is_named() {
    let mut bench = Bench::new();
    let gone = bench.path("gone").display().to_string();
    let mut job = bench.job("true");
    job.spec.cwd = Some(gone.clone().into_bytes());
    let why = format!("directory {gone} does not exist");
    assert_eq!(bench.run(&job).outcome, unstartable(why));
    fs::write(&gone, "").expect("written");
    assert_eq!(bench.run(&job).outcome, unstartable(format!("{gone} is not a directory")));
}

#[test]
fn a_job_has_its_directory_and_its_umask_and_leaves_none_to_the_next() {
    let mut bench = Bench::new();
    fs::create_dir(bench.path("sub")).expect("made");
    let mut job = bench.job("echo x > made; pwd -P; echo $PWD");
    let sub = bench.path("sub").display().to_string();
    job.spec.cwd = Some(sub.clone().into_bytes());
    job.spec.umask = Some(0o077);
    assert_eq!(bench.output_of(&job), format!("{sub}\n{sub}\n"));
    assert_eq!(fs::metadata(bench.path("sub/made")).expect("there").mode() & 0o777, 0o600);
    let mut job = bench.job("pwd -P; umask");
    job.spec.umask = Some(0o002);
    assert_eq!(bench.output_of(&job), format!("{}\n0002\n", bench.temp.path().display()));
}

#[test]
fn a_job_that_names_no_directory_has_that_of_its_runner() {
    let mut bench = Bench::new();
    let mut job = bench.job("pwd -P; echo $PWD");
    job.spec.cwd = None;
    let own = std::env::current_dir().expect("there").display().to_string();
    assert_eq!(bench.output_of(&job), format!("{own}\n{own}\n"));
}

#[test]
fn a_job_has_its_environment_and_no_other() {
    let mut bench = Bench::new();
    let mut job = bench.words(&["/usr/bin/env"]);
    job.spec.env = Some(Arc::new(EnvBlock::from_entries([
        b"A=1\nB=2".as_slice(),
        b"PWD=/elsewhere",
        b"AX_JOB_ID=outer",
        b"EMPTY=",
    ])));
    let output = bench.output_of(&job);
    let db = bench.db();
    let here = bench.temp.path().display();
    let want = format!(
        "A=1\nB=2\nEMPTY=\nAX_JOB_ID=1\nAX_ATTEMPT=1\nAX_DB={}\nPWD={here}\n",
        db.display()
    );
    assert_eq!(output, want);
}

#[test]
fn a_job_that_brings_no_environment_has_that_of_its_runner() {
    let mut bench = Bench::new();
    let mut job = bench.job("echo \"$PATH\" $AX_JOB_ID");
    job.spec.env = None;
    let path = std::env::var("PATH").expect("a PATH");
    assert_eq!(bench.output_of(&job), format!("{path} 1\n"));
}

#[test]
fn each_job_has_its_own_environment_whichever_the_last_one_had() {
    let mut bench = Bench::new();
    let [a, b] = ["A=1", "B=2"].map(|entry| Arc::new(EnvBlock::from_entries([entry.as_bytes()])));
    let own = std::env::var("PATH").expect("a PATH");
    for (env, want) in [
        (Some(&a), "1,,".to_owned()),
        (Some(&a), "1,,".to_owned()),
        (Some(&b), ",2,".to_owned()),
        (None, format!(",,{own}")),
        (Some(&b), ",2,".to_owned()),
        (Some(&a), "1,,".to_owned()),
    ] {
        let mut job = bench.job("env | grep -q ^PATH= || PATH=; echo $A,$B,$PATH");
        job.spec.env = env.cloned();
        assert_eq!(bench.output_of(&job), want + "\n");
    }
}

#[test]
fn a_supervisor_that_replaces_a_killed_one_learns_the_environment_anew() {
    let mut bench = Bench::new();
    let env = Arc::new(EnvBlock::from_entries([b"A=1".as_slice()]));
    for _ in 0..2 {
        let mut job = bench.job("echo $A; kill -9 $PPID");
        job.spec.env = Some(Arc::clone(&env));
        assert!(matches!(bench.run(&job).outcome, Outcome::Lost(_)));
        let mut job = bench.job("echo $A");
        job.spec.env = Some(Arc::clone(&env));
        assert_eq!(bench.output_of(&job), "1\n");
    }
}

#[test]
fn standard_input_is_at_its_end() {
    let mut bench = Bench::new();
    let job = bench.words(&["cat"]);
    assert_eq!(bench.output_of(&job), "");
}

#[test]
fn a_job_is_in_a_session_without_a_terminal_and_leads_its_group() {
    let mut bench = Bench::new();
    let job = bench.words(&["cut", "-d", " ", "-f", "5-7", "/proc/self/stat"]);
    let ended = bench.run(&job);
    let pid = ended.process.expect("started").pid;
    let want = format!("{pid} {} 0\n", bench.supervisor());
    assert_eq!(String::from_utf8_lossy(&ended.output.bytes), want);
}

/// What a job prints that was run by a runner started in this way.
fn output_under(shell: &str, text: &str) -> String {
    let bench = Bench::without_runner();
    let mut runner = bench.start_runner_as(shell, Duration::from_mins(1), &[text]);
    let idle = bench.dir.root().join("idle");
    wait_until("the runner idles", || idle.exists());
    runner.kill();
    let ended = bench.recorded_ends(1).remove(0);
    assert_eq!(ended.outcome, Outcome::Exited(0));
    String::from_utf8(ended.output.bytes).expect("text")
}

#[test]
fn descriptors_that_the_runner_inherited_reach_no_job() {
    let output = output_under("exec 7</etc/passwd 8>>/dev/null;", "ls /proc/$$/fd; true");
    assert_eq!(output, "0\n1\n2\n");
}

#[test]
fn signals_that_the_runner_blocks_or_ignores_are_as_usual_for_jobs() {
    let ignore = "trap '' CHLD TERM INT HUP PIPE USR1;";
    let output = output_under(ignore, "exec grep -E '^Sig(Blk|Ign)' /proc/self/status");
    let masks: Vec<_> = output
        .lines()
        .filter_map(|line| u64::from_str_radix(line.split_once('\t')?.1, 16).ok())
        .collect();
    assert_eq!(masks, [0, 0], "{output}");
}
