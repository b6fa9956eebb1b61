//! The shape of a line: what is left of an error when all that differs from
//! one time to the next is made equal.
//!
//! Numbers and ids become `#`, paths `<path>`, days and times `<time>`: what
//! `cp` says of a full disk has one shape, whatever file it was at. Words stay.
//! Where a rule can be wrong it is wrong in favour of words: one cause that is
//! seen twice does less harm than two that are taken for one.

/// What stands for a number or an id.
const NUMBER: &str = "#";
/// What stands for a path or the name of a file.
const PATH: &str = "<path>";
/// What stands for a day, a time of day, or both.
const TIME: &str = "<time>";

/// The longest shape, in characters. Far behind in a long line there is little
/// that tells causes apart, and where it was cut depends on how long its paths are.
const LONGEST: usize = 100;
/// As much of a line is looked at, in characters.
const LOOKED_AT: usize = 1_000;
/// What a line ends with that was cut.
const CUT: char = '…';

/// How names of files end. Programs are not among them: one that is missing is
/// another cause than one that cannot read its file.
const FILES: [&str; 36] = [
    "7z", "bak", "bin", "bz2", "cfg", "conf", "csv", "dat", "db", "dump", "gz", "html", "ini",
    "jpeg", "jpg", "json", "jsonl", "lock", "log", "md", "mp4", "parquet", "pdf", "png", "sql",
    "sqlite", "tar", "tgz", "tmp", "tsv", "txt", "xml", "xz", "yaml", "zip", "zst",
];

const DAYS_AND_MONTHS: [&str; 19] = [
    "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Jan", "Feb", "Mar", "Apr", "May", "Jun",
    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// What may follow a time and belongs to it.
const ZONES: [&str; 6] = ["UTC", "GMT", "CET", "CEST", "AM", "PM"];

/// Units that stand right behind their number.
const UNITS: [&str; 16] =
    ["ns", "us", "µs", "ms", "s", "m", "h", "d", "B", "K", "k", "M", "G", "KB", "MB", "GB"];

/// The shape of a line, on one line and short.
pub fn shape(line: &str) -> String {
    let line: String = whole_words(line).chars().take(LOOKED_AT).collect();
    let whole = whole(&line);
    let end = whole.char_indices().nth(LONGEST).map_or(whole.len(), |(at, _)| at);
    whole[..end].trim().to_owned()
}

/// Tells whether two lines differ in numbers, ids, paths and times alone.
pub fn are_alike(one: &str, other: &str) -> bool {
    one == other || whole(one) == whole(other)
}

/// The shape of all of a line.
fn whole(line: &str) -> String {
    let mut shape = Shape::default();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let taken = if let Some(inside) = quoted_path(rest) {
            shape.gap.push(first);
            shape.part(Part::Path);
            first.len_utf8() + inside
        } else if is_word(first) {
            let word = &rest[..word_length(rest)];
            shape.part(Part::of(word));
            word.len()
        } else {
            shape.between(first);
            first.len_utf8()
        };
        rest = &rest[taken..];
    }
    shape.text + &shape.gap
}

/// A line without the word in which it was cut.
fn whole_words(line: &str) -> &str {
    let Some(begun) = line.strip_suffix(CUT) else { return line };
    begun.rfind(char::is_whitespace).map_or(begun, |end| &begun[..end])
}

/// The length of the path that stands in the quotes with which `text` begins; it
/// may have blanks in it.
fn quoted_path(text: &str) -> Option<usize> {
    const QUOTES: [(char, char); 5] =
        [('\'', '\''), ('"', '"'), ('`', '\''), ('‘', '’'), ('“', '”')];
    let first = text.chars().next()?;
    let (open, close) = QUOTES.into_iter().find(|(open, _)| *open == first)?;
    let inside = &text[open.len_utf8()..];
    if is_absolute(inside) { inside.find(close) } else { None }
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || "._-+/~@".contains(char)
}

/// How far the word goes with which `text` begins. A colon is in it between two
/// digits, as in a time, and a URL goes on to its end.
fn word_length(text: &str) -> usize {
    let plain = |text: &str| text.find(|char| !is_word(char)).unwrap_or(text.len());
    let mut end = plain(text);
    if text[end..].starts_with("://") {
        let ends = |char: char| char.is_whitespace() || "'\"`<>()[]{},;|".contains(char);
        let url = &text[..text.find(ends).unwrap_or(text.len())];
        return url.trim_end_matches(['.', ':', '?', '!']).len();
    }
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let bytes = text.as_bytes();
    while bytes.get(end) == Some(&b':') && digit(bytes[..end].last()) && digit(bytes.get(end + 1)) {
        end += 1 + plain(&text[end + 1..]);
    }
    // The end of a sentence is none of the word.
    let bare = text[..end].trim_end_matches(['.', '-']);
    if bare.is_empty() { end } else { bare.len() }
}

/// What a word is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Number,
    Path,
    Time,
    Text(String),
}

impl Part {
    fn of(word: &str) -> Self {
        if let Some((scheme, rest)) = word.split_once("://") {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let path = if path.len() > 1 { PATH } else { path };
            return Self::Text(format!("{scheme}://{}{path}", without_numbers(host)));
        }
        if is_path(word) || is_file(word) {
            return Self::Path;
        }
        if is_time(word) || DAYS_AND_MONTHS.contains(&word) {
            return Self::Time;
        }
        if is_uuid(word) || is_temporary(word) {
            return Self::Number;
        }
        let text = without_numbers(word);
        if text == NUMBER { Self::Number } else { Self::Text(text) }
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Number => NUMBER,
            Self::Path => PATH,
            Self::Time => TIME,
            Self::Text(text) => text,
        }
    }

    /// Tells whether it belongs to a time that stands before it.
    fn goes_on_with_a_time(&self) -> bool {
        match self {
            Self::Number | Self::Time => true,
            Self::Text(text) => ZONES.contains(&text.as_str()),
            Self::Path => false,
        }
    }
}

fn is_absolute(text: &str) -> bool {
    let starts = ["./", "../", "~/"].iter().any(|start| text.starts_with(start));
    starts || (text.starts_with('/') && text.chars().nth(1).is_some_and(is_word))
}

/// Tells a path from words with a slash between them, such as `I/O`.
fn is_path(word: &str) -> bool {
    let Some((_, last)) = word.rsplit_once('/') else { return false };
    let has_letters = |text: &str| text.contains(char::is_alphabetic);
    let is_name = |char: char| char.is_ascii_digit() || "._-".contains(char);
    is_absolute(word)
        || (has_letters(word) && word.matches('/').count() > 1)
        || (has_letters(last) && last.contains(is_name))
}

fn is_file(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && FILES.contains(&end))
}

/// Days such as `2026-12-01` and times of day, also as one word.
fn is_time(word: &str) -> bool {
    let digits = |text: &str, least, most| {
        (least..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let starts_with_day = word.split_once(['-', '/']).is_some_and(|(year, rest)| {
        digits(year, 4, 4)
            && rest.split_once(['-', '/']).is_some_and(|(month, _)| digits(month, 1, 2))
    });
    let starts_with_hour = word.split_once(':').is_some_and(|(hour, rest)| {
        digits(hour, 1, 2) && rest.get(..2).is_some_and(|minute| digits(minute, 2, 2))
    });
    let of_a_time = |char: char| char.is_ascii_digit() || "-/:.+TZ".contains(char);
    (starts_with_day || starts_with_hour) && word.chars().all(of_a_time)
}

fn is_uuid(word: &str) -> bool {
    let lengths = word.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12])
        && word.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// Names as `mktemp` makes them.
fn is_temporary(word: &str) -> bool {
    word.len() >= 7 && word.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("tmp"))
}

/// A word with its numbers and the ids in it made equal; several that stand
/// together are one.
fn without_numbers(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for piece in word.split_inclusive(|char: char| !char.is_alphanumeric()) {
        let end = piece.trim_end_matches(|char: char| !char.is_alphanumeric()).len();
        let (segment, sign) = piece.split_at(end);
        let segment = segment_without_numbers(segment);
        let joined = segment == NUMBER && text.len() > 1;
        match text.strip_suffix(|char: char| !char.is_alphanumeric() && char != '#') {
            Some(before) if joined && before.ends_with(NUMBER) => text.truncate(before.len()),
            Some(_) | None => text.push_str(&segment),
        }
        text.push_str(sign);
    }
    text
}

fn segment_without_numbers(segment: &str) -> String {
    if is_id(segment) || is_measured(segment) {
        return NUMBER.to_owned();
    }
    let mut text = String::with_capacity(segment.len());
    for char in segment.chars() {
        if !char.is_ascii_digit() {
            text.push(char);
        } else if !text.ends_with(NUMBER) {
            text.push_str(NUMBER);
        }
    }
    text
}

/// Hexadecimal numbers, hashes, and what nobody would spell: letters and digits
/// that change places three times or more.
fn is_id(segment: &str) -> bool {
    let bytes = segment.as_bytes();
    let has_digit = bytes.iter().any(u8::is_ascii_digit);
    let is_hex = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_hexdigit);
    let changes = bytes.windows(2).filter(|two| two[0].is_ascii_digit() != two[1].is_ascii_digit());
    bytes.strip_prefix(b"0x").is_some_and(|digits| !digits.is_empty() && is_hex(digits))
        || (bytes.len() >= 7 && has_digit && is_hex(bytes))
        || (bytes.len() >= 6 && segment.is_ascii() && changes.count() >= 3)
}

/// Numbers with their units: `12ms`, `1h30m`, `4K`.
fn is_measured(segment: &str) -> bool {
    let mut rest = segment;
    while !rest.is_empty() {
        let unit = rest.trim_start_matches(|char: char| char.is_ascii_digit());
        let end = unit.find(|char: char| char.is_ascii_digit()).unwrap_or(unit.len());
        if unit.len() == rest.len() || !UNITS.contains(&&unit[..end]) {
            return false;
        }
        rest = &unit[end..];
    }
    !segment.is_empty()
}

/// A shape as it grows.
#[derive(Default)]
struct Shape {
    text: String,
    /// What stands between the last part and the next one.
    gap: String,
    after_time: bool,
}

impl Shape {
    /// Several blanks are one.
    fn between(&mut self, char: char) {
        let char = if char.is_whitespace() { ' ' } else { char };
        if char != ' ' || !self.gap.ends_with(' ') {
            self.gap.push(char);
        }
    }

    fn part(&mut self, part: Part) {
        let gap = std::mem::take(&mut self.gap);
        let near = gap.chars().all(|char| char == ' ' || char == ',');
        if self.after_time && near && part.goes_on_with_a_time() {
            return;
        }
        // A line and a column behind a name, not a time of day.
        let part = if part == Part::Time && gap == ":" { Part::Number } else { part };
        self.text.push_str(&gap);
        self.text.push_str(part.as_str());
        self.after_time = part == Part::Time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn assert_shape(want: &str, lines: &[&str]) {
        for line in lines {
            assert_eq!(shape(line), want, "{line}");
        }
    }

    /// What real programs say, behind its shape.
    const REAL: &[(&str, &[&str])] = &[
        (
            "curl: (#) Failed to connect to example.org port # after # ms: Connection refused",
            &[
                "curl: (7) Failed to connect to example.org port 443 after 131 ms: Connection refused",
                "curl: (7) Failed to connect to example.org port 8443 after 2 ms: Connection refused",
            ],
        ),
        (
            "curl: (#) Operation timed out after # milliseconds with # bytes received",
            &["curl: (28) Operation timed out after 5001 milliseconds with 0 bytes received"],
        ),
        (
            "cp: error writing '<path>': No space left on device",
            &[
                "cp: error writing '/mnt/backup/2026-12-01/a.tar': No space left on device",
                "cp: error writing '/mnt/my disk/b': No space left on device",
                "cp: error writing 'b.tar.gz': No space left on device",
                "cp: error writing 'out/part-17': No space left on device",
            ],
        ),
        (
            "rsync: [sender] change_dir \"<path>\" failed: No such file or directory (#)",
            &["rsync: [sender] change_dir \"/srv/data/17\" failed: No such file or directory (2)"],
        ),
        (
            "ssh: connect to host db#.example.org port #: Connection timed out",
            &[
                "ssh: connect to host db1.example.org port 22: Connection timed out",
                "ssh: connect to host db12.example.org port 2222: Connection timed out",
            ],
        ),
        (
            "psql: error: connection to server at \"#\", port # failed: Connection refused",
            &[
                "psql: error: connection to server at \"10.0.0.1\", port 5432 failed: Connection refused",
                "psql: error: connection to server at \"192.168.17.4\", port 5433 failed: Connection refused",
            ],
        ),
        (
            "ERROR: duplicate key value violates unique constraint \"users_pkey\"",
            &["ERROR:  duplicate key value violates unique constraint \"users_pkey\""],
        ),
        (
            "FileNotFoundError: [Errno #] No such file or directory: '<path>'",
            &[
                "FileNotFoundError: [Errno 2] No such file or directory: '/data/in/3.csv'",
                "FileNotFoundError: [Errno 2] No such file or directory: 'orders.csv'",
            ],
        ),
        (
            "ValueError: invalid literal for int() with base #: 'abc'",
            &["ValueError: invalid literal for int() with base 10: 'abc'"],
        ),
        ("KeyError: 'price'", &["KeyError: 'price'"]),
        (
            "ModuleNotFoundError: No module named 'numpy.core'",
            &["ModuleNotFoundError: No module named 'numpy.core'"],
        ),
        (
            "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space",
            &["Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space"],
        ),
        (
            "at com.example.Main.main(Main.java:#)",
            &["\tat com.example.Main.main(Main.java:17)", "at com.example.Main.main(Main.java:4)"],
        ),
        (
            "<path>: line #: # Segmentation fault (core dumped) <path>",
            &["./job.sh: line 3: 81234 Segmentation fault (core dumped) ./a.out"],
        ),
        (
            "<path>:#: error: expected ';' before 'return'",
            &[
                "src/main.c:12:5: error: expected ';' before 'return'",
                "src/util_io.c:7:17: error: expected ';' before 'return'",
            ],
        ),
        (
            "Killed process # (java) total-vm:#",
            &["Killed process 812 (java) total-vm:4096K", "Killed process 9 (java) total-vm:12M"],
        ),
        (
            "error: failed to push <path> to https://git.example.org<path>",
            &["error: failed to push refs/heads/x1 to https://git.example.org/a/b.git"],
        ),
        (
            "fatal: reference is not a tree: #",
            &[
                "fatal: reference is not a tree: 1f3870be274f6c49b3e31a0c6728957f",
                "fatal: reference is not a tree: a1b2c3d",
            ],
        ),
        (
            "timed out after # s; raise it with --timeout",
            &[
                "timed out after 60 s; raise it with --timeout",
                "timed out after 0.5 s; raise it with --timeout",
            ],
        ),
        ("exit #", &["exit 3"]),
    ];

    #[test]
    fn what_real_programs_say_has_one_shape_whatever_it_is_about() {
        for (want, lines) in REAL {
            assert_shape(want, lines);
        }
    }

    #[test]
    fn times_of_every_form_are_equal_with_their_zone_and_their_day() {
        assert_shape(
            "[<time>] ERROR disk full",
            &[
                "[2026-12-01 02:00:11,123] ERROR disk full",
                "[2026-12-01T02:00:11.123Z] ERROR disk full",
                "[2026/12/01 2:00:11] ERROR disk full",
                "[Tue Dec  1 02:00:11 UTC 2026] ERROR disk full",
                "[Tue, 01 Dec 2026 02:00:11 GMT] ERROR disk full",
                "[02:00:11 AM] ERROR disk full",
                "[2026-12-01] ERROR disk full",
            ],
        );
    }

    #[test]
    fn ids_of_every_form_are_equal() {
        assert_shape(
            "request # not found",
            &[
                "request 12 not found",
                "request 0x7ffe12ab not found",
                "request 550e8400-e29b-41d4-a716-446655440000 not found",
                "request a1b2c3d4 not found",
                "request x7Kq2Zb9 not found",
                "request tmp.qWeRtYuIoP not found",
                "request tmpab3dx9 not found",
                "request 1h30m not found",
                "request 12.5 not found",
                "request 10.0.0.1:5432 not found",
            ],
        );
        assert_shape("worker# of part-# in db_#", &["worker3 of part-0017 in db_2026-12-01"]);
    }

    #[test]
    fn words_stay_words() {
        for line in [
            "Input/output error",
            "I/O and/or TCP/IP error",
            "permission denied (publickey)",
            "cannot open display",
            "tmpfs is full",
            "template not found",
            "can't find 'foo' in `bar'",
            "día año naïve 日本語 ошибка",
            "no such option: --frobnicate",
            "e.g. this one",
        ] {
            assert_shape(line, &[line]);
        }
    }

    #[test]
    fn lines_are_compared_to_their_ends() {
        let line = |number, end| format!("took {number}ms {}{end}", "and so on ".repeat(300));
        assert!(are_alike(&line(1, "a"), &line(2, "a")));
        assert!(!are_alike(&line(1, "a"), &line(1, "b")));
    }

    #[test]
    fn what_tells_causes_apart_is_kept() {
        let different = [
            "Connection refused",
            "Connection timed out",
            "No module named 'a'",
            "No module named 'b'",
            "column \"x\" does not exist",
            "column \"y\" does not exist",
        ];
        let shapes: std::collections::HashSet<_> =
            different.iter().map(|line| shape(line)).collect();
        assert_eq!(shapes.len(), different.len());
    }

    #[test]
    fn lines_that_were_cut_are_equal_as_far_as_they_go() {
        let line = |path: &str| {
            let whole = format!("error while copying {path} {}", "and so on ".repeat(30));
            whole.chars().take(199).chain(['…']).collect::<String>()
        };
        assert_eq!(shape(&line("/a/b")), shape(&line("/a/much/longer/path/17")));
        assert_eq!(shape(&line("/a/b")).chars().count(), LONGEST);
    }

    #[test]
    fn a_line_of_a_megabyte_costs_no_more_than_its_beginning() {
        assert_eq!(shape(&"1 ".repeat(500_000)).chars().count(), LONGEST - 1);
        assert_eq!(shape(&"x".repeat(1_000_000)).chars().count(), LONGEST);
    }

    #[test]
    fn nothing_has_the_shape_of_nothing() {
        assert_shape("", &["", "  ", "\t\n"]);
    }

    proptest! {
        #[test]
        fn any_text_has_a_shape_on_one_line_that_is_short(text in "\\PC{0,300}") {
            let shape = shape(&text);
            prop_assert!(shape.chars().count() <= LONGEST);
            prop_assert!(!shape.contains('\n'));
        }

        #[test]
        fn another_number_is_the_same_shape(one in 0..9_999_999_u32, other in 0..9_999_999_u32) {
            let line = |number| format!("line {number}: part{number}.csv at {number}ms");
            prop_assert_eq!(shape(&line(one)), shape(&line(other)));
        }
    }
}
