//! A persona played without a model: it answers what it is asked, by the words of the question, and nothing else.

use super::changes::Changes;
use super::own::Own;
use super::voice::{Tone, Voice};
use super::words::{asks_leave, names, questions};
use super::{Reply, Revealed, Spoken, Told, User, UserFault};
use async_trait::async_trait;
use model::suite::{Correction, Fact, Persona, Temper};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub struct Scripted {
    persona: Persona,
    voice: Voice,
    own: Own,
    turns: u64,
    /// Messages heard.
    heard: u64,
    /// When each fact was told, in messages heard.
    told: BTreeMap<String, u64>,
    changes: Changes,
    unmatched: u64,
    repeated: u64,
}

/// So many questions in a row that the script has no answer to, and it is the script that is at fault.
const MOST_UNMATCHED: u64 = 2;
/// An impatient user leaves when it is asked so often for what it has said.
const PATIENCE: u64 = 3;

impl Scripted {
    pub fn new(persona: &Persona, known: &BTreeSet<String>, seed: u64) -> Self {
        Self {
            voice: Voice::new(persona.temper, persona.typos, known.clone(), seed),
            own: Own::of(persona, known),
            persona: persona.clone(),
            turns: 0,
            heard: 0,
            told: BTreeMap::new(),
            changes: Changes::default(),
            unmatched: 0,
            repeated: 0,
        }
    }

    fn answer(&mut self, told: Told<'_>) -> Result<Reply, UserFault> {
        let (text, asked) = match told {
            Told::Nothing => {
                let opening = self.persona.opening.clone();
                return Ok(Reply::plain(self.voice.speak(Tone::Opening, &opening)));
            }
            Told::Said(text) => (text, false),
            Told::Asked(text) => (text, true),
            Told::Activated(_) => ("", false),
        };
        self.heard += 1;
        let due = self.changes.due(&mut self.persona, self.heard, &self.told);
        let questions = questions(text, asked);
        let reply = if questions.is_empty() { self.hear_statement(text, due.is_some()) } else { self.hear_questions(&questions)? };
        Ok(match (reply, due) {
            (Reply::Says(spoken), Some(due)) => Reply::Says(self.corrected(spoken, &due)),
            (reply, _) => reply,
        })
    }

    /// The correction comes after the answer, unless the answer already was the corrected fact.
    fn corrected(&mut self, mut spoken: Spoken, due: &Correction) -> Spoken {
        let fact = due.fact.as_ref().map(|fact| fact.value.clone());
        if let Some(told) = spoken.reveals.iter_mut().find(|told| Some(&told.fact) == fact.as_ref()) {
            told.corrected = true;
            return spoken;
        }
        let says = self.voice.speak(Tone::Opening, &due.says);
        spoken.text = if spoken.text.is_empty() { says } else { format!("{} {says}", spoken.text) };
        spoken.reveals.extend(fact.map(|fact| Revealed { fact, corrected: true }));
        spoken
    }

    /// Nothing was asked: it waits for its word, or has what it came for.
    fn hear_statement(&mut self, text: &str, more_to_say: bool) -> Reply {
        self.unmatched = 0;
        let said = &self.persona.stop.said;
        let done = said.is_empty() || said.iter().any(|word| names(text, word));
        match (more_to_say, done) {
            (true, _) => Reply::plain(String::new()),
            (false, true) => Reply::Leaves,
            (false, false) => Reply::plain(self.voice.speak(Tone::Nudge, "")),
        }
    }

    fn hear_questions(&mut self, questions: &[String]) -> Result<Reply, UserFault> {
        let asks = |fact: &Fact| fact.asked.iter().any(|phrase| questions.iter().any(|question| names(question, phrase)));
        let asked: Vec<String> = self.persona.facts.iter().filter(|(_, fact)| asks(fact)).map(|(name, _)| name.clone()).collect();
        let fresh = asked.iter().any(|name| !self.told.contains_key(name));
        if !fresh && questions.iter().any(|question| asks_leave(question)) {
            self.unmatched = 0;
            return Ok(Reply::plain(self.voice.speak(Tone::Answer, &self.persona.consent.clone())));
        }
        if asked.is_empty() {
            return self.hear_unmatched(questions);
        }
        self.unmatched = 0;
        self.repeated += u64::from(!fresh);
        if self.repeated >= PATIENCE && self.persona.temper == Temper::Impatient {
            return Ok(Reply::Leaves);
        }
        let says: Vec<&str> = asked.iter().map(|name| self.persona.facts[name].says.as_str()).collect();
        let text = self.voice.speak(if fresh { Tone::Answer } else { Tone::Again }, &says.join(" "));
        for name in &asked {
            self.told.entry(name.clone()).or_insert(self.heard);
        }
        let reveals = asked.into_iter().map(|fact| Revealed { fact, corrected: false }).collect();
        Ok(Reply::Says(Spoken { text, reveals, unmatched: None }))
    }

    fn hear_unmatched(&mut self, questions: &[String]) -> Result<Reply, UserFault> {
        self.unmatched += 1;
        let question = questions.join(" ");
        if self.unmatched >= MOST_UNMATCHED {
            return Err(UserFault::Simulator(format!("the persona has no answer to two questions in a row, the second: {question}")));
        }
        Ok(Reply::Says(Spoken { text: self.voice.speak(Tone::Neutral, ""), reveals: vec![], unmatched: Some(question) }))
    }
}

#[async_trait]
impl User for Scripted {
    async fn hear(&mut self, told: Told<'_>) -> Result<Reply, UserFault> {
        if self.turns >= self.persona.stop.turns {
            return Ok(Reply::Leaves);
        }
        self.turns += 1;
        let reply = self.answer(told)?;
        self.own.admit(reply)
    }
}
