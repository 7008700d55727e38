//! Moods of verbs in an English sentence: the reader is asked, or another party does it.

use super::particles::{
    BEFORE_VERBS, CONDITIONS, CONJUNCTIONS, DUTIES, FILLERS, HOLDERS, MODALS, NEGATIONS, OBLIGED, OTHERS, PROHIBITIONS, REFUSALS, REPORTS,
    URGED, YOU,
};
use super::words::{DETERMINERS, HANDING, LISTED, TELLING, WITH_VERBS};
use crate::facts::clauses::{Gap, Word, clause_start};

/// Words before a verb that are read to find its subject.
const REACH: usize = 24;
/// Words between a negation and "to" that it still negates.
const NEGATED_WORDS: usize = 5;
/// Words before a quote that tell who said it.
const QUOTING_WORDS: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    /// The reader is asked.
    Asked,
    /// Others ask the reader.
    Reported,
    /// The reader does it, perhaps under a condition.
    Conditional,
    /// Asked only if the object is the reader's.
    Unsure,
    /// Repeats what was refused before, unless the object is the reader's.
    Echoed,
    /// Another party does it, or it is forbidden.
    Other,
    /// The word is a noun.
    Noun,
}

fn is_listed_verb(word: &Word) -> bool {
    [HANDING, TELLING, LISTED, WITH_VERBS].iter().any(|verbs| word.is_one_of(verbs))
}

/// Returns the mood of the verb at a place. An order in the quote of another party is reported.
pub(super) fn mood(words: &[Word], verb: usize) -> Mood {
    let quote = (0..=verb).rev().find(|n| words[*n].gap == Gap::Quote);
    let is_report = quote.is_some_and(|quote| words[quote.saturating_sub(QUOTING_WORDS)..quote].iter().any(|word| word.is_one_of(REPORTS)));
    let mood = plain_mood(words, verb);
    if mood == Mood::Asked && is_report { Mood::Reported } else { mood }
}

fn plain_mood(words: &[Word], verb: usize) -> Mood {
    // "The type of custody."
    if words.get(verb + 1).is_some_and(|next| next.text == "of" && next.gap == Gap::Space) {
        return Mood::Noun;
    }
    let mut at = verb;
    let mut is_polite = false;
    for _ in 0..REACH {
        let Some(before) = at.checked_sub(1) else { return if words[0].gap == Gap::Cut { Mood::Other } else { Mood::Asked } };
        let (word, gap) = (&words[before], words[at].gap);
        let binds = word.is_one_of(NEGATIONS) || word.is_one_of(MODALS) || word.text == "to";
        if word.is_one_of(FILLERS) && matches!(gap, Gap::Space | Gap::Comma) {
            is_polite |= matches!(word.text.as_str(), "please" | "kindly");
            at = before;
            continue;
        }
        match gap {
            Gap::Quote => return Mood::Asked,
            Gap::Item if forbids(&words[..=before]) => return Mood::Other,
            Gap::Break if !binds && refuses(&words[clause_start(words, before)..=before]) => return Mood::Echoed,
            Gap::Break | Gap::Item if !binds => return Mood::Asked,
            Gap::Comma if is_listed_verb(word) => {
                at = before;
                continue;
            }
            Gap::Comma if !binds && !word.is_one_of(CONJUNCTIONS) => return Mood::Asked,
            Gap::Space | Gap::Comma | Gap::Break | Gap::Item | Gap::Cut => {}
        }
        if word.is_one_of(CONJUNCTIONS) {
            if before > 0 && is_listed_verb(&words[before - 1]) {
                at = before - 1;
                continue;
            }
            return if is_polite { Mood::Asked } else { joined_mood(words, before) };
        }
        return mood_after(words, before);
    }
    Mood::Unsure
}

/// Returns the mood of a verb by the word before it.
fn mood_after(words: &[Word], at: usize) -> Mood {
    let word = &words[at];
    if word.is_one_of(YOU) {
        let asks = at > 0 && words[at - 1].is_one_of(MODALS) && !is_negated(words, at);
        let is_price = at == 1 && words[0].is_one_of(&["unless", "until"]);
        return if asks || is_price || word.text == "you'll" { Mood::Asked } else { Mood::Conditional };
    }
    if word.is_one_of(NEGATIONS) {
        return Mood::Other;
    }
    if word.text == "ever" || word.text == "under" || word.text == "circumstances" || word.text == "be" {
        return if is_negated(words, at) { Mood::Other } else { Mood::Unsure };
    }
    if word.is_one_of(MODALS) {
        let subject = (0..at).rev().take(2).find(|n| !words[*n].is_one_of(FILLERS)).map(|n| &words[n]);
        return match subject {
            Some(subject) if subject.is_one_of(YOU) => condition_or_duty(words, at),
            Some(subject) if subject.is_one_of(HOLDERS) && word.is_one_of(DUTIES) => Mood::Asked,
            Some(_) | None => Mood::Other,
        };
    }
    if word.text == "to" {
        return mood_after_to(words, at);
    }
    if word.is_one_of(&["is", "are"]) {
        let clause = &words[clause_start(words, at)..at];
        if clause.iter().any(|word| word.is_one_of(NEGATIONS) || word.is_one_of(REFUSALS)) {
            return Mood::Other;
        }
        return if words[..at].iter().any(|word| word.is_one_of(&["do", "way", "step", "thing", "left"])) {
            Mood::Asked
        } else {
            Mood::Unsure
        };
    }
    if word.is_one_of(DETERMINERS) || word.is_one_of(&["each", "every", "of", "some", "no"]) {
        return Mood::Noun;
    }
    if word.is_one_of(OTHERS) || word.is_one_of(REFUSALS) { Mood::Other } else { Mood::Unsure }
}

/// Returns the mood after "you" and a modal: a duty is asked, and so is an option without a condition.
fn condition_or_duty(words: &[Word], modal: usize) -> Mood {
    let has_condition = (0..modal).rev().take(3).any(|n| words[n].is_one_of(CONDITIONS));
    if has_condition || words[modal].is_one_of(&["could", "can", "may", "might", "would"]) { Mood::Conditional } else { Mood::Asked }
}

fn mood_after_to(words: &[Word], to: usize) -> Mood {
    let Some(before) = (0..to).rev().find(|n| !words[*n].is_one_of(FILLERS)) else { return Mood::Other };
    let word = &words[before];
    let is_refused = word.is_one_of(REFUSALS) || word.is_one_of(NEGATIONS);
    if is_refused || word.is_one_of(OTHERS) && !word.is_one_of(&["it"]) {
        return Mood::Other;
    }
    if word.is_one_of(YOU) {
        return mood_of_wish(words, before);
    }
    if !word.is_one_of(OBLIGED) {
        return Mood::Unsure;
    }
    if word.is_one_of(URGED) {
        return Mood::Asked;
    }
    let from = before.saturating_sub(NEGATED_WORDS);
    for n in (from..before).rev() {
        if words[n].is_one_of(NEGATIONS) || words[n].is_one_of(REFUSALS) {
            return Mood::Other;
        }
        if words[n].is_one_of(YOU) {
            return if n > 0 && words[n - 1].is_one_of(CONDITIONS) { Mood::Conditional } else { Mood::Asked };
        }
        if words[n].is_one_of(HOLDERS) {
            return Mood::Asked;
        }
        if words[n].is_one_of(OTHERS) && words[n].text != "it" {
            return Mood::Other;
        }
        if words[n + 1].gap != Gap::Space {
            break;
        }
    }
    Mood::Asked
}

/// Returns the mood of "you to": the wish of the writer, or of others.
fn mood_of_wish(words: &[Word], you: usize) -> Mood {
    let Some(wish) = you.checked_sub(1) else { return Mood::Asked };
    let from = clause_start(words, wish);
    let clause = &words[from..you];
    let is_conditional = clause.iter().any(|word| word.is_one_of(CONDITIONS));
    let negates = |n: usize| clause[n].is_one_of(NEGATIONS) && (n == 0 || clause[n - 1].text != "with") && clause[n].text != "without";
    if !is_conditional && (0..clause.len()).any(negates) || clause.iter().any(|word| word.is_one_of(REFUSALS)) {
        return Mood::Other;
    }
    let own = ["i", "i'd", "we", "we'd", "i'll", "we'll", "i'm", "we're"];
    let is_own = clause.iter().rev().find(|word| word.is_one_of(OTHERS)).is_some_and(|word| word.is_one_of(&own));
    let is_plain = words[wish].is_one_of(&["for", "allow", "allows", "helps"]);
    if is_own || is_plain { Mood::Asked } else { Mood::Reported }
}

/// Returns the mood of a verb after "and" or "or" that continues an earlier verb phrase of the clause.
fn joined_mood(words: &[Word], conjunction: usize) -> Mood {
    let Some(last) = conjunction.checked_sub(1) else { return Mood::Asked };
    let from = clause_start(words, last);
    let clause = &words[from..conjunction];
    if forbids(clause) {
        return Mood::Other;
    }
    if from > 0 && words[from - 1].is_one_of(&["requested", "request", "asked", "wanted", "declined", "refused"]) {
        return Mood::Echoed;
    }
    match clause.iter().rev().find(|word| word.is_one_of(OTHERS) && word.text != "it" || word.is_one_of(YOU)) {
        Some(word) if word.is_one_of(YOU) => Mood::Conditional,
        // An object such as "it" or "me" of an order is no subject.
        Some(word) if word.is_one_of(&["me", "us", "them", "him", "one"]) && !clause[0].is_one_of(OTHERS) => {
            if clause.iter().any(|word| word.is_one_of(&["told", "asked", "asks", "tells", "wants", "ordered", "instructed"])) {
                Mood::Other
            } else {
                Mood::Asked
            }
        }
        Some(_) => Mood::Other,
        None => Mood::Asked,
    }
}

/// Returns whether a clause refuses: "I can't do the second part", "declined".
fn refuses(clause: &[Word]) -> bool {
    let has = |list: &[&str]| clause.iter().any(|word| word.is_one_of(list));
    has(&["declined", "refused", "withheld", "request", "decline", "refuse"]) || has(&["i", "we"]) && has(PROHIBITIONS)
}

/// Returns whether words forbid what follows them: a negation that no condition has and no urging word follows.
pub(super) fn forbids(words: &[Word]) -> bool {
    let urges = |n: usize| words[n + 1..].iter().take(2).any(|word| word.is_one_of(URGED));
    let from = (0..words.len()).rev().find(|n| words[*n].is_one_of(CONDITIONS)).map_or(0, |n| n + 1);
    let is_conditional = from > 0;
    !is_conditional && (0..words.len()).any(|n| words[n].is_one_of(PROHIBITIONS) && !urges(n))
}

/// Returns whether a negation stands right before a place, or before words that it covers.
pub(super) fn is_negated(words: &[Word], at: usize) -> bool {
    (0..at)
        .rev()
        .take(NEGATED_WORDS)
        .take_while(|n| words[*n].is_one_of(BEFORE_VERBS) || words[*n].is_one_of(NEGATIONS) || words[*n].is_one_of(MODALS))
        .any(|n| words[n].is_one_of(NEGATIONS))
}
