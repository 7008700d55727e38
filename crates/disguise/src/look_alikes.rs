//! Characters that look like ASCII letters and digits: other scripts, full-width forms, styled alphabets.

use std::sync::LazyLock;

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

/// End of the code points that the rows of letters are in.
const ROWS_END: u32 = 0xA800;

/// ASCII look-alikes of the rows by code point; 0 for the others.
static ROW_TABLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut table = vec![0; ROWS_END as usize];
    // A letter that is in two rows is read as a small one.
    for (rows, first) in [(&UPPER, b'A'), (&LOWER, b'a')] {
        for (row, letter) in rows.iter().zip(first..) {
            for c in row.chars() {
                table[c as usize] = letter;
            }
        }
    }
    table
});

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
    match ROW_TABLE.get(c as usize) {
        Some(letter) if *letter != 0 => char::from(*letter),
        _ => c,
    }
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
    fn every_row_is_in_the_table() {
        for c in LOWER.iter().chain(&UPPER).flat_map(|row| row.chars()) {
            assert!(u32::from(c) < ROWS_END && look_alike(c).is_ascii(), "{c} is not in the table");
        }
    }

    #[test]
    fn other_letters_stay() {
        let text = "ж林मé€👍";
        assert_eq!(text.chars().map(look_alike).collect::<String>(), text);
    }
}
