//! Draws strings: short and long, ASCII and non-ASCII, valid and just invalid.

use crate::random::{SampleRng, SampleStyle};
use crate::shape::TextShape;

/// Long enough to overflow a line, a log field or a fixed buffer, and still cheap.
const LONG_LENGTH: usize = 600;
/// Longer strings repeat a chunk of this length: drawing every letter would dominate the cost.
const CHUNK_LENGTH: usize = 40;
/// Longest string generated to reach a length bound. Greater bounds are respected but not reached.
pub(crate) const MAX_TRIED_LENGTH: usize = 1 << 16;

const ASCII_LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789";
/// Quotes, escapes, markup, combining marks, right-to-left, wide, beyond the first plane, and letters that look Latin.
const NON_ASCII: [char; 40] = [
    'é', 'ß', 'ñ', 'Ω', 'ж', 'я', 'а', 'е', 'о', 'ا', 'ل', 'ע', 'ह', 'ि', '中', '文', '日', '本', '한', '글', '🦀', '🚀', '👩', '\u{200d}',
    '\u{301}', '\u{202e}', '\u{feff}', '\u{a0}', '"', '\'', '\\', '/', '<', '&', '{', '$', '%', '\n', '\t', '\u{7f}',
];
/// Inserted or substituted to break a string that matched.
const SPOILERS: [char; 14] = ['g', 'Z', 'x', '0', ' ', '-', '_', '.', ',', '+', 'é', '０', '\n', '"'];

impl TextShape {
    /// Returns `None` if no string was found that satisfies both the pattern and the lengths.
    pub(crate) fn draw(&self, random: &mut SampleRng) -> Option<String> {
        if self.pattern.is_some() {
            return self.draw_matching(random);
        }
        let formatted = self.format.as_deref().and_then(|format| format_text(format, random)).filter(|text| self.length_fits(text));
        Some(formatted.unwrap_or_else(|| self.draw_free(random)))
    }

    fn draw_free(&self, random: &mut SampleRng) -> String {
        let most = self.max.unwrap_or(usize::MAX);
        let length = match (random.style, random.below(12)) {
            (SampleStyle::Typical, _) => random.length(self.min.max(4.min(most)), most.min(self.min.max(12))),
            (SampleStyle::Smallest, _) | (_, 0) => self.min,
            (SampleStyle::Largest, _) | (_, 1) if most <= MAX_TRIED_LENGTH => most,
            (SampleStyle::Long | SampleStyle::Largest, _) => most.min(self.min.max(LONG_LENGTH)),
            _ => random.length(self.min, most.min(self.min + 20)),
        };
        random_text(length, random)
    }

    fn draw_matching(&self, random: &mut SampleRng) -> Option<String> {
        let pattern = self.pattern.as_ref()?;
        let asked = random.style;
        let found = (0..96_usize).find_map(|attempt| {
            // The pattern draws without regard to the lengths: vary the reach until both are satisfied.
            let reach = if asked == SampleStyle::Long || asked == SampleStyle::Largest { 64 } else { 8 } << (attempt / 12);
            if attempt > 3 {
                random.style = if attempt % 3 == 0 { SampleStyle::Smallest } else { SampleStyle::Mixed };
            }
            Some(pattern.draw(random, reach)).filter(|text| self.accepts(text))
        });
        random.style = asked;
        // A pattern without anchors may match anywhere in the string.
        let wider = |text: &String| format!("a {text} z");
        found.map(|text| if asked == SampleStyle::Mixed && self.accepts(&wider(&text)) { wider(&text) } else { text })
    }

    /// Returns a string of valid length that the pattern rejects, or `None` if none was found.
    pub(crate) fn break_pattern(&self, good: &str, random: &mut SampleRng) -> Option<String> {
        let pattern = self.pattern.as_ref()?;
        (0..48).map(|_| random_edit(good, random)).find(|bad| self.length_fits(bad) && !pattern.matches(bad))
    }

    pub(crate) fn exceed_max_length(&self, good: &str, random: &mut SampleRng) -> Option<String> {
        let length = self.max? + if random.one_in(2) { 1 } else { random.length(1, 30) };
        // Repeating the last letter satisfies most patterns, so only the length is wrong.
        let tail = good.chars().last().unwrap_or('a');
        let missing = length.saturating_sub(good.chars().count());
        Some(good.chars().chain(std::iter::repeat_n(tail, missing)).collect())
    }
}

pub(crate) fn random_text(length: usize, random: &mut SampleRng) -> String {
    let is_typical = random.style == SampleStyle::Typical;
    let non_ascii = random.style == SampleStyle::NonAscii || (!is_typical && random.one_in(10));
    let plain = if is_typical { &ASCII_LETTERS[..26] } else { ASCII_LETTERS.as_slice() };
    let mut letter = || if non_ascii && random.one_in(2) { *random.pick(&NON_ASCII) } else { char::from(*random.pick(plain)) };
    // Only the length of a long string matters, so repeat a chunk.
    let chunk: String = (0..length.min(CHUNK_LENGTH)).map(|_| letter()).collect();
    let mut text = chunk.repeat(length / CHUNK_LENGTH);
    text.extend(chunk.chars().take(length % CHUNK_LENGTH));
    text
}

/// Returns text in a JSON Schema format, or `None` for an unknown format.
fn format_text(format: &str, random: &mut SampleRng) -> Option<String> {
    let n = random.below(1 << 32);
    Some(match format {
        "date-time" => format!("2026-03-{:02}T12:00:00Z", 1 + n % 28),
        "date" => format!("2026-03-{:02}", 1 + n % 28),
        "time" => format!("12:{:02}:00Z", n % 60),
        "email" => format!("user{}@example.com", n % 1000),
        "uri" | "url" | "iri" => format!("https://example.com/{}", n % 1000),
        "hostname" => "example.com".to_owned(),
        "ipv4" => format!("192.0.2.{}", n % 256),
        "ipv6" => format!("2001:db8::{:x}", n % 0xffff),
        "uuid" => format!("{n:08x}-0000-4000-8000-{:012x}", random.below(1 << 32)),
        _ => return None,
    })
}

fn random_edit(good: &str, random: &mut SampleRng) -> String {
    let mut letters: Vec<char> = good.chars().collect();
    let place = random.below(letters.len() + 1);
    let spoiler = *random.pick(&SPOILERS);
    match random.below(8) {
        0 | 1 => letters.insert(place, spoiler),
        2 | 3 if place < letters.len() => letters[place] = spoiler,
        4 if place < letters.len() => drop(letters.remove(place)),
        5 => letters.push(spoiler),
        6 => letters.insert(0, ' '),
        7 => letters.clear(),
        _ => letters = random_text(random.length(1, 12), random).chars().collect(),
    }
    letters.into_iter().collect()
}
