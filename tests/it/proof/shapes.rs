//! Jobs that write down what happens to them, in the shapes that people use.
//!
//! Each job holds a lock of its own as long as anything of it lives, so that
//! another attempt beside it is seen whatever became of the first process.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// Words: how long it takes, its exit code, from which attempt on it is 0, and
/// `tree` if it starts others that go their own way.
const SCRIPT: &str = r#"
exec 9>>"alone.$AX_JOB_ID"
flock -n 9 || echo "overlap $AX_JOB_ID $AX_ATTEMPT" >>ledger
echo "start $AX_JOB_ID $AX_ATTEMPT" >>ledger
[ "$4" != tree ] || setsid sh -c 'trap "" TERM; sleep 300 & sleep 300' &
sleep "$1"
code=$2
[ "$AX_ATTEMPT" -lt "$3" ] || code=0
echo "end $AX_JOB_ID $AX_ATTEMPT $code" >>ledger
exit "$code"
"#;

/// Never.
const NEVER: u32 = 1_000_000;

/// Longer than any test.
const LONG: &str = "300";

/// Puts the script where jobs find it.
pub(crate) fn lay_out(dir: &Path) {
    fs::write(dir.join("job.sh"), SCRIPT).expect("a file can be made");
}

/// Lines as `ax add --from` reads them.
pub(crate) fn text(lines: &[Value]) -> String {
    lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// Jobs that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One that ends well.
    Single,
    /// Four, one after the other.
    Chain,
    /// One, four after it, one after those.
    Fan,
    /// One that ends well at the third attempt, one that never does, what
    /// follows on that, and what is skipped for it.
    Retries,
    /// One that takes too long with all it has started, and its successor.
    Timeout,
    /// Two that must not run blindly twice, and what follows on them.
    Hold,
}

impl Shape {
    pub(crate) const ALL: [Self; 6] =
        [Self::Single, Self::Chain, Self::Fan, Self::Retries, Self::Timeout, Self::Hold];

    /// Lines for `ax add --from -`, with keys that begin with `prefix`. Each
    /// job takes so many seconds.
    pub(crate) fn lines(self, prefix: &str, seconds: f64) -> Vec<Value> {
        let key = |name: &str| format!("{prefix}-{name}");
        let job = |name: &str, words: Words| Job::new(key(name), words, seconds);
        let well = Words { code: 0, from: 1 };
        let after = |job: Job, kind: &str, parents: &[&str]| {
            job.with(kind, parents.iter().map(|parent| key(parent)).collect::<Vec<_>>())
        };
        let jobs = match self {
            Self::Single => vec![job("one", well)],
            Self::Chain => vec![
                job("1", well),
                after(job("2", well), "after", &["1"]),
                after(job("3", well), "after", &["2"]),
                after(job("4", well), "after", &["3"]),
            ],
            Self::Fan => vec![
                job("root", well),
                after(job("a", well), "after", &["root"]),
                after(job("b", well), "after", &["root"]),
                after(job("c", well), "after", &["root"]),
                after(job("d", Words { code: 3, from: NEVER }).retries(0), "after", &["root"]),
                after(job("all", well), "after", &["a", "b", "c"]),
                after(job("any", well), "after_any", &["a", "d"]),
            ],
            Self::Retries => vec![
                job("flaky", Words { code: 7, from: 3 }),
                job("hopeless", Words { code: 1, from: NEVER }).retries(1),
                after(job("alarm", well), "on_failure", &["flaky", "hopeless"]),
                after(job("never", well), "after", &["flaky", "hopeless"]),
                after(job("calm", well), "on_failure", &["flaky"]),
            ],
            Self::Timeout => vec![
                job("slow", well).endless().retries(1),
                after(job("next", well), "on_failure", &["slow"]),
            ],
            Self::Hold => vec![
                job("careful", well).retries(0).with("on_lost", "hold"),
                job("strict", Words { code: 2, from: 2 }).with("on_lost", "hold"),
                after(job("next", well), "after", &["careful"]),
                after(job("last", well), "after_any", &["careful", "strict"]),
            ],
        };
        jobs.into_iter().map(|job| job.0).collect()
    }
}

/// How a job ends: with this code, and from this attempt on with 0.
#[derive(Clone, Copy)]
struct Words {
    code: i32,
    from: u32,
}

struct Job(Value);

impl Job {
    fn new(key: String, words: Words, seconds: f64) -> Self {
        let Words { code, from } = words;
        let argv = [
            "sh".to_owned(),
            "job.sh".into(),
            seconds.to_string(),
            code.to_string(),
            from.to_string(),
        ];
        Self(json!({
            "key": key, "argv": argv, "max_retries": 3, "retry_delay": 0.02, "on_lost": "requeue",
        }))
    }

    fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.0[field] = value.into();
        self
    }

    fn retries(self, count: u32) -> Self {
        self.with("max_retries", count)
    }

    fn endless(mut self) -> Self {
        self.0["argv"][2] = LONG.into();
        self.0["argv"].as_array_mut().expect("words").push("tree".into());
        self.with("timeout", 0.2)
    }
}
