//! Morse code of ITU letters, digits and punctuation. Words are separated by `/`.

use crate::text_pieces::TextPieces;

/// Signs in the order of [`LETTERS`].
const SIGNS: [&str; 54] = [
    ".-", "-...", "-.-.", "-..", ".", "..-.", "--.", "....", "..", ".---", "-.-", ".-..", "--", "-.", "---", ".--.", "--.-", ".-.", "...",
    "-", "..-", "...-", ".--", "-..-", "-.--", "--..", "-----", ".----", "..---", "...--", "....-", ".....", "-....", "--...", "---..",
    "----.", ".-.-.-", "--..--", "..--..", ".----.", "-.-.--", "-..-.", "-.--.", "-.--.-", ".-...", "---...", "-.-.-.", "-...-", ".-.-.",
    "-....-", "..--.-", ".-..-.", "...-..-", ".--.-.",
];

const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,?'!/()&:;=+-_\"$@";

/// Fewest signs in a row that are read. Dashes and dots of ordinary text are signs too.
const MIN_SIGNS: usize = 4;

/// Encodes a text. Returns `None` if a character has no sign. Case and the kind of white space are lost.
pub fn encode(text: &str) -> Option<String> {
    let sign = |c: char| LETTERS.chars().position(|letter| letter == c.to_ascii_uppercase()).map(|at| SIGNS[at]);
    let word = |word: &str| word.chars().map(sign).collect::<Option<Vec<_>>>().map(|signs| signs.join(" "));
    Some(text.split_whitespace().map(word).collect::<Option<Vec<_>>>()?.join(" / "))
}

/// Decodes to upper case. Returns `None` if a sign is unknown.
pub fn decode(text: &str) -> Option<String> {
    text.split_whitespace().map(letter).collect()
}

/// Decodes the runs of signs in a text.
pub(crate) fn read(text: &str) -> Option<String> {
    let mut pieces = TextPieces::default();
    let mut run = String::new();
    let mut flush = |run: &mut String| {
        if run.len() >= MIN_SIGNS {
            pieces.add(run.trim());
        }
        run.clear();
    };
    for token in text.split_whitespace() {
        match letter(token) {
            Some(letter) => run.push(letter),
            None => flush(&mut run),
        }
    }
    flush(&mut run);
    pieces.finish()
}

fn letter(token: &str) -> Option<char> {
    if matches!(token, "/" | "|") {
        return Some(' ');
    }
    // The longest sign has seven characters of up to three bytes.
    if token.len() > 21 || !token.starts_with(['.', '-', '·', '•', '−', '–', '—']) {
        return None;
    }
    let plain: String = token.chars().map(plain_mark).collect();
    SIGNS.iter().position(|sign| *sign == plain).and_then(|at| LETTERS.chars().nth(at))
}

fn plain_mark(c: char) -> char {
    match c {
        '·' | '•' => '.',
        '−' | '–' | '—' => '-',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_is_unique_and_decodes() {
        assert_eq!(LETTERS.chars().count(), SIGNS.len());
        assert_eq!(decode(&encode(LETTERS).unwrap()).as_deref(), Some(LETTERS));
        assert_eq!(encode("Pay bob@x now").and_then(|signs| decode(&signs)).as_deref(), Some("PAY BOB@X NOW"));
        assert_eq!((encode("5 %"), decode(".- ........")), (None, None));
    }

    #[test]
    fn bullets_and_dots_are_no_morse() {
        assert_eq!(read("- one\n- two ... and so on - or not -- maybe"), None);
        assert_eq!(read("say: −− −·− ···· / ·"), Some("MKH E".to_owned()));
    }
}
