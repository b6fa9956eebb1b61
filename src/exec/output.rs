//! How much of a job's output is kept.

/// Output of at most so many bytes is kept in the database; longer output
/// stays in a file of its own.
pub const SHORT: u64 = 8 * 1024;

/// How many bytes of an output are kept when nobody says otherwise.
pub const LIMIT: u64 = 64 * 1024 * 1024;

/// The smallest limit that can be kept, with a beginning and an end: see
/// [`crate::exec::spool`].
pub const LEAST_LIMIT: u64 = 256 * 1024;

/// How many bytes of an output's end are looked at for its last line.
pub(super) const TAIL: u64 = 16 * 1024;

/// The variable that sets another limit: bytes, or `512K`, `1M`, `2G`.
pub const LIMIT_VARIABLE: &str = "AX_OUTPUT_LIMIT";

/// How many bytes of an output are kept, given what [`LIMIT_VARIABLE`] says.
/// What cannot be read, and what is less than can be kept, is not obeyed.
pub fn limit(text: Option<&str>) -> u64 {
    text.and_then(size).map_or(LIMIT, |limit| limit.max(LEAST_LIMIT))
}

/// Reads a size: bytes, or `512K`, `1M`, `2G`.
pub fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let unit: u64 = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// The line that stands for what was left out of an output.
pub fn left_out(bytes: u64) -> String {
    format!("\n[ax: {bytes} bytes left out]\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_read_with_its_unit() {
        assert_eq!(limit(None), LIMIT);
        assert_eq!(limit(Some("1M")), 1 << 20);
        assert_eq!(limit(Some("2G")), 2 << 30);
        assert_eq!(limit(Some("300000")), 300_000);
        assert_eq!(limit(Some("1")), LEAST_LIMIT);
        for nonsense in ["", "M", "-1", "1T", "1MM", "99999999999999999999G"] {
            assert_eq!(limit(Some(nonsense)), LIMIT, "{nonsense:?}");
        }
    }
}
