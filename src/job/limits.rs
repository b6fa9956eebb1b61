//! What the names, keys and variables of a job may be.

use super::command::MAX_WORD;

/// The longest name or key, in bytes.
pub const MAX_LABEL: usize = 1000;

/// Checks a name or a key; `what` says which of them it is.
///
/// Control characters are allowed: whoever shows a name escapes them.
///
/// # Errors
/// When it is empty, longer than [`MAX_LABEL`], or contains a NUL.
pub fn label(what: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err(format!("the {what} is empty"));
    }
    if text.contains('\0') {
        return Err(format!("the {what} contains a NUL"));
    }
    if text.len() > MAX_LABEL {
        return Err(format!("the {what} has {} bytes; at most {MAX_LABEL} are kept", text.len()));
    }
    Ok(())
}

/// Makes the entry `NAME=value` of an environment.
///
/// # Errors
/// When the name is empty or contains `=`, a NUL stands in either, or the entry
/// is longer than [`MAX_WORD`].
pub fn variable(name: &[u8], value: &[u8]) -> Result<Vec<u8>, String> {
    let shown = String::from_utf8_lossy(name);
    if name.is_empty() {
        return Err("a variable needs a name".to_owned());
    }
    if name.contains(&b'=') {
        return Err(format!("the name `{shown}` of a variable contains `=`"));
    }
    if name.contains(&0) || value.contains(&0) {
        return Err(format!("the variable `{}` contains a NUL", shown.escape_debug()));
    }
    let entry = [name, b"=", value].concat();
    if entry.len() > MAX_WORD {
        let (bytes, shown) = (entry.len(), shown.chars().take(40).collect::<String>());
        return Err(format!(
            "the variable `{}` has {bytes} bytes with its name, and the kernel passes at most {MAX_WORD}",
            shown.escape_debug()
        ));
    }
    Ok(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_one_to_a_thousand_bytes() {
        assert!(label("name", "x").is_ok());
        assert!(label("name", &"x".repeat(1000)).is_ok());
        assert!(label("name", &"x".repeat(1001)).is_err());
        assert_eq!(label("key", ""), Err("the key is empty".to_owned()));
        assert!(label("key", " ").is_err());
        assert!(label("name", "a\0b").is_err());
        assert!(label("name", "a\nb\u{1b}[31m").is_ok());
    }

    #[test]
    fn a_variable_needs_a_name_without_an_equals_sign() {
        assert_eq!(variable(b"A", b"b=c"), Ok(b"A=b=c".to_vec()));
        assert_eq!(variable(b"A", b""), Ok(b"A=".to_vec()));
        for (name, value) in [(&b""[..], &b"x"[..]), (b"a=b", b""), (b"a\0", b""), (b"a", b"\0")] {
            assert!(variable(name, value).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_variable_is_no_longer_than_the_kernel_passes() {
        assert!(variable(b"A", &vec![b'x'; MAX_WORD - 2]).is_ok());
        let why = variable(b"A", &vec![b'x'; MAX_WORD - 1]).expect_err("too long");
        assert_eq!(
            why,
            "the variable `A` has 131072 bytes with its name, and the kernel passes at most 131071"
        );
    }
}
