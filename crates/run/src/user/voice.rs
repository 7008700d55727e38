//! Voice of a persona: phrases of its temper and typos.

use super::phrases::named_values;
use model::SeededRng;
use model::suite::PersonaTemper;
use std::collections::BTreeSet;

#[derive(Debug, Clone)]
pub(super) struct PersonaVoice {
    temper: PersonaTemper,
    typos: u64,
    /// Names of tokens and chains, which never get typos.
    known: BTreeSet<String>,
    rng: SeededRng,
}

/// Kind of utterance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UtteranceKind {
    Opening,
    Answer,
    /// Answer that was given before.
    Repeat,
    Unknown,
    Nudge,
}

const NEUTRAL: [&str; 3] = ["I can't tell you more about that.", "I have nothing to add on that.", "I don't know."];
const NUDGE: [&str; 3] = ["Please go on.", "Okay, what's next?", "I'm still here."];

impl PersonaVoice {
    pub(super) fn new(temper: PersonaTemper, typos: u64, known: BTreeSet<String>, seed: u64) -> Self {
        Self { temper, typos, known, rng: SeededRng::new(seed) }
    }

    pub(super) fn speak(&mut self, tone: UtteranceKind, content: &str) -> String {
        let content = match tone {
            UtteranceKind::Opening | UtteranceKind::Answer | UtteranceKind::Repeat => content.to_owned(),
            UtteranceKind::Unknown => self.pick(&NEUTRAL),
            UtteranceKind::Nudge => self.pick(&NUDGE),
        };
        let before = match (self.temper, tone) {
            (_, UtteranceKind::Opening | UtteranceKind::Unknown | UtteranceKind::Nudge)
            | (PersonaTemper::Plain, UtteranceKind::Answer | UtteranceKind::Repeat) => String::new(),
            (PersonaTemper::Chatty, UtteranceKind::Answer) => self.pick(&["Oh, of course!", "Sure, happy to help.", "Thanks for asking!"]),
            (PersonaTemper::Chatty, UtteranceKind::Repeat) => self.pick(&["Didn't I say that? No problem.", "Happy to repeat that."]),
            (PersonaTemper::Impatient, UtteranceKind::Answer) => self.pick(&["Fine.", "If you must know:", "Okay, quickly:"]),
            (PersonaTemper::Impatient, UtteranceKind::Repeat) => self.pick(&["As I said:", "Again:"]),
        };
        let said = if before.is_empty() { content } else { format!("{before} {content}") };
        self.add_typos(&said)
    }

    fn pick(&mut self, texts: &[&str]) -> String {
        texts[self.rng.below(texts.len())].to_owned()
    }

    fn add_typos(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for piece in text.split_inclusive(' ') {
            let word = piece.trim_end_matches(' ');
            let plain = word.len() >= 4 && word.chars().all(|c| c.is_ascii_lowercase()) && named_values(word, &self.known).is_empty();
            if plain && self.rng.percent(self.typos) {
                let at = 1 + self.rng.below(word.len() - 2);
                let mut letters: Vec<char> = word.chars().collect();
                letters.swap(at, at + 1);
                out.extend(letters);
                out.push_str(&piece[word.len()..]);
            } else {
                out.push_str(piece);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_swap_letters_and_never_touch_values() {
        let known = BTreeSet::from(["base".to_owned()]);
        let mut voice = PersonaVoice::new(PersonaTemper::Plain, 100, known, 7);
        let said = voice.speak(UtteranceKind::Answer, "please move about 1200usdc over there on base using 0xabcd now");
        let words: Vec<&str> = said.split(' ').collect();
        assert_eq!((words[3], words[7], words[9]), ("1200usdc", "base", "0xabcd"), "{said}");
        assert_ne!(words[0], "please");
        let letters = |text: &str| {
            let mut letters: Vec<char> = text.chars().collect();
            letters.sort_unstable();
            letters
        };
        assert_eq!(letters(&said), letters("please move about 1200usdc over there on base using 0xabcd now"));
    }
}
