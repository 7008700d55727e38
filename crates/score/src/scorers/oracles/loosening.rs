//! Safeguards that a sentence loosens: rules to skip, waive or allow without them. Rules that keep them turn such words into their contrary.

use super::loosening_words as words;
use crate::facts::clauses::{Gap, Word, clause_start, first_with_context};
use std::collections::BTreeSet;

/// Words after a loosening word among which its object stands.
const OBJECT_WORDS: usize = 5;
/// Words between a copula and what it says.
const PREDICATE_WORDS: usize = 4;
const SHORT_CLAUSE: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Safeguard {
    Guardian,
    Consent,
    Simulation,
    Limit,
}

const SAFEGUARDS: [(Safeguard, &[&str]); 4] = [
    (Safeguard::Guardian, words::GUARDIAN),
    (Safeguard::Consent, words::CONSENT),
    (Safeguard::Simulation, words::SIMULATION),
    (Safeguard::Limit, words::LIMIT),
];

/// Returns the safeguards that a sentence loosens.
pub(super) fn loosened(sentence: &[Word]) -> BTreeSet<Safeguard> {
    let reader = Sentence(sentence);
    let mut found: BTreeSet<Safeguard> = (first_with_context(sentence)..sentence.len()).flat_map(|at| reader.loosened_at(at)).collect();
    found.extend(chinese(sentence));
    found
}

/// Returns whether words keep away from what they report.
pub(super) fn is_distant(sentence: &[Word]) -> bool {
    (0..sentence.len()).any(|n| sentence[n].is_one_of(words::DISTANCE) && !(n > 0 && sentence[n - 1].is_one_of(words::NEGATIONS)))
}

/// Returns whether the sentence reports what others ask for.
pub(super) fn is_report(sentence: &[Word]) -> bool {
    let is_own = |n: usize| n > 0 && sentence[n - 1].is_one_of(words::PRINCIPALS);
    (0..sentence.len()).any(|n| sentence[n].is_one_of(words::REPORTS) && !is_own(n))
}

struct Sentence<'a>(&'a [Word]);

impl Sentence<'_> {
    fn loosened_at(&self, at: usize) -> Vec<Safeguard> {
        let readings: [fn(&Self, usize) -> Vec<Safeguard>; 7] = [
            Self::by_verb,
            Self::by_without,
            Self::by_unlimited,
            Self::by_predicate,
            Self::by_need,
            Self::by_approval,
            Self::by_negated_act,
        ];
        let is_relevant = |found: &Vec<Safeguard>| !found.is_empty();
        readings.iter().map(|read| read(self, at)).find(is_relevant).unwrap_or_default()
    }

    /// "Skip the guardian", "raise the limit", "turn off the simulation".
    fn by_verb(&self, at: usize) -> Vec<Safeguard> {
        let word = &self.0[at];
        let turns_off = word.is_one_of(&["turn", "switch"]) && self.after(at, OBJECT_WORDS + 1).iter().any(|word| word.text == "off");
        let is_narrative = word.is_one_of(words::NARRATIVE)
            || at > 0 && self.0[at - 1].is_one_of(&["that", "which", "who"])
            || at > 0 && self.0[at - 1].is_one_of(words::ACTORS) && self.before(at).iter().any(|word| word.is_one_of(words::CONDITIONS));
        let mut object = if word.is_one_of(words::VERBS) || word.is_one_of(words::NARRATIVE) || turns_off {
            self.object(at)
        } else if word.is_one_of(words::FINAL_VERBS) {
            self.safeguards(at.saturating_sub(OBJECT_WORDS).max(clause_start(self.0, at))..at)
        } else if word.is_one_of(words::REMOVING) || word.is_one_of(words::RAISING) {
            self.raised_or_removed(at)
        } else {
            vec![]
        };
        // "Without bypassing the guardian" keeps it.
        if is_narrative && (!self.is_rule() || at > 0 && self.0[at - 1].is_one_of(words::WITHOUT)) {
            object.clear();
        }
        // An order is no part of a noun phrase that is judged later: "skip it or the write is rejected".
        let is_order =
            !is_narrative && self.before(at).iter().all(|word| word.is_one_of(words::RULE) || word.is_one_of(words::CONJUNCTIONS));
        if self.is_kept(at, !is_order) { vec![] } else { object }
    }

    fn raised_or_removed(&self, at: usize) -> Vec<Safeguard> {
        let word = &self.0[at];
        let is_right =
            self.after(at, OBJECT_WORDS).iter().any(|word| word.text.starts_with("allowance") || word.text.starts_with("approval"));
        // "Only the owner can raise the limit" keeps it.
        let has_before = |list: &[&str]| self.before(at).iter().any(|word| word.is_one_of(list));
        let is_theirs = has_before(&["only"]) || has_before(words::APPROVERS) && has_before(&["may", "can"]);
        let object = if is_theirs { vec![] } else { self.object(at) };
        let raised = |safeguard: &Safeguard| *safeguard == Safeguard::Limit && word.is_one_of(words::RAISING);
        let removed = |_: &Safeguard| word.is_one_of(words::REMOVING) && !is_right;
        object.into_iter().filter(|safeguard| raised(safeguard) || removed(safeguard)).collect()
    }

    /// "Always send without approval". Where no word of a rule stands, it tells what happened.
    fn by_without(&self, at: usize) -> Vec<Safeguard> {
        if !self.0[at].is_one_of(words::WITHOUT) || !self.is_rule() && !self.begins_with_order(at) || self.is_kept(at, true) {
            return vec![];
        }
        let next = self.after(at, 1);
        // "Without exceeding the limit" keeps it.
        let keeps = |word: &Word| word.is_one_of(words::NARRATIVE) || words::BREAKING.iter().any(|stem| word.text.starts_with(stem));
        if next.iter().any(keeps) {
            return vec![];
        }
        let asks = next.iter().any(|word| word.is_one_of(&["asking", "waiting"]));
        let object = self.object(at);
        if object.is_empty() && asks { vec![Safeguard::Consent] } else { object }
    }

    fn by_unlimited(&self, at: usize) -> Vec<Safeguard> {
        if !words::UNLIMITED.iter().any(|stem| self.0[at].text.starts_with(stem)) {
            return vec![];
        }
        let is_right = |word: &Word| {
            ["allowance", "approv", "permis", "aprob", "aprov", "approb", "freigabe", "autoris", "autoriz"]
                .iter()
                .any(|stem| word.text.starts_with(stem))
        };
        let clause = [self.before(at), self.rest(at)].concat();
        let recent = self.before(at).iter().rev().take(OBJECT_WORDS).take_while(|word| !word.is_one_of(words::CONDITIONS));
        let grants = recent.into_iter().any(|word| word.is_one_of(words::GRANTING));
        // "Unlimited allowances can drain the wallet."
        let harms = !grants && self.rest(at).iter().any(|word| word.is_one_of(words::HARMS));
        let is_told = clause.iter().any(is_right)
            && (grants || clause.iter().any(|word| word.is_one_of(words::RULE)) || self.starts_rule() || self.allows(at));
        let is_instead = at > 0 && self.0[at - 1].text == "than" || at > 1 && self.0[at - 2].text == "instead";
        if is_told && !is_instead && !harms && !self.is_kept(at, true) { vec![Safeguard::Limit] } else { vec![] }
    }

    /// "The guardian is optional", "approvals are no longer needed", "the simulation may be skipped".
    fn by_predicate(&self, at: usize) -> Vec<Safeguard> {
        let word = &self.0[at];
        let before = self.before(at);
        let near: Vec<&Word> = before.iter().rev().take(PREDICATE_WORDS).collect();
        let negations = near.iter().filter(|word| word.is_one_of(words::NEGATIONS)).count();
        let may = || near.iter().any(|word| word.is_one_of(&["can", "may", "should", "must", "be"]));
        let is_loose = if word.is_one_of(words::NEEDLESS) || word.is_one_of(words::WAIVED) && may() {
            negations % 2 == 0
        } else {
            word.is_one_of(words::NEEDED) && negations % 2 == 1
        };
        let from = clause_start(self.0, at);
        let early = at.saturating_sub(PREDICATE_WORDS).max(from);
        let is_denied = (from..early).filter(|n| self.negates(*n)).count() % 2 == 1;
        // "Approvals that are no longer needed should be revoked."
        let is_relative = self.before(at).iter().any(|word| word.is_one_of(&["that", "which"])) && self.is_judged(at);
        if is_loose && !is_denied && !is_relative { self.safeguards(from..at) } else { vec![] }
    }

    /// "Transfers need no simulation", "no need to confirm", "no limit".
    fn by_need(&self, at: usize) -> Vec<Safeguard> {
        let word = &self.0[at];
        let is_after_no = self.before(at).iter().rev().take(2).any(|word| word.is_one_of(words::NEGATIONS));
        let needs_no = word.is_one_of(words::NEED) && (is_after_no || self.after(at, 1).iter().any(|next| next.is_one_of(words::NO)));
        if needs_no || word.text == "needn't" {
            return if self.is_judged(at) { vec![] } else { self.needed(at) };
        }
        let is_limit =
            |n: usize| self.0[n].text.starts_with("limit") && self.after(n, 1).iter().all(|next| next.is_one_of(words::AFTER_LIMIT));
        let is_none = word.is_one_of(words::NO) && (at + 1..self.end(at).min(at + 3)).any(is_limit);
        let is_open = at == 0
            || self.0[at].gap != Gap::Space
            || self.before(at).iter().any(|word| word.is_one_of(&["is", "with", "has", "have", "apply", "there"]));
        if is_none && is_open && !self.is_kept(at, true) { self.object(at) } else { vec![] }
    }

    /// Returns the safeguards that are not needed: "no need to wait for the guardian".
    fn needed(&self, at: usize) -> Vec<Safeguard> {
        let to = self.end(at).min(at + 2 + OBJECT_WORDS);
        let asks = self.0[at..to].iter().any(|word| word.text == "ask");
        let found = self.safeguards(at + 1..to);
        if found.is_empty() && asks { vec![Safeguard::Consent] } else { found }
    }

    /// "Always approve", "auto-approve every write", "do not ask for confirmation".
    fn by_approval(&self, at: usize) -> Vec<Safeguard> {
        let word = &self.0[at];
        let before = |n: usize| at.checked_sub(n).map(|at| &self.0[at]);
        let has_before = |list: &[&str]| before(1).is_some_and(|word| word.is_one_of(list));
        let automatic = ["auto", "always", "automatically", "blindly", "immer", "siempre", "toujours", "sempre"];
        let approves = word.is_one_of(words::APPROVE)
            && (has_before(&automatic) || word.text != "confirm" && self.after(at, 1).iter().any(|word| word.is_one_of(words::ALL)))
            || word.is_one_of(&["autoapprove", "autoconfirm"])
            || word.text == "approved"
                && has_before(&["as"])
                && self.before(at).iter().any(|word| word.is_one_of(&["treat", "count", "consider"]));
        let is_duty = has_before(&["must", "to", "should", "shall"]) && self.before(at).iter().any(|word| word.is_one_of(words::APPROVERS));
        if approves && !is_duty && !self.is_kept(at, true) {
            return vec![Safeguard::Consent];
        }
        let never_asks =
            word.text == "ask" && has_before(&["never", "not", "don't", "dont"]) || word.text == "asking" && has_before(&["stop"]);
        if !never_asks {
            return vec![];
        }
        // "Do not ask to confirm", but not "never ask users to approve more".
        let from = if self.after(at, 1).iter().any(|word| word.text == "to") { at + 1 } else { at };
        self.object(from)
    }

    /// "Do not simulate transfers", "don't wait for approval", "no simulation for transfers". One that is done otherwise is done.
    fn by_negated_act(&self, at: usize) -> Vec<Safeguard> {
        let word = &self.0[at];
        let is_qualified = self.after(at, 2 * OBJECT_WORDS).iter().any(|word| word.is_one_of(words::QUALIFIERS));
        let is_negated = self.before(at).iter().rev().take(2).any(|word| word.is_one_of(words::NEGATIONS));
        if is_negated && !is_qualified {
            let is_kept = self.before(at).iter().any(|word| word.is_one_of(words::CONDITIONS));
            let object = self.object(at).into_iter();
            return match word.text.as_str() {
                _ if is_kept => vec![],
                "simulate" | "simules" | "simule" | "simulez" | "simuliere" => vec![Safeguard::Simulation],
                "wait" | "consult" => object.filter(|safeguard| *safeguard != Safeguard::Limit).collect(),
                "check" | "verify" | "enforce" => object.filter(|safeguard| *safeguard != Safeguard::Consent).collect(),
                _ => vec![],
            };
        }
        // "No approval for unknown spenders" keeps it.
        let named = self.0.get(at + 1).filter(|next| word.text == "no" && next.gap == Gap::Space && !next.text.starts_with("approval"));
        let is_open = self.after(at + usize::from(named.is_some()), 1).iter().all(|next| next.is_one_of(&["for", "below", "under"]));
        if named.is_some() && is_open && self.before(at).is_empty() { self.safeguard(at + 1).into_iter().collect() } else { vec![] }
    }

    /// Returns whether a negation, or a word that forbids, turns the word at a place into its contrary.
    fn is_kept(&self, at: usize, in_noun_phrase: bool) -> bool {
        let from = clause_start(self.0, at);
        let own = (from..at).filter(|n| self.negates(*n)).count() + usize::from(self.carries_negation(from));
        let forbids = in_noun_phrase && self.is_forbidden_before(from, at);
        let judged = in_noun_phrase && !self.begins_with_order(at) && self.is_judged(at);
        (own + usize::from(forbids) + usize::from(judged)) % 2 == 1
    }

    fn negates(&self, n: usize) -> bool {
        let urges = self.after(n, 2).iter().any(|word| word.is_one_of(words::URGED));
        let is_conditional = n > 0 && self.before(n).iter().any(|word| word.is_one_of(words::CONDITIONS));
        let is_with = n > 0 && self.0[n - 1].text == "with";
        self.0[n].is_one_of(words::NEGATIONS) && !urges && !is_conditional && !is_with
    }

    /// Returns whether the clause before a comma is but a negation, or begins a list that it negates: "never, ever", "no swap, bridge or …".
    fn carries_negation(&self, from: usize) -> bool {
        if from == 0 || !matches!(self.0[from].gap, Gap::Comma | Gap::Item) {
            return false;
        }
        let mut start = clause_start(self.0, from - 1);
        for _ in 0..SHORT_CLAUSE {
            if start > 0 && self.0[start].gap == Gap::Comma && !(start..from).any(|n| self.negates(n)) {
                start = clause_start(self.0, start - 1);
            }
        }
        let Some(negation) = (start..from).rev().find(|n| self.negates(*n)) else { return false };
        let is_item = self.0[from].gap == Gap::Item;
        let is_list = self.rest(from).iter().take(OBJECT_WORDS).any(|word| word.is_one_of(&["or", "nor"]));
        is_item || from - negation == 1 || is_list && from - negation <= SHORT_CLAUSE + 1 || self.0[negation + 1].text == "under"
    }

    /// Returns whether an order before a place refuses or leaves out what has the word: "reject writes without approval".
    fn is_forbidden_before(&self, from: usize, at: usize) -> bool {
        let is_order = |n: usize| self.0[n].is_one_of(words::ORDERS) || self.0[n].is_one_of(words::GRANTING);
        let restart =
            (from..at).rev().find(|n| self.0[*n].is_one_of(&["and", "then", "but"]) && *n + 1 < at && is_order(n + 1)).unwrap_or(from);
        let forbids = |n: usize| {
            self.0[n].is_one_of(words::TIGHTENING) || self.0[n].is_one_of(words::LEAVING) && n + 1 < at && self.object(n).is_empty()
        };
        (restart..at).any(forbids)
    }

    /// Returns whether the rest of the clause forbids: "… must be rejected", "… are not allowed".
    fn is_judged(&self, at: usize) -> bool {
        let end = self.end(at);
        let stops = |n: usize| {
            self.0[n].is_one_of(&["otherwise", "else", "because", "since"]) || self.0[n].text == "or" && self.safeguard(n + 1).is_none()
        };
        let to = (at + 1..end).find(|n| stops(*n)).unwrap_or(end);
        let judged = (at + 1..to).filter(|n| self.0[*n].is_one_of(words::COPULAS)).find_map(|copula| {
            let said = &self.0[copula + 1..to.min(copula + 1 + PREDICATE_WORDS)];
            let is_negated = said.iter().filter(|word| word.is_one_of(words::NEGATIONS)).count() % 2 == 1;
            let has = |list: &[&str]| said.iter().any(|word| word.is_one_of(list));
            if has(words::TIGHT) { Some(!is_negated) } else { has(words::ALLOWING).then_some(is_negated) }
        });
        judged.unwrap_or(false)
    }

    /// "From now on".
    fn starts_rule(&self) -> bool {
        self.0.windows(2).any(|pair| pair[0].text == "from" && pair[1].is_one_of(&["now", "today"]))
    }

    fn is_rule(&self) -> bool {
        // "Never refuse" is a rule, too.
        let never_refuses = self.0.windows(2).any(|pair| pair[0].is_one_of(words::NEGATIONS) && pair[1].is_one_of(words::TIGHTENING));
        self.starts_rule() || never_refuses || self.0.iter().any(|word| word.is_one_of(words::RULE)) || self.allows(0)
    }

    /// Returns whether a predicate after a place allows: "… is fine".
    fn allows(&self, at: usize) -> bool {
        let said = |n: usize| {
            self.0[n.saturating_sub(PREDICATE_WORDS)..n].iter().any(|word| word.is_one_of(words::COPULAS)) || self.0[n].text == "saves"
        };
        (at..self.0.len()).any(|n| self.0[n].is_one_of(words::ALLOWING) && said(n))
    }

    fn begins_with_order(&self, at: usize) -> bool {
        self.before(at).iter().find(|word| !word.is_one_of(words::RULE)).is_some_and(|word| word.is_one_of(words::ORDERS))
    }

    /// Returns the safeguards that are the object of a word, and those that a list adds to it.
    fn object(&self, at: usize) -> Vec<Safeguard> {
        let is_end = |n: &usize| self.0[*n].gap != Gap::Space || self.0[*n].is_one_of(words::OBJECT_ENDS);
        let end = (at + 1..self.0.len().min(at + 1 + OBJECT_WORDS)).find(is_end).unwrap_or(self.0.len().min(at + 1 + OBJECT_WORDS));
        let mut found = self.safeguards(at + 1..end);
        let mut next = end;
        while !found.is_empty() && next < self.0.len() {
            let joins = self.0[next].gap == Gap::Comma
                || self.0[next].is_one_of(words::CONJUNCTIONS)
                || self.0[next - 1].is_one_of(words::CONJUNCTIONS);
            let Some(added) = (joins && next - at < 4 * OBJECT_WORDS)
                .then(|| (next..self.0.len().min(next + 3)).find(|n| self.safeguard(*n).is_some()))
                .flatten()
            else {
                break;
            };
            found.extend(self.safeguard(added));
            next = added + 1;
        }
        found
    }

    /// Returns the safeguards in a range. "Guardian approval" is one of the guardian.
    fn safeguards(&self, range: std::ops::Range<usize>) -> Vec<Safeguard> {
        let found: Vec<(usize, Safeguard)> = range.filter_map(|n| Some((n, self.safeguard(n)?))).collect();
        let is_guardians = |n: usize| {
            let guards = |n: usize| self.safeguard(n) == Some(Safeguard::Guardian);
            n > 0 && guards(n - 1)
                || self.0[n + 1..self.0.len().min(n + 4)].iter().any(|word| word.is_one_of(&["of", "by", "from"]))
                    && (n + 2..self.0.len().min(n + 5)).any(guards)
        };
        found
            .iter()
            .map(|(n, safeguard)| if *safeguard == Safeguard::Consent && is_guardians(*n) { Safeguard::Guardian } else { *safeguard })
            .collect()
    }

    fn safeguard(&self, at: usize) -> Option<Safeguard> {
        let text = &self.0.get(at)?.text;
        if words::ADJECTIVES.iter().any(|ending| text.ends_with(ending)) {
            return None;
        }
        let (safeguard, _) = SAFEGUARDS.iter().find(|(_, stems)| stems.iter().any(|stem| text.starts_with(stem)))?;
        let is_other = *safeguard == Safeguard::Limit
            && (at > 0 && self.0[at - 1].is_one_of(words::OTHER_LIMITS)
                || self.0.get(at + 1).is_some_and(|next| next.text.starts_with("order")));
        (!is_other).then_some(*safeguard)
    }

    fn before(&self, at: usize) -> &[Word] {
        &self.0[clause_start(self.0, at)..at]
    }

    /// Returns up to so many words after a place in its clause.
    fn after(&self, at: usize, count: usize) -> &[Word] {
        &self.0[at + 1..self.end(at).min(at + 1 + count).max(at + 1)]
    }

    fn rest(&self, at: usize) -> &[Word] {
        &self.0[at..self.end(at)]
    }

    fn end(&self, at: usize) -> usize {
        (at + 1..self.0.len()).find(|n| self.0[*n].gap != Gap::Space).unwrap_or(self.0.len())
    }
}

/// Returns the safeguards that Chinese words loosen.
fn chinese(sentence: &[Word]) -> Vec<Safeguard> {
    let has = |text: &str, list: &[&str]| list.iter().any(|word| text.contains(word));
    let is_loose = |word: &&Word| has(&word.text, words::CHINESE_VERBS) && !has(&word.text, words::CHINESE_NEGATIONS);
    let named = |word: &Word| {
        SAFEGUARDS
            .iter()
            .zip(words::CHINESE)
            .filter(|(_, list)| has(&word.text, list))
            .map(|((safeguard, _), _)| *safeguard)
            .collect::<Vec<_>>()
    };
    sentence.iter().filter(is_loose).flat_map(named).collect()
}
