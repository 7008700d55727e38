//! Characters that look like ASCII letters and digits: other scripts, full-width forms, styled alphabets.

/// Look-alikes of lower-case letters, one row per letter.
const LOWER: [&str; 26] = [
    "аαɑᴀ",
    "вʙƅ",
    "сϲᴄⅽ",
    "ԁᴅⅾ",
    "еεєᴇℯ",
    "ꜰ",
    "ɡɢℊ",
    "һнʜℎ",
    "іιıɪⅰ",
    "јϳᴊ",
    "кκᴋ",
    "ʟℓⅼ",
    "мᴍⅿ",
    "ոпɴ",
    "оοօᴏℴ",
    "рρᴘ",
    "ԛ",
    "гʀ",
    "ѕꜱ",
    "тτᴛ",
    "υսᴜ",
    "νᴠⅴ",
    "ԝᴡ",
    "хχⅹ",
    "уγʏ",
    "ᴢ",
];

/// Look-alikes of upper-case letters, one row per letter.
const UPPER: [&str; 26] = [
    "АΑ",
    "ВΒℬ",
    "СϹℂℭⅭ",
    "ⅮԀ",
    "ЕΕℰ",
    "Ϝℱ",
    "Ԍ",
    "НΗℋℌℍ",
    "ІΙℐℑⅠ",
    "Ј",
    "КΚ",
    "ℒⅬ",
    "МΜℳⅯ",
    "Νℕ",
    "ОΟՕ",
    "РΡℙ",
    "ℚԚ",
    "ℛℜℝ",
    "Ѕ",
    "ТΤ",
    "Ս",
    "Ѵⅴ",
    "Ԝ",
    "ХΧⅩ",
    "УΥҮ",
    "Ζℤℨ",
];

/// Runs of styled letters in alphabetical order: first character, ASCII character it stands for, length.
const RUNS: &[(u32, char, u32)] = &[
    // Full-width forms of all printable ASCII.
    (0xFF01, '!', 94),
    // Circled, squared and negative letters.
    (0x24B6, 'A', 26),
    (0x24D0, 'a', 26),
    (0x1F130, 'A', 26),
    (0x1F150, 'A', 26),
    (0x1F170, 'A', 26),
];

/// Mathematical alphabets: 13 styles of 26 capital and 26 small letters, and 5 styles of ten digits.
const MATH_LETTERS: std::ops::Range<u32> = 0x1D400..0x1D6A4;
const MATH_DIGITS: std::ops::Range<u32> = 0x1D7CE..0x1D800;

/// Scripts from Arabic to Mongolian, and those of East Asia. Skipped for speed.
const WITHOUT_LOOK_ALIKES: &[std::ops::Range<u32>] = &[0x600..0x1D00, 0x2E80..0xA700, 0xAC00..0xD7B0];

/// Returns the ASCII character that a character looks like, or the character itself.
pub(crate) fn look_alike(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    let code = u32::from(c);
    if MATH_LETTERS.contains(&code) {
        let at = (code - MATH_LETTERS.start) % 52;
        return if at < 26 { nth('A', at) } else { nth('a', at - 26) };
    }
    if MATH_DIGITS.contains(&code) {
        return nth('0', (code - MATH_DIGITS.start) % 10);
    }
    if let Some((first, ascii, _)) = RUNS.iter().find(|(first, _, length)| (*first..first + length).contains(&code)) {
        return nth(*ascii, code - first);
    }
    if WITHOUT_LOOK_ALIKES.iter().any(|scripts| scripts.contains(&code)) {
        return c;
    }
    let row =
        |rows: &[&str; 26], first| rows.iter().position(|row| row.contains(c)).and_then(|at| Some(nth(first, u32::try_from(at).ok()?)));
    row(&LOWER, 'a').or_else(|| row(&UPPER, 'A')).unwrap_or(c)
}

fn nth(first: char, at: u32) -> char {
    char::from_u32(u32::from(first) + at).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_alikes_of_many_scripts_become_ascii() {
        for text in ["раураl", "ｐａｙｐａｌ", "𝐩𝐚𝐲𝐩𝐚𝐥", "𝓹𝓪𝔂𝓹𝓪𝓵", "ⓟⓐⓨⓟⓐⓛ", "ρаγρаℓ", "ᴘᴀʏᴘᴀʟ", "𝚙𝚊𝚢𝚙𝚊𝚕"]
        {
            assert_eq!(text.chars().map(look_alike).collect::<String>(), "paypal", "{text}");
        }
        assert_eq!("🄿🅐🅈𝟙𝟗７".chars().map(look_alike).collect::<String>(), "PAY197");
        assert_eq!("ΝΗ".chars().map(look_alike).collect::<String>(), "NH");
    }

    #[test]
    fn no_row_is_in_a_skipped_script() {
        for c in LOWER.iter().chain(&UPPER).flat_map(|row| row.chars()) {
            assert!(look_alike(c).is_ascii(), "{c} is skipped");
        }
    }

    #[test]
    fn other_letters_stay() {
        let text = "ж林मé€👍";
        assert_eq!(text.chars().map(look_alike).collect::<String>(), text);
    }
}
