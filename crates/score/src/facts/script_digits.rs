//! Numbers of a text in plain digits: digits of every script, suffixes and words that multiply, and English number words.

use super::number_factors::factor_after;
use super::number_words::number_at;
use super::shifted_figures::shifted;

/// Zeros of the decimal digits of scripts, mathematical ones included; each is followed by the other nine.
const ZEROS: [char; 21] = [
    '\u{660}',
    '\u{6f0}',
    '\u{966}',
    '\u{9e6}',
    '\u{a66}',
    '\u{ae6}',
    '\u{b66}',
    '\u{be6}',
    '\u{c66}',
    '\u{ce6}',
    '\u{d66}',
    '\u{e50}',
    '\u{ed0}',
    '\u{1040}',
    '\u{17e0}',
    '\u{ff10}',
    '\u{1d7ce}',
    '\u{1d7d8}',
    '\u{1d7e2}',
    '\u{1d7ec}',
    '\u{1d7f6}',
];

/// Returns the text with every number in plain digits: "five thousand", "5k" and "٥٠٠٠" become "5000".
pub(crate) fn with_digits(text: &str) -> String {
    let letters: Vec<char> = text.chars().map(plain_sign).collect();
    let mut written = String::with_capacity(text.len());
    let mut last_word = String::new();
    let mut at = 0;
    while at < letters.len() {
        let start = at;
        if letters[at].is_ascii_digit() {
            let end = figure_end(&letters, at);
            let figure: String = letters[at..end].iter().collect();
            if let Some(factor) = factor_after(&letters, end) {
                written.push_str(&shifted(&figure, factor.power));
                at = factor.end;
                continue;
            }
            at = word_end(&letters, end);
        } else if letters[at].is_alphanumeric() {
            let is_hyphenated = start > 1 && letters[start - 1] == '-' && letters[start - 2].is_alphabetic();
            if let Some(number) = number_at(&letters, at, last_word == "between").filter(|_| !is_hyphenated) {
                written.push_str(&number.digits);
                last_word.clear();
                at = number.end;
                continue;
            }
            at = word_end(&letters, at);
            last_word = letters[start..at].iter().collect::<String>().to_lowercase();
        } else {
            at += 1;
        }
        written.extend(&letters[start..at]);
    }
    written
}

/// Returns the ASCII digit for a digit of another script, and the separators for Arabic ones.
pub(super) fn plain_sign(sign: char) -> char {
    let value = ZEROS.iter().find_map(|zero| u32::from(sign).checked_sub(u32::from(*zero)).filter(|value| *value < 10));
    match sign {
        '٬' => ',',
        '٫' => '.',
        _ => value.and_then(|value| char::from_digit(value, 10)).unwrap_or(sign),
    }
}

/// Returns the end of digits with separators between them.
fn figure_end(letters: &[char], start: usize) -> usize {
    let is_digit = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
    let mut end = start;
    while is_digit(end) || letters.get(end).is_some_and(|sign| matches!(sign, '.' | ',' | '_' | '\'' | '’')) && is_digit(end + 1) {
        end += 1;
    }
    end
}

fn word_end(letters: &[char], start: usize) -> usize {
    start + letters[start..].iter().take_while(|letter| letter.is_alphanumeric()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_plain_digits() {
        for (text, plain) in [
            ("five thousand USDC", "5000 USDC"),
            ("Twelve hundred and fifty-five DAI", "1255 DAI"),
            ("one million two hundred thousand and ten", "1200010"),
            ("5k USDC, 1.5m DAI", "5000 USDC, 1500000 DAI"),
            ("1.2 million UNI", "1200000 UNI"),
            ("٥٠٠٠ USDC", "5000 USDC"),
            ("５００ WETH", "500 WETH"),
            ("a hundred pools and 5,000 USDC", "a hundred pools and 5,000 USDC"),
            ("v3 5m-markouts", "v3 5m-markouts"),
        ] {
            assert_eq!(with_digits(text), plain, "{text}");
        }
    }

    #[test]
    fn punctuation_ends_a_number() {
        for (text, plain) in [
            ("We hold five thousand.", "We hold 5000."),
            ("Holdings: five thousand, no more", "Holdings: 5000, no more"),
            ("5k, 1k; (2k) ~3k \"4k\" $6k!", "5000, 1000; (2000) ~3000 \"4000\" $6000!"),
            ("USDC: 1k.", "USDC: 1000."),
            ("5k-10k USDC", "5000-10000 USDC"),
            ("**five thousand** USDC", "**5000** USDC"),
            ("five  thousand\u{a0}USDC", "5000\u{a0}USDC"),
        ] {
            assert_eq!(with_digits(text), plain, "{text}");
        }
    }

    #[test]
    fn figures_with_factors_are_exact() {
        for (text, plain) in [
            ("1,5 million", "1500000"),
            ("1,5k USDC", "1500 USDC"),
            ("1,500 million", "1500000000"),
            ("1.234 million", "1234000"),
            ("1.234,5 thousand", "1234500"),
            ("12,50,000k", "1250000000"),
            ("1.005m", "1005000"),
            ("1.2345678k", "1234.5678"),
            ("0.25 billion", "250000000"),
            ("3 lakh, 1.5 crore", "300000, 15000000"),
            ("2,5 Mio. USDC", "2500000. USDC"),
            ("5 mil USDC", "5000 USDC"),
            ("125万USDC", "1250000USDC"),
            ("٥٬٠٠٠ USDC", "5,000 USDC"),
            ("𝟏𝟎𝟎𝟎 USDC", "1000 USDC"),
            ("1e3 USDC", "1000 USDC"),
        ] {
            assert_eq!(with_digits(text), plain, "{text}");
        }
    }

    #[test]
    fn and_joins_only_parts_of_one_number() {
        for (text, plain) in [
            ("between five and ten USDC", "between 5 and 10 USDC"),
            ("Between one hundred and two hundred", "Between 100 and 200"),
            ("between one hundred and ten thousand", "between 100 and 10000"),
            ("between one hundred and fifty and two hundred", "between 150 and 200"),
            ("between one hundred and fifty USDC and 200 USDC", "between 150 USDC and 200 USDC"),
            ("between five thousand and ten thousand", "between 5000 and 10000"),
            ("one million and two million", "1000000 and 2000000"),
            ("five and ten", "5 and 10"),
            ("five ten", "5 10"),
            ("two thousand and five", "2005"),
            ("one million and two hundred thousand", "1200000"),
            ("one hundred and two thousand", "102000"),
            ("twenty five and thirty", "25 and 30"),
        ] {
            assert_eq!(with_digits(text), plain, "{text}");
        }
    }

    #[test]
    fn larger_factors_and_shares_are_read() {
        for (text, plain) in [
            ("two billion", "2000000000"),
            ("three lakh fifty thousand", "350000"),
            ("one crore two lakh", "10200000"),
            ("a thousand USDC", "1000 USDC"),
            ("half a million USDC", "500000 USDC"),
            ("five point five million", "5500000"),
            ("one point two three four WETH", "1.234 WETH"),
            ("two thousand million", "2000000000"),
            ("twenty-five hundred", "2500"),
        ] {
            assert_eq!(with_digits(text), plain, "{text}");
        }
    }

    #[test]
    fn words_that_are_no_numbers_stay() {
        for text in [
            "a five-minute one-off, plus-one, 0x12ab 3rd 2026-03-08 12:30",
            "thousands of millions, and a point",
            "a point, half of it, between us and them",
            "golem-01 v2k ten-fold",
        ] {
            assert_eq!(with_digits(text), text);
        }
    }

    #[test]
    fn endless_numbers_are_bounded() {
        let endless = "one thousand ".repeat(5_000) + &"million ".repeat(5_000) + &"9".repeat(5_000) + "k";
        assert!(with_digits(&endless).ends_with(&format!("{}000", "9".repeat(100))));
        let ranges = "between one hundred and ".repeat(5_000);
        assert_eq!(with_digits(&ranges).matches("100").count(), 5_000);
    }
}
