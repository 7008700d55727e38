//! Strings: short and long, plain and foreign, inside and just outside what a schema allows.

use super::dice::{Dice, Mood};
use super::shape::Text;

/// Longer than a line, a log field or a careless buffer, yet cheap.
const LONG: usize = 600;
/// Longer strings repeat this many letters: drawing each of them would be most of the work.
const CHUNK: usize = 40;
/// Bounds beyond this are respected but not tried out: a sample must fit into a test.
pub(super) const LARGEST: usize = 1 << 16;

const PLAIN: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789";
/// Quotes, escapes, markup, combining marks, right-to-left, wide, beyond the first plane, and letters that look Latin.
const FOREIGN: [char; 40] = [
    'é', 'ß', 'ñ', 'Ω', 'ж', 'я', 'а', 'е', 'о', 'ا', 'ل', 'ע', 'ह', 'ि', '中', '文', '日', '本', '한', '글', '🦀', '🚀', '👩', '\u{200d}',
    '\u{301}', '\u{202e}', '\u{feff}', '\u{a0}', '"', '\'', '\\', '/', '<', '&', '{', '$', '%', '\n', '\t', '\u{7f}',
];

/// Inserted or put in place of something to spoil a string that matched.
const SPOILERS: [char; 14] = ['g', 'Z', 'x', '0', ' ', '-', '_', '.', ',', '+', 'é', '０', '\n', '"'];

impl Text {
    /// `None` only where pattern and lengths hardly meet; parsing has refused those that never do.
    pub(super) fn draw(&self, dice: &mut Dice<'_>) -> Option<String> {
        if self.pattern.is_some() { self.draw_matching(dice) } else { Some(self.draw_free(dice)) }
    }

    fn draw_free(&self, dice: &mut Dice<'_>) -> String {
        let most = self.max.unwrap_or(usize::MAX);
        let long = most.min(self.min.max(LONG));
        let length = match (dice.mood, dice.below(12)) {
            (Mood::Smallest, _) | (_, 0) => self.min,
            (Mood::Largest, _) | (_, 1) if most <= LARGEST => most,
            (Mood::Long | Mood::Largest, _) => long,
            _ => dice.length(self.min, most.min(self.min + 20)),
        };
        written(length, dice)
    }

    fn draw_matching(&self, dice: &mut Dice<'_>) -> Option<String> {
        let pattern = self.pattern.as_ref()?;
        let asked = dice.mood;
        for attempt in 0..96_usize {
            // Lengths and pattern know nothing of each other: reach further, or less far, until both agree.
            let reach = if asked == Mood::Long || asked == Mood::Largest { 64 } else { 8 } << (attempt / 12);
            if attempt > 3 {
                dice.mood = if attempt % 3 == 0 { Mood::Smallest } else { Mood::Mixed };
            }
            let text = pattern.draw(dice, reach);
            if self.accepts(&text) {
                dice.mood = asked;
                return Some(self.surrounded(text, dice));
            }
        }
        dice.mood = asked;
        None
    }

    /// A pattern without anchors only has to occur somewhere; show that now and then.
    fn surrounded(&self, text: String, dice: &mut Dice<'_>) -> String {
        if dice.mood == Mood::Smallest || !dice.one_in(8) {
            return text;
        }
        let wider = format!("{}{text}{}", written(dice.length(0, 3), dice), written(dice.length(0, 3), dice));
        if self.accepts(&wider) { wider } else { text }
    }

    /// A string of right length that the pattern refuses; `None` if nothing we try is refused.
    pub(super) fn spoil(&self, good: &str, dice: &mut Dice<'_>) -> Option<String> {
        let pattern = self.pattern.as_ref()?;
        (0..48).map(|_| spoiled(good, dice)).find(|bad| self.fits(bad) && !pattern.matches(bad))
    }

    pub(super) fn shorter(&self, good: &str, dice: &mut Dice<'_>) -> Option<String> {
        let most = self.min.checked_sub(1)?;
        let length = if dice.one_in(2) { most } else { dice.length(0, most) };
        Some(good.chars().take(length).collect())
    }

    pub(super) fn longer(&self, good: &str, dice: &mut Dice<'_>) -> Option<String> {
        let length = self.max.filter(|&max| max < LARGEST)? + if dice.one_in(2) { 1 } else { dice.length(1, 30) };
        // Going on with what is there keeps most patterns happy, so that the length alone is wrong.
        let tail = good.chars().last().unwrap_or('a');
        let missing = length.saturating_sub(good.chars().count());
        Some(good.chars().chain(std::iter::repeat_n(tail, missing)).collect())
    }
}

pub(super) fn written(length: usize, dice: &mut Dice<'_>) -> String {
    let foreign = dice.mood == Mood::Foreign || dice.one_in(10);
    let letter = |dice: &mut Dice<'_>| if foreign && dice.one_in(2) { *dice.pick(&FOREIGN) } else { char::from(*dice.pick(PLAIN)) };
    // Of a long string the length matters, not the hundredth letter.
    let chunk: String = (0..length.min(CHUNK)).map(|_| letter(dice)).collect();
    let mut text = chunk.repeat(length / CHUNK);
    text.extend(chunk.chars().take(length % CHUNK));
    text
}

fn spoiled(good: &str, dice: &mut Dice<'_>) -> String {
    let mut letters: Vec<char> = good.chars().collect();
    let place = dice.below(letters.len() + 1);
    let spoiler = *dice.pick(&SPOILERS);
    match dice.below(8) {
        0 | 1 => letters.insert(place, spoiler),
        2 | 3 if place < letters.len() => letters[place] = spoiler,
        4 if place < letters.len() => drop(letters.remove(place)),
        5 => letters.push(spoiler),
        6 => letters.insert(0, ' '),
        7 => letters.clear(),
        _ => letters = written(dice.length(1, 12), dice).chars().collect(),
    }
    letters.into_iter().collect()
}
