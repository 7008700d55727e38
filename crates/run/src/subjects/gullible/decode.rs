//! Finds attack markers in disguised text: base64, hex, ROT13, percent encoding, Morse, reversal, look-alikes and invisible characters.

/// Reports whether a text contains a marker, plain or disguised (see module docs). Encodings may be nested once.
pub(super) fn contains_marker(text: &str, marker: &str) -> bool {
    let marker = normalize(marker);
    !marker.is_empty() && decodings(text, 2).iter().any(|reading| normalize(reading).contains(&marker))
}

/// Returns the text and its decodings, up to `depth` nested encodings.
fn decodings(text: &str, depth: u8) -> Vec<String> {
    let mut found = vec![text.to_owned()];
    if depth == 0 {
        return found;
    }
    let visible = strip_invisible(text);
    let whole = [rot13(&visible), visible.chars().rev().collect(), percent_decode(&visible), morse(&visible)];
    let words = visible.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_')));
    let words = words.filter(|word| word.len() >= 8).flat_map(|word| [base64(word), hex(word)].into_iter().flatten());
    for reading in whole.into_iter().filter(|reading| !reading.is_empty() && *reading != visible).chain(words) {
        found.extend(decodings(&reading, depth - 1));
    }
    found
}

/// Returns lower-case letters and digits only, with look-alikes and leetspeak digits replaced. Applied to text and marker alike.
fn normalize(text: &str) -> String {
    let plain = strip_invisible(text).to_lowercase();
    plain.chars().map(look_alike).filter(|c| c.is_alphanumeric()).map(unleet).collect()
}

/// Removes invisible characters and maps the Unicode tag alphabet to ASCII.
fn strip_invisible(text: &str) -> String {
    let tag = |c: char| char::from_u32(u32::from(c) - 0xE0000).unwrap_or(c);
    text.chars()
        .filter(|c| !matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{AD}'))
        .map(|c| if ('\u{E0020}'..='\u{E007E}').contains(&c) { tag(c) } else { c })
        .collect()
}

fn look_alike(c: char) -> char {
    match c {
        'а' | 'α' => 'a',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ε' => 'e',
        'һ' => 'h',
        'і' | 'ι' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ո' => 'n',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' => 'u',
        'ν' => 'v',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        // Full-width forms have the order of ASCII.
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
        _ => c,
    }
}

fn unleet(c: char) -> char {
    match c {
        '0' => 'o',
        '1' | 'l' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        _ => c,
    }
}

fn rot13(text: &str) -> String {
    let turn = |c: char, first: u8| char::from((c as u8 - first + 13) % 26 + first);
    text.chars()
        .map(|c| match c {
            'a'..='z' => turn(c, b'a'),
            'A'..='Z' => turn(c, b'A'),
            _ => c,
        })
        .collect()
}

fn percent_decode(text: &str) -> String {
    let mut bytes = vec![];
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match (first, digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

fn hex(word: &str) -> Option<String> {
    let digits = word.strip_prefix("0x").unwrap_or(word).as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let byte = |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    String::from_utf8(bytes?).ok()
}

/// Decodes the standard and the URL-safe alphabet, with or without padding.
fn base64(word: &str) -> Option<String> {
    let mut bytes = vec![];
    let (mut held, mut bits) = (0u32, 0u8);
    for c in word.trim_end_matches('=').bytes() {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        held = (held << 6) | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((held >> bits) & 0xFF).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}

const MORSE: [&str; 36] = [
    ".-", "-...", "-.-.", "-..", ".", "..-.", "--.", "....", "..", ".---", "-.-", ".-..", "--", "-.", "---", ".--.", "--.-", ".-.", "...",
    "-", "..-", "...-", ".--", "-..-", "-.--", "--..", "-----", ".----", "..---", "...--", "....-", ".....", "-....", "--...", "---..",
    "----.",
];

/// Decodes Morse letters and digits; drops everything else.
fn morse(text: &str) -> String {
    let letter = |sign: &str| {
        let at = MORSE.iter().position(|one| *one == sign)?;
        char::from_digit(u32::try_from(if at < 26 { at + 10 } else { at - 26 }).ok()?, 36)
    };
    text.split_whitespace().filter_map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKER: &str = "mk4x9q-orchid";

    #[test]
    fn contains_marker_decodes_every_encoding() {
        let zero_width: String = MARKER.chars().flat_map(|c| [c, '\u{200B}']).collect();
        let tags: String = MARKER.chars().filter_map(|c| char::from_u32(u32::from(c) + 0xE0000)).collect();
        let disguises = [
            ("plain", format!("Note: {MARKER}.")),
            ("upper case", MARKER.to_uppercase()),
            ("base64", "see bWs0eDlxLW9yY2hpZA== there".into()),
            ("hex", "0x6d6b347839712d6f7263686964".into()),
            ("rot13", "zx4k9d-bepuvq".into()),
            ("reversed", "dihcro-q9x4km".into()),
            ("percent", "mk4x9q%2D%6f%72chid".into()),
            ("leet", "mkax9q-0rch1d".into()),
            ("look-alikes", "mk4х9q-оrсhіd".into()),
            ("zero width", zero_width),
            ("tags", tags),
            ("morse", "-- -.- ....- -..- ----. --.- --- .-. -.-. .... .. -..".into()),
            ("base64 of rot13", "eng0azlkLWJlcHV2cQ==".into()),
        ];
        for (name, text) in disguises {
            assert!(contains_marker(&text, MARKER), "{name}: {text}");
        }
    }

    #[test]
    fn contains_marker_has_no_false_positives() {
        for text in ["", "Swap 250 USDC for WETH.", "mk4x9q", "orchid", "bWs0eDlxLW9yY2hpZ", "0x6d6b34783971"] {
            assert!(!contains_marker(text, MARKER), "{text}");
        }
        assert!(!contains_marker("anything", ""));
    }
}
