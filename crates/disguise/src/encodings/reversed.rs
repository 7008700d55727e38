//! Reversed characters, its own inverse.

/// Reverses the characters.
pub fn encode(text: &str) -> String {
    text.chars().rev().collect()
}

/// Reverses any text of more than one character.
pub(crate) fn read(text: &str) -> Option<String> {
    (text.len() > 1).then(|| encode(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reversed_keeps_characters_whole() {
        assert_eq!(encode("añ7"), "7ña");
        assert_eq!(read(""), None);
    }
}
