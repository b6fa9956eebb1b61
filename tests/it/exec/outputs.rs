//! What is kept of what jobs print.

use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use ax_scheduler::exec::kept::Kept;
use ax_scheduler::exec::{Ended, Executor, output};
use ax_scheduler::job::{Claimed, Outcome};

use super::bench::{Bench, wait_until};

#[test]
fn short_output_comes_along_byte_for_byte() {
    let mut bench = Bench::new();
    let job = bench.job("printf 'a\\0\\377\\n'; printf 'b\\n' >&2");
    let ended = run_shortly(&mut bench, &job, || ()).0;
    assert_eq!(ended.output.bytes, b"a\0\xff\nb\n");
    assert_eq!((ended.output.written, ended.output.last_line.as_str()), (6, "b"));
    assert!(!ended.output.in_file && !bench.output_file(ended.claim).exists());
}

#[test]
fn each_job_has_only_its_own_output() {
    let mut bench = Bench::new();
    for text in ["echo one", "true", "echo two; sleep 0.05", "echo three"] {
        let words =
            text.strip_prefix("echo ").map_or("", |rest| rest.split(';').next().unwrap_or(""));
        let ended = bench.run_text(text);
        assert_eq!(String::from_utf8_lossy(&ended.output.bytes).trim_end(), words);
    }
}

#[test]
fn long_output_stays_in_a_file_for_its_owner_alone() {
    let mut bench = Bench::new();
    let ended = bench.run_text("seq 100000");
    let file = bench.output_file(ended.claim);
    let lines: Vec<_> = (1..=100_000).map(|n| n.to_string()).collect();
    let want = lines.join("\n") + "\n";
    assert_eq!(fs::read_to_string(&file).expect("kept"), want);
    assert_eq!(fs::metadata(&file).expect("kept").mode() & 0o777, 0o600);
    assert_eq!((ended.output.bytes, ended.output.in_file), (vec![], true));
    assert_eq!(
        (ended.output.written, ended.output.last_line.as_str()),
        (want.len() as u64, "100000")
    );
}

#[test]
fn the_umask_of_a_job_does_not_reach_the_file_of_the_next() {
    let mut bench = Bench::new();
    let mut job = bench.job("sleep 0.05");
    job.spec.umask = Some(0o777);
    bench.run(&job);
    let ended = bench.run_text("seq 100000");
    let file = bench.output_file(ended.claim);
    assert_eq!(fs::metadata(file).expect("kept").mode() & 0o777, 0o600);
}

#[test]
fn output_can_be_read_while_the_job_runs_and_until_it_is_stored() {
    let mut bench = Bench::new();
    let job = bench.job("echo early; until [ -e go ]; do sleep 0.01; done");
    let begun = bench.begin(job);
    begun.start();
    let file = begun.dir.output(begun.claim.job, begun.claim.attempt);
    wait_until("the line is there", || fs::read(&file).is_ok_and(|text| text == b"early\n"));
    fs::write(begun.temp.join("go"), "").expect("written");
    let (_bench, ended) = begun.end();
    assert_eq!((ended.output.bytes, ended.output.in_file), (b"early\n".to_vec(), false));
    assert!(file.exists());
}

/// Runs a job until it lives so shortly that its start is not told of, which a
/// busy machine does not grant each time, but once in a while; gives its end, and what `look` saw
/// before it.
fn run_shortly<T>(bench: &mut Bench, job: &Claimed, look: impl Fn() -> T) -> (Ended, T) {
    for _ in 0..200 {
        let mut is_told = false;
        let seen = look();
        let ended = bench.executor.execute(job, &mut |_| is_told = true);
        if !is_told {
            return (ended, seen);
        }
        let _ = fs::remove_file(bench.output_file(job.claim));
    }
    panic!("the start of every job is told of");
}

#[test]
fn short_jobs_change_no_directory() {
    let mut bench = Bench::new();
    bench.run_text("true");
    let out = bench.dir.out();
    let stamp = move || {
        let meta = fs::metadata(&out).expect("there");
        (meta.mtime(), meta.mtime_nsec())
    };
    let job = super::claimed(&bench.db(), 99, "echo x");
    let (_, before) = run_shortly(&mut bench, &job, &stamp);
    assert_eq!(stamp(), before);
}

#[test]
fn endless_output_is_bounded_while_the_job_runs() {
    let mut bench = Bench::new();
    let mut job = bench.job(
        "echo first; yes | head -c 400000000; until [ -e go ]; do sleep 0.01; done; echo last",
    );
    job.spec.timeout = None;
    let begun = bench.begin(job);
    begun.start();
    let file = begun.dir.output(begun.claim.job, begun.claim.attempt);
    wait_until("all is written", || {
        fs::metadata(&file).is_ok_and(|meta| meta.len() >= 400_000_000)
    });
    let on_disk = || fs::metadata(&file).expect("there").blocks() * 512;
    wait_until("the file is cut", || on_disk() <= output::LIMIT);
    fs::write(begun.temp.join("go"), "").expect("written");
    let (_bench, ended) = begun.end();
    assert_eq!((ended.output.written, ended.output.last_line.as_str()), (400_000_011, "last"));
    let mut text = String::new();
    Kept::open(&file).expect("open").read_to_string(&mut text).expect("read");
    assert!(text.starts_with("first\ny\n") && text.ends_with("y\nlast\n"));
    assert!(text.contains(" bytes left out]\n") && (text.len() as u64) < output::LIMIT);
}

#[test]
fn a_job_whose_output_cannot_be_kept_runs_and_says_so() {
    let mut bench = Bench::new();
    let first = bench.run_text("sleep 0.05; exit 3");
    assert!(bench.output_file(first.claim).exists());
    fs::remove_dir_all(bench.dir.out()).expect("removed");
    let ended = bench.run_text("echo y; exit 3");
    assert_eq!(ended.outcome, Outcome::Exited(3));
    assert!(ended.output.last_line.starts_with("[ax: the output could not be kept: "));
}

#[test]
fn the_limit_is_that_of_the_environment() {
    let bench = Bench::without_runner();
    let limit = "AX_OUTPUT_LIMIT=512K; export AX_OUTPUT_LIMIT;";
    let mut runner = bench.start_runner_as(limit, Duration::from_mins(1), &["seq 1000000"]);
    let idle = bench.dir.root().join("idle");
    wait_until("the runner idles", || idle.exists());
    runner.kill();
    let ended = bench.recorded_ends(1).remove(0);
    assert_eq!((ended.output.written, ended.output.last_line.as_str()), (6_888_896, "1000000"));
    let file = fs::metadata(bench.output_file(ended.claim)).expect("kept");
    assert!(file.len() == 6_888_896 && file.blocks() * 512 <= 512 * 1024);
}
