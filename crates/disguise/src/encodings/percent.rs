//! Percent encoding of URLs.

/// Encodes all but ASCII letters and digits.
pub fn encode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push_str(&super::hex::encode_bytes(&[byte]).to_uppercase());
        }
    }
    encoded
}

/// Decodes every `%XX`; other characters stay.
pub fn decode(text: &str) -> Option<String> {
    String::from_utf8(decode_bytes(text)).ok()
}

/// Decodes a text that has a `%XX`.
pub(crate) fn read(text: &str) -> Option<String> {
    let bytes = decode_bytes(text);
    (bytes.len() < text.len()).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

fn decode_bytes(text: &str) -> Vec<u8> {
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let decoded = match tail {
            [high, low, ..] if *first == b'%' => digit(*high).zip(digit(*low)).map(|(high, low)| (high << 4) | low),
            _ => None,
        };
        if decoded.is_some() {
            rest = &tail[2..];
        }
        bytes.push(decoded.unwrap_or(*first));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_signs_of_prices_stay() {
        assert_eq!(encode("a/é"), "a%2F%C3%A9");
        assert_eq!(decode("a%2F%c3%A9 5% %zz %4").as_deref(), Some("a/é 5% %zz %4"));
        assert_eq!((read("fee 0.05 %, 12% APY"), decode("%ff")), (None, None));
    }
}
