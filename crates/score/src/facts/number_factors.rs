//! Words and suffixes after a figure that multiply it by a power of ten: "5k", "1.25 million", "3 lakh", "125万".

/// Powers of ten with their words in lower case, in the languages of the suites.
const FACTORS: [(i32, &[&str]); 8] = [
    (2, &["hundred", "hundert"]),
    (
        3,
        &[
            "k",
            "thousand",
            "thousands",
            "tausend",
            "tsd",
            "mil",
            "mille",
            "тыс",
            "тысяча",
            "тысячи",
            "тысяч",
            "bin",
            "ribu",
            "nghìn",
            "हज़ार",
        ],
    ),
    (5, &["lakh", "lakhs", "lac", "lacs", "लाख"]),
    (
        6,
        &[
            "m",
            "mm",
            "mn",
            "mio",
            "million",
            "millions",
            "millionen",
            "millón",
            "millon",
            "millones",
            "milhão",
            "milhões",
            "milione",
            "milioni",
            "млн",
            "миллион",
            "миллиона",
            "миллионов",
            "milyon",
            "juta",
            "triệu",
            "मिलियन",
            "مليون",
        ],
    ),
    (7, &["crore", "crores", "cr", "करोड़"]),
    (
        9,
        &[
            "b",
            "bn",
            "billion",
            "billions",
            "mrd",
            "milliarde",
            "milliarden",
            "milliard",
            "milliards",
            "miliardo",
            "miliardi",
            "млрд",
            "миллиард",
            "миллиарда",
            "миллиардов",
            "milyar",
            "miliar",
            "tỷ",
            "अरब",
            "مليار",
        ],
    ),
    (12, &["tn", "trillion", "trillions"]),
    (15, &["quadrillion"]),
];

/// Powers of ten with their signs in scripts without spaces, longer signs first.
const SIGNS: [(i32, &str); 15] = [
    (7, "千万"),
    (6, "百万"),
    (9, "十亿"),
    (9, "十億"),
    (5, "十万"),
    (7, "천만"),
    (6, "백만"),
    (5, "십만"),
    (3, "千"),
    (4, "万"),
    (4, "萬"),
    (8, "億"),
    (8, "亿"),
    (4, "만"),
    (8, "억"),
];

/// Letters of the longest word.
const MAX_LETTERS: usize = 16;
/// Spaces between a figure and its factor.
const MAX_SPACES: usize = 2;
/// Power of ten up to which an exponent is read.
const MAX_EXPONENT: i32 = 30;

/// Factor that follows a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NumberFactor {
    pub power: i32,
    /// Position after the factor.
    pub end: usize,
}

/// Returns the power of ten that a word in lower case stands for.
pub(super) fn power_of_word(word: &str) -> Option<i32> {
    FACTORS.iter().find(|(_, words)| words.contains(&word)).map(|(power, _)| *power)
}

/// Returns the factor at this position, right after a figure or after a space. A letter other than k has to be attached; a hyphen makes
/// "5m-markouts" a name.
pub(super) fn factor_after(letters: &[char], at: usize) -> Option<NumberFactor> {
    let is_space = |letter: &&char| matches!(**letter, ' ' | '\u{a0}' | '\u{202f}');
    let rest = letters.get(at..)?;
    let spaces = rest.iter().take(MAX_SPACES).take_while(is_space).count();
    let start = at + spaces;
    let word: String = letters[start..].iter().take_while(|letter| letter.is_alphanumeric()).take(MAX_LETTERS + 1).collect();
    if let Some((power, sign)) = SIGNS.iter().find(|(_, sign)| word.starts_with(sign)) {
        return Some(NumberFactor { power: *power, end: start + sign.chars().count() });
    }
    // Marks of Indic scripts are no letters.
    let word: String = letters[start..].iter().take_while(|letter| is_word_part(**letter)).take(MAX_LETTERS + 1).collect();
    let end = start + word.chars().count();
    let is_name = letters.get(end).is_some_and(|letter| matches!(letter, '-' | '_'))
        && letters.get(end + 1).is_some_and(|letter| letter.is_alphabetic());
    let word = word.to_lowercase();
    let is_attached = spaces == 0 || word == "k" || word.chars().count() > 1;
    let power = power_of_word(&word).or_else(|| exponent(&word).filter(|_| spaces == 0))?;
    (!is_name && is_attached).then_some(NumberFactor { power, end })
}

fn is_word_part(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '\u{900}'..='\u{97f}')
}

/// Returns the exponent of a figure such as 1.25e6.
fn exponent(word: &str) -> Option<i32> {
    let digits = word.strip_prefix('e')?;
    let is_plain = !digits.is_empty() && digits.len() <= 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|power| is_plain && *power <= MAX_EXPONENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power(text: &str) -> Option<i32> {
        let letters: Vec<char> = text.chars().collect();
        let figure = letters.iter().take_while(|letter| letter.is_ascii_digit()).count();
        factor_after(&letters, figure).map(|factor| factor.power)
    }

    #[test]
    fn factors_are_read_in_the_languages_of_the_suites() {
        for (text, expected) in [
            ("5k", 3),
            ("5K.", 3),
            ("5 k USDC", 3),
            ("5 thousand", 3),
            ("5 mil USDC", 3),
            ("12 lakh", 5),
            ("12 लाख", 5),
            ("1M", 6),
            ("1 Mio. Euro", 6),
            ("1 million,", 6),
            ("1\u{a0}миллион", 6),
            ("3 crore", 7),
            ("3bn", 9),
            ("2 Milliarden", 9),
            ("125万USDC", 4),
            ("3백만 원", 6),
            ("1e21", 21),
            ("5k-10k", 3),
        ] {
            assert_eq!(power(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_words_are_no_factors() {
        for text in ["5", "5 USDC", "5 m", "5m-markouts", "5x", "5kg", "5e123", "5 e6", "5e", "5 \nmillion", "5th", "5 millipede"] {
            assert_eq!(power(text), None, "{text}");
        }
    }
}
