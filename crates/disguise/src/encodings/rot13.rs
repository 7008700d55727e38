//! ROT13, its own inverse.

/// Rotates ASCII letters by 13 places.
pub fn encode(text: &str) -> String {
    text.chars().map(rotate).collect()
}

/// Rotates a text that has letters to rotate.
pub(crate) fn read(text: &str) -> Option<String> {
    text.bytes().any(|c| c.is_ascii_alphabetic()).then(|| encode(text))
}

fn rotate(c: char) -> char {
    let turn = |first: u8| char::from((c as u8 - first + 13) % 26 + first);
    match c {
        'a'..='z' => turn(b'a'),
        'A'..='Z' => turn(b'A'),
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rot13_rotates_letters_only() {
        assert_eq!(encode("Uryyb, jbeyq 13 é"), "Hello, world 13 é");
        assert_eq!((read("1.5 %"), read("nop").as_deref()), (None, Some("abc")));
    }
}
