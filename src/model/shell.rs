//! Words of a command line.

/// Returns a word quoted for a shell, if a shell would interpret it otherwise.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn what_a_shell_reads_is_the_word() {
        for (word, expected) in [
            ("/opt/é/aperture-1.2", "/opt/é/aperture-1.2"),
            ("/my tools/aperture", "'/my tools/aperture'"),
            ("", "''"),
            ("#12", "'#12'"),
            ("it's", r"'it'\''s'"),
            ("$(x)", "'$(x)'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
