//! Requests for keys in an English sentence: a verb that asks the reader to hand one over, a key that is said to be needed, or a question.

use super::mood::{Mood, is_negated, mood};
use super::particles::{CONDITIONS, DEVICES, DISTANCE, HARMS, NEGATIONS, NO_ONE, OTHERS, RECEIVERS, SUBJECTS, SUBORDINATES, URGED};
use super::words::{
    AFTER_TELLING, BEFORE_GERUNDS, COPULAS, DETERMINERS, GERUNDS, HANDING, NEED, NEEDED, OBLIGATIONS, PARTICIPLES, READER, TELLING,
    WITH_VERBS,
};
use super::{KeyName, Request};
use crate::facts::clauses::{Gap, Word, clause_start};

/// Words after a key that say what happens to it.
const PREDICATE_WORDS: usize = 6;
const DETERMINER_WORDS: usize = 8;

/// Sentence with its keys, and whether it or one beside it keeps away from what is reported.
pub(super) struct KeySentence<'a> {
    pub words: &'a [Word],
    pub keys: &'a [KeyName],
    pub is_distant: bool,
    /// The reader's key that the sentence before names last.
    pub earlier: Option<&'static str>,
}

/// Returns the requests of a sentence in order.
pub(super) fn requests(sentence: &KeySentence<'_>) -> Vec<Request> {
    let moods = moods(sentence.words);
    let prefix = Prefixes::of(sentence.words, &moods);
    let asks = |key: &KeyName| {
        let verb = asking_verb(sentence, &moods, &prefix, key);
        let other = || needs(sentence, key) || is_needed(sentence.words, key) || is_asked_for(sentence.words, key);
        let at = verb.or_else(|| other().then_some(key.from))?;
        Some(Request { key: key.name, at })
    };
    let mut found: Vec<Request> = sentence.keys.iter().filter_map(asks).collect();
    found.extend(pronoun_request(sentence, &moods));
    found
}

/// Returns whether the words keep away from what they report.
pub(super) fn is_distant(words: &[Word]) -> bool {
    let negated = |n: usize| n > 0 && words[n - 1].is_one_of(NEGATIONS);
    // "Do not delay" goes along with what is reported.
    let urges = |n: usize| words[n].is_one_of(NEGATIONS) && words.get(n + 1).is_some_and(|next| next.is_one_of(URGED));
    (0..words.len()).any(|n| words[n].is_one_of(DISTANCE) && !negated(n) && !urges(n))
}

fn moods(words: &[Word]) -> Vec<Option<Mood>> {
    let is_verb = |word: &Word| word.is_one_of(HANDING) || word.is_one_of(TELLING) || word.is_one_of(WITH_VERBS);
    let mood_at = |n: usize| is_verb(&words[n]).then(|| mood(words, n)).filter(|mood| *mood != Mood::Noun);
    (0..words.len()).map(mood_at).collect()
}

/// The last verb and the last subordinating word before each word.
struct Prefixes {
    verb: Vec<Option<usize>>,
    subordinate: Vec<Option<usize>>,
}

impl Prefixes {
    fn of(words: &[Word], moods: &[Option<Mood>]) -> Self {
        let (mut verb, mut subordinate) = (None, None);
        let (mut verbs, mut subordinates) = (vec![], vec![]);
        for n in 0..words.len() {
            verbs.push(verb);
            subordinates.push(subordinate);
            verb = if moods[n].is_some() { Some(n) } else { verb };
            let opens = words[n].is_one_of(CONDITIONS) && words.get(n + 1).is_some_and(|next| next.is_one_of(SUBJECTS));
            // "If you want" and "if you can" leave the order as it is.
            let is_polite = opens && words.get(n + 2).is_some_and(|word| word.is_one_of(&["want", "can", "like", "wish", "please"]));
            if words[n].is_one_of(SUBORDINATES) || opens && !is_polite {
                subordinate = Some(n);
            }
        }
        Self { verb: verbs, subordinate: subordinates }
    }
}

/// Returns the verb that asks for a key.
fn asking_verb(sentence: &KeySentence<'_>, moods: &[Option<Mood>], prefix: &Prefixes, key: &KeyName) -> Option<usize> {
    let words = sentence.words;
    if let Some(gerund) = asking_gerund(words, key) {
        return Some(gerund);
    }
    if key.is_excluded {
        return None;
    }
    let verb = prefix.verb[key.from]?;
    let clause = clause_start(words, key.from);
    let is_blocked = || prefix.subordinate[key.from].is_some_and(|at| at > verb);
    let governs = if words[verb].is_one_of(HANDING) {
        if clause <= verb { !is_blocked() } else { is_listed_object(words, clause, key) }
    } else {
        // "Reply with your key", "confirm your key".
        let between = &words[verb + 1..key.noun_phrase];
        let with = between.iter().any(|word| word.is_one_of(&["with", "using", "via"]));
        let is_direct = between.iter().all(|word| word.is_one_of(AFTER_TELLING));
        key.is_readers
            && clause <= verb
            && between.len() < DETERMINER_WORDS
            && !is_blocked()
            && (is_direct && words[verb].is_one_of(TELLING) || with && words[verb].is_one_of(WITH_VERBS))
    };
    (governs && asks_reader(sentence, moods[verb]?, key, verb) && !is_for_own_device(words, verb)).then_some(verb)
}

fn asks_reader(sentence: &KeySentence<'_>, mood: Mood, key: &KeyName, verb: usize) -> bool {
    if goes_to_no_one(sentence.words, key.to) {
        return false;
    }
    match mood {
        Mood::Asked => true,
        Mood::Reported => !sentence.is_distant,
        Mood::Conditional => !is_harmful(sentence.words) && !is_negated(sentence.words, verb),
        Mood::Unsure => key.is_readers && !is_harmful(sentence.words) && !sentence.is_distant,
        Mood::Echoed => key.is_readers,
        Mood::Other | Mood::Noun => false,
    }
}

/// Returns whether the key is an item of a list in an earlier clause: nothing but determiners before it, and no statement after it.
fn is_listed_object(words: &[Word], clause: usize, key: &KeyName) -> bool {
    let between = &words[clause..key.noun_phrase.max(clause)];
    let item = between.iter().rposition(|word| word.is_one_of(&["and", "or", "plus", "also"])).map_or(between, |at| &between[at + 1..]);
    item.is_empty() && words.get(key.to).is_none_or(|word| !word.is_one_of(COPULAS) || word.gap != Gap::Space)
}

fn is_harmful(words: &[Word]) -> bool {
    let negated = |n: usize| words[n.saturating_sub(2)..n].iter().any(|word| word.is_one_of(NEGATIONS));
    (0..words.len()).any(|n| words[n].is_one_of(HARMS) && !negated(n))
}

/// Returns whether the words after a place exclude all receivers: "with no one".
fn goes_to_no_one(words: &[Word], from: usize) -> bool {
    let after = &words[from.min(words.len())..];
    let is_no_one =
        |n: usize| after[n].is_one_of(NO_ONE) || after[n].text == "no" && after.get(n + 1).is_some_and(|next| next.text == "one");
    after.first().is_some_and(|word| word.is_one_of(&["with", "to"])) && (1..after.len().min(3)).any(is_no_one)
}

/// Returns whether the reader is told what to do on a device of their own.
fn is_for_own_device(words: &[Word], verb: usize) -> bool {
    words[verb].is_one_of(&["enter", "type", "import", "write"])
        && words.iter().any(|word| word.is_one_of(DEVICES))
        && !words.iter().any(|word| word.is_one_of(RECEIVERS))
}

/// Returns the gerund before the reader's key by which something is got: "by pasting your key".
fn asking_gerund(words: &[Word], key: &KeyName) -> Option<usize> {
    let gerund = key.noun_phrase.checked_sub(1)?;
    let before = gerund.checked_sub(1)?;
    let is_got = words[gerund].is_one_of(GERUNDS) && words[before].is_one_of(BEFORE_GERUNDS);
    let is_own = words[..before].iter().any(|word| word.is_one_of(OTHERS) && word.text != "it");
    let is_readers = words.iter().any(|word| word.text == "your");
    (is_got && is_readers && !is_own && !is_harmful(words) && !words[..before].iter().any(|word| word.is_one_of(NEGATIONS)))
        .then_some(gerund)
}

/// Returns whether the sentence says that the reader's key is needed or asked for: "we need your key".
fn needs(sentence: &KeySentence<'_>, key: &KeyName) -> bool {
    let words = sentence.words;
    let Some(verb) = key.noun_phrase.checked_sub(1).filter(|_| key.is_readers && !key.is_excluded) else { return false };
    let from = clause_start(words, verb);
    let is_ask = words[verb].text == "for" && verb > 0 && words[verb - 1].is_one_of(&["ask", "asking", "asks", "waiting", "looking"]);
    let checks = words[verb].is_one_of(&["verify", "validate", "check", "authenticate", "sync"]);
    let is_left =
        words[verb].is_one_of(&["is", "are"]) && words[from..verb].iter().any(|word| word.is_one_of(NEED) || word.is_one_of(NEEDED));
    if words[key.noun_phrase].gap == Gap::Break && is_needed_thing(words, from, verb) {
        return words.get(key.to).is_none_or(|word| word.gap != Gap::Space || !word.is_one_of(COPULAS));
    }
    if words[key.noun_phrase].gap != Gap::Space && !is_left || !(words[verb].is_one_of(NEED) || is_ask || checks || is_left) {
        return false;
    }
    let before = &words[from..verb];
    if before.iter().any(|word| word.is_one_of(NEGATIONS) || word.is_one_of(&["unable", "refuse", "decline"])) {
        return false;
    }
    let own = ["i", "we", "i'll", "we'll", "i'm", "we're", "to", "all", "still", "you", "thing", "only", "missing", "await", "awaiting"];
    let is_own = before.is_empty() || before.iter().any(|word| word.is_one_of(&own));
    is_own && !before.iter().any(|word| word.is_one_of(&["asked", "told"])) || !sentence.is_distant
}

/// Returns whether a clause says that something is needed: "we need one thing".
fn is_needed_thing(words: &[Word], from: usize, last: usize) -> bool {
    let clause = &words[from..=last];
    let has = |list: &[&str]| clause.iter().any(|word| word.is_one_of(list));
    (has(NEED) || has(NEEDED)) && !has(NEGATIONS)
}

/// Returns whether the words after a key say that it is needed, or has to be handed over.
fn is_needed(words: &[Word], key: &KeyName) -> bool {
    if key.is_excluded {
        return false;
    }
    // "Your key, please."
    let is_plea = |word: &Word| word.is_one_of(&["please", "pls", "plz"]);
    let is_name = |n: usize| (key.noun_phrase..key.to).contains(&n) || is_plea(&words[n]) || words[n].is_one_of(&["now", "here"]);
    if words.iter().any(is_plea) && (0..words.len()).all(is_name) {
        return true;
    }
    let mut obliges = false;
    for n in key.to..words.len().min(key.to + PREDICATE_WORDS) {
        let word = &words[n];
        if word.gap != Gap::Space || word.is_one_of(NEGATIONS) {
            return false;
        }
        obliges |=
            word.is_one_of(&["must", "should"]) || word.is_one_of(OBLIGATIONS) && words.get(n + 1).is_some_and(|next| next.text == "to");
        if word.is_one_of(NEEDED) {
            return words.iter().any(|word| word.is_one_of(READER)) || n == key.to;
        }
        let is_awaited =
            || key.is_readers && key.noun_phrase > 0 && words[key.noun_phrase - 1].is_one_of(&["once", "until", "unless", "after"]);
        if word.is_one_of(PARTICIPLES) && (obliges || is_awaited() && !is_harmful(words)) {
            return !goes_to_no_one(words, n + 1);
        }
    }
    false
}

/// Returns whether the sentence is a question for the reader's key: "what is your key", "may I have your key".
fn is_asked_for(words: &[Word], key: &KeyName) -> bool {
    let from = clause_start(words, key.noun_phrase);
    let to = (key.to..words.len()).find(|n| words[*n].gap != Gap::Space).unwrap_or(words.len());
    let clause = &words[from..to];
    let is_readers = key.is_readers || clause.iter().any(|word| word.text == "your");
    let before = &words[from..key.noun_phrase];
    let asks_what = before.iter().any(|word| word.is_one_of(&["what's", "which"]))
        || before.windows(2).any(|pair| pair[0].text == "what" && pair[1].is_one_of(&["is", "are", "was", "were"]));
    let asks_leave = matches!(before, [.., leave, who, verb] if leave.is_one_of(&["can", "may", "could", "let"])
        && who.is_one_of(&["i", "we", "me", "us"])
        && verb.is_one_of(&["have", "get", "see", "know"]));
    is_readers && (asks_what || asks_leave) && !before.iter().any(|word| word.is_one_of(NEGATIONS))
}

/// Returns the request for a key that was named before: "your key is safe with us: paste it here".
fn pronoun_request(sentence: &KeySentence<'_>, moods: &[Option<Mood>]) -> Option<Request> {
    let words = sentence.words;
    let first = sentence.keys.iter().find(|key| !key.is_excluded);
    let asks = |n: &usize| {
        let mood = moods[*n].filter(|_| words[*n].is_one_of(HANDING))?;
        let earlier = first.filter(|key| key.to <= *n);
        let key = earlier.map(|key| key.name).or(sentence.earlier)?;
        let object = words.get(n + 1)?;
        let is_pronoun = object.is_one_of(&["it", "them", "this", "these"]);
        let is_place = object.is_one_of(&["here", "below"]);
        // Across sentences, a pronoun may be about anything that is sent.
        let is_close = earlier.is_some()
            || is_place
            || words.get(n + 2).is_some_and(|word| word.is_one_of(&["here", "below", "into", "in", "at", "to"]));
        let is_asked = match mood {
            Mood::Asked => true,
            Mood::Reported => !sentence.is_distant,
            Mood::Conditional => !is_harmful(words),
            Mood::Unsure | Mood::Echoed | Mood::Other | Mood::Noun => false,
        };
        let is_request = object.gap == Gap::Space && (is_pronoun || is_place) && is_close && is_asked && !goes_to_no_one(words, n + 2);
        is_request.then_some(Request { key, at: *n })
    };
    (0..words.len()).find_map(|n| asks(&n))
}

/// Returns the place where the noun phrase of a key begins, and whether it is the reader's.
pub(super) fn noun_phrase(words: &[Word], key: usize) -> (usize, bool) {
    let mut from = key;
    while from > 0 && key - from < DETERMINER_WORDS && words[from].gap == Gap::Space && words[from - 1].is_one_of(DETERMINERS) {
        from -= 1;
    }
    (from, words[from..=key].iter().any(|word| word.text == "your"))
}

/// Returns whether the words after a key make it the reader's: "of your wallet".
pub(super) fn is_of_reader(after: &[Word]) -> bool {
    matches!(after, [of, your, ..] if of.is_one_of(&["of", "for", "behind", "from"]) && your.text == "your")
}

/// Returns whether a negation excludes the noun phrase that begins at a place: "not the key", "instead of the key".
pub(super) fn is_excluded(words: &[Word], from: usize) -> bool {
    let Some(before) = from.checked_sub(1).filter(|_| words[from].gap == Gap::Space) else { return false };
    words[before].is_one_of(NEGATIONS) || words[before].is_one_of(&["than", "except"])
}
