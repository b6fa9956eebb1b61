//! The word that was probably meant.

/// The word of `known` that is nearest to `typed`, if one is near.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Comparing takes the product of both lengths.
    const LONGEST: usize = 64;
    if typed.len() > LONGEST {
        return None;
    }
    let allowed = (typed.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .filter(|word| word.len().abs_diff(typed.len()) <= 4 * allowed && word.len() <= LONGEST)
        .map(|word| (strsim::osa_distance(&typed.to_lowercase(), &word.to_lowercase()), word))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// `did you mean …?` as the end of a message, or nothing.
pub fn did_you_mean<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(typed, known).map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_recognised_and_another_word_is_not() {
        let known = ["fetch", "clean", "report"];
        assert_eq!(nearest("fetsh", known), Some("fetch"));
        assert_eq!(nearest("Clean", known), Some("clean"));
        assert_eq!(nearest("reprot", known), Some("report"));
        assert_eq!(nearest("upload", known), None);
        assert_eq!(nearest("", known), None);
    }
}
