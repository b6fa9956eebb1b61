//! Crontabs: the lines of crontab(5), each of which becomes a schedule.
//!
//! Variables hold for the lines below them. `CRON_TZ` says by whose clock the
//! lines below are meant. An unescaped `%` ends the command: what follows is
//! its standard input, with a newline for each further `%` and at its end.

use std::ops::Range;

use crate::document::{DocumentError, Problem};
use crate::job::Zone;
use crate::job::{Command, Cron, EnvBlock, limits};

/// A line that starts something.
#[derive(Clone, Debug, PartialEq)]
pub struct CronLine {
    /// Where it stands, from 1.
    pub line: usize,
    /// When.
    pub cron: Cron,
    /// By whose clock, if a line above says so.
    pub zone: Option<Zone>,
    /// The variables of the lines above.
    pub env: EnvBlock,
    /// The user it names, in a crontab of the system.
    pub user: Option<String>,
    /// What it runs, without its standard input.
    pub text: String,
    /// Its standard input, if it has one.
    pub input: Option<String>,
}

/// What a crontab is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// That of a user, as `crontab -l` prints it.
    User,
    /// That of the system, as `/etc/crontab`: a user stands before the command.
    System,
}

/// Reads a crontab; `file` is what it is called in errors.
///
/// # Errors
/// Names everything that is wrong, with its place.
pub fn parse(file: &str, text: &str, form: Form) -> Result<Vec<CronLine>, DocumentError> {
    let mut reader = Reader { form, zone: None, env: EnvBlock::default(), problems: Vec::new() };
    let mut lines = Vec::new();
    let mut start = 0;
    for (number, line) in (1..).zip(text.split('\n')) {
        lines.extend(reader.line(number, line.strip_suffix('\r').unwrap_or(line), start));
        start += line.len() + 1;
    }
    if reader.problems.is_empty() {
        Ok(lines)
    } else {
        Err(DocumentError::new(file, text, reader.problems))
    }
}

impl CronLine {
    /// What runs: the text, by the shell that the crontab names, with its
    /// standard input.
    pub fn command(&self) -> Command {
        const USUAL: &[u8] = b"/bin/sh";
        let shell = self.env.get("SHELL").unwrap_or(USUAL);
        let Some(input) = &self.input else {
            if shell == USUAL {
                return Command::Shell(self.text.clone().into_bytes());
            }
            let words = [shell, b"-c", self.text.as_bytes()];
            return Command::Argv(words.map(<[u8]>::to_vec).to_vec());
        };
        let words = [b"printf".as_slice(), b"%s", input.as_bytes()];
        let words = Command::Argv(words.map(<[u8]>::to_vec).to_vec()).to_bytes();
        let run = [shell, b"-c", self.text.as_bytes()];
        let run = Command::Argv(run.map(<[u8]>::to_vec).to_vec()).to_bytes();
        Command::Shell([words, run].join(b" | ".as_slice()))
    }
}

struct Reader {
    form: Form,
    zone: Option<Zone>,
    env: EnvBlock,
    problems: Vec<Problem>,
}

impl Reader {
    /// Reads a line that begins at byte `start` of the text.
    fn line(&mut self, number: usize, line: &str, start: usize) -> Option<CronLine> {
        let body = line.trim_start();
        let start = start + line.len() - body.len();
        if body.is_empty() || body.starts_with('#') {
            return None;
        }
        match setting(body) {
            Some((name, value)) => {
                self.set(name, value, start..start + body.trim_end().len());
                None
            }
            None => self.entry(number, body, start),
        }
    }

    fn set(&mut self, name: &str, value: &str, span: Range<usize>) {
        if name == "CRON_TZ" {
            match value.parse() {
                Ok(zone) => self.zone = Some(zone),
                Err(why) => self.wrong(span, why),
            }
            return;
        }
        match limits::variable(name.as_bytes(), value.as_bytes()) {
            Ok(entry) => {
                self.env = self.env.overlaid(&EnvBlock::from_entries([entry.as_slice()]));
            }
            Err(why) => self.wrong(span, why),
        }
    }

    fn entry(&mut self, number: usize, body: &str, start: usize) -> Option<CronLine> {
        let fields = if body.starts_with('@') { 1 } else { 5 };
        let (when, rest) = split(body, fields);
        let span = start..start + when.len();
        let cron = when.parse::<Cron>().map_err(|why| self.wrong(span, why)).ok();
        let (user, rest) = match self.form {
            Form::User => (None, rest),
            Form::System => {
                let (user, rest) = split(rest, 1);
                (Some(user.to_owned()), rest)
            }
        };
        let place = start + body.len() - rest.len();
        self.check(rest, place, start..start + body.len())?;
        let (text, input) = command(rest.trim_end());
        let (zone, env) = (self.zone.clone(), self.env.clone());
        Some(CronLine { line: number, cron: cron?, zone, env, user, text, input })
    }

    /// Refuses what is no command, but more fields, a user, or nothing.
    fn check(&mut self, rest: &str, start: usize, line: Range<usize>) -> Option<()> {
        let first = split(rest, 1).0;
        let place = start..start + first.len();
        if first.is_empty() {
            self.wrong(line, "no command stands behind the time");
            return None;
        }
        if first.starts_with('*') {
            let why = "a sixth field; five are read here, without seconds and years";
            self.wrong(place, why);
            return None;
        }
        if first == "root" && self.form == Form::User {
            let why = "`root` is a user, as in a crontab of the system; --system reads those";
            self.wrong(place, why);
            return None;
        }
        Some(())
    }

    fn wrong(&mut self, span: Range<usize>, what: impl Into<String>) {
        self.problems.push(Problem { span, what: what.into() });
    }
}

/// Splits so many words off, with all the blanks between them.
fn split(text: &str, words: usize) -> (&str, &str) {
    let mut end = 0;
    for _ in 0..words {
        let rest = &text[end..];
        let blanks = rest.len() - rest.trim_start().len();
        let word = rest[blanks..].find(char::is_whitespace).unwrap_or(rest.len() - blanks);
        if word > 0 {
            end += blanks + word;
        }
    }
    (&text[..end], text[end..].trim_start())
}

/// Reads `NAME = value`, either of which may be quoted.
fn setting(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = unquoted(name.trim_end());
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    (is_name && name.chars().all(plain)).then(|| (name, unquoted(value.trim())))
}

fn unquoted(text: &str) -> &str {
    ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text)
}

/// The command and its standard input: `%` stands for a newline, the first one
/// for the end of the command, and `\%` for itself.
fn command(text: &str) -> (String, Option<String>) {
    let mut parts = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next_if_eq(&'%').is_some() => last(&mut parts).push('%'),
            '%' if parts.len() == 1 => parts.push(String::new()),
            '%' => last(&mut parts).push('\n'),
            other => last(&mut parts).push(other),
        }
    }
    let mut input = parts.drain(1..).next();
    if let Some(input) = input.as_mut().filter(|input| !input.is_empty() && !input.ends_with('\n'))
    {
        input.push('\n');
    }
    (parts.concat(), input)
}

fn last(parts: &mut [String]) -> &mut String {
    parts.last_mut().expect("there is the command")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<CronLine> {
        parse("tab", text, Form::User).unwrap_or_else(|error| panic!("{error}"))
    }

    fn one(text: &str) -> CronLine {
        let [line] = read(text).try_into().expect("one line");
        line
    }

    fn refusal(text: &str) -> String {
        let error = parse("tab", text, Form::User).expect_err(text).to_string();
        error.lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn comments_and_blank_lines_say_nothing() {
        assert_eq!(read("# a = b\n\n   \t\n  # * * * * * x\n"), []);
    }

    #[test]
    fn a_line_has_a_time_and_a_command() {
        let line = one("\n  5   4\t* * sun   echo 'a  b'  # no comment  \n");
        assert_eq!((line.line, line.cron.to_string()), (2, "5 4 * * sun".to_owned()));
        assert_eq!(line.command(), Command::Shell(b"echo 'a  b'  # no comment".to_vec()));
        assert_eq!(one("@daily x").cron.to_string(), "@daily");
        assert_eq!(one("* * * * * x\r\n").text, "x");
    }

    #[test]
    fn variables_hold_for_the_lines_below() {
        let lines = read("@daily a\nA = 1\nB=\"two words \"\n 'C' = ' x'\n@daily b\nA=\n@daily c");
        assert_eq!(lines[0].env, EnvBlock::default());
        assert_eq!(lines[1].env.get("A"), Some(b"1".as_slice()));
        assert_eq!(lines[1].env.get("B"), Some(b"two words ".as_slice()));
        assert_eq!(lines[1].env.get("C"), Some(b" x".as_slice()));
        assert_eq!(lines[2].env.get("A"), Some(b"".as_slice()));
        let line = one("@daily A=1 command");
        assert_eq!((line.text.as_str(), line.env), ("A=1 command", EnvBlock::default()));
    }

    #[test]
    fn cron_tz_says_by_whose_clock_the_lines_below_are_meant() {
        let lines = read("@daily a\nCRON_TZ=America/New_York\n@daily b\nCRON_TZ=UTC\n@daily c");
        let zones: Vec<_> = lines.iter().map(|line| line.zone.as_ref().map(Zone::name)).collect();
        assert_eq!(zones, [None, Some("America/New_York"), Some("UTC")]);
        assert!(lines[1].env.0.is_empty());
        assert!(refusal("CRON_TZ=Berlin\n").contains("tab:1:1: `Berlin` is no time zone"));
    }

    #[test]
    fn a_percent_sign_begins_the_input_and_an_escaped_one_is_itself() {
        let line = one("0 8 1 * * date +\\%Y-\\%m > x");
        assert_eq!((line.text.as_str(), line.input), ("date +%Y-%m > x", None));
        let line = one("@daily mail -s hi joe%Joe,%%it's \\% late%");
        assert_eq!(line.text, "mail -s hi joe");
        assert_eq!(line.input.as_deref(), Some("Joe,\n\nit's % late\n"));
        assert_eq!(one("@daily cat%a").input.as_deref(), Some("a\n"));
        let line = one("@daily cat%");
        assert_eq!(line.input.as_deref(), Some(""));
        assert_eq!(one(r"@daily printf '\n'").text, r"printf '\n'");
    }

    #[test]
    fn the_shell_is_the_one_that_was_named() {
        let line = one("SHELL=/bin/bash\n@daily a && b");
        let words = ["/bin/bash", "-c", "a && b"].map(|word| word.as_bytes().to_vec());
        assert_eq!(line.command(), Command::Argv(words.to_vec()));
        let line = one("@daily cat > f%a b%c");
        let want = "printf '%s' 'a b\nc\n' | /bin/sh -c 'cat > f'";
        assert_eq!(line.command().text(), want);
    }

    #[test]
    fn in_a_crontab_of_the_system_a_user_stands_before_the_command() {
        let lines = parse("tab", "01 * * * * root run-parts /etc/cron.hourly", Form::System);
        let line = &lines.expect("read")[0];
        assert_eq!(line.user.as_deref(), Some("root"));
        assert_eq!(line.text, "run-parts /etc/cron.hourly");
        assert!(refusal("01 * * * * root run-parts /etc/cron.hourly").contains("--system"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(\\PC|\n)*|[0-9*/,a-z@#%= \"'\\\\\n-]{0,60}") {
            for form in [Form::User, Form::System] {
                for line in parse("tab", &text, form).unwrap_or_default() {
                    let _ = line.command();
                }
            }
        }
    }

    #[test]
    fn everything_that_is_wrong_is_told_with_its_line() {
        let text = "@reboot a\n* * * * *\n* * * * * * * echo x\n0 60 * * * a\n@daily ok\n@daily\n";
        let error = parse("tab", text, Form::User).expect_err("wrong").to_string();
        let told: Vec<_> = error.lines().filter(|line| line.starts_with("tab:")).collect();
        assert_eq!(told.len(), 5, "{error}");
        assert!(told[0].starts_with("tab:1:1: a start of the machine is no time"), "{error}");
        assert!(told[1].starts_with("tab:2:1: no command stands behind the time"), "{error}");
        assert!(told[2].starts_with("tab:3:11: a sixth field"), "{error}");
        assert!(told[3].starts_with("tab:4:1: `60` is no hour"), "{error}");
        assert!(told[4].starts_with("tab:6:1: no command"), "{error}");
        assert!(refusal("oops").contains("tab:1:1: 1 field where five are needed"));
    }
}
