//! Persona played without an LLM: matches the phrases of a question to facts and reveals only those.

use super::allowed_values::AllowedValues;
use super::corrections::PersonaCorrections;
use super::phrases::{asks_permission, mentions, questions};
use super::unanswered::UnansweredQuestions;
use super::voice::{PersonaVoice, UtteranceKind};
use super::{RevealedFact, User, UserFault, UserInput, UserReply, UserUtterance};
use async_trait::async_trait;
use model::suite::{Persona, PersonaCorrection, PersonaFact, PersonaTemper};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub struct ScriptedPersona {
    persona: Persona,
    voice: PersonaVoice,
    allowed: AllowedValues,
    turns: u64,
    /// Messages received.
    messages_heard: u64,
    /// Message count at which each fact was revealed.
    told_at: BTreeMap<String, u64>,
    corrections: PersonaCorrections,
    unanswered: UnansweredQuestions,
    repeated: u64,
}

/// Repeated questions after which an impatient user leaves.
const MAX_REPEATS: u64 = 3;

impl ScriptedPersona {
    pub fn new(persona: &Persona, known: &BTreeSet<String>, seed: u64) -> Self {
        Self {
            voice: PersonaVoice::new(persona.temper, persona.typos, known.clone(), seed),
            allowed: AllowedValues::of_persona(persona, known),
            persona: persona.clone(),
            turns: 0,
            messages_heard: 0,
            told_at: BTreeMap::new(),
            corrections: PersonaCorrections::default(),
            unanswered: UnansweredQuestions::default(),
            repeated: 0,
        }
    }

    /// Names the messages of the written reference, which the persona has to answer.
    #[must_use]
    pub fn with_reference(self, messages: BTreeSet<String>) -> Self {
        Self { unanswered: UnansweredQuestions::of_reference(messages), ..self }
    }

    fn reply_to(&mut self, input: UserInput<'_>) -> Result<UserReply, UserFault> {
        let (text, asked) = match input {
            UserInput::Start => {
                let opening = self.persona.opening.clone();
                return Ok(UserReply::plain(self.voice.speak(UtteranceKind::Opening, &opening)));
            }
            UserInput::Said(text) => (text, false),
            UserInput::Asked(text) => (text, true),
            UserInput::Activated(_) => ("", false),
        };
        self.messages_heard += 1;
        let due = self.corrections.take_due(&mut self.persona, self.messages_heard, &self.told_at);
        let questions = questions(text, asked);
        let more_to_say = due.is_some();
        let reply = match questions.as_slice() {
            [] => self.reply_to_statement(text, more_to_say),
            questions => self.reply_to_questions(text, questions, more_to_say)?,
        };
        Ok(match (reply, due) {
            (UserReply::Says(spoken), Some(due)) => UserReply::Says(self.append_correction(spoken, &due)),
            (reply, _) => reply,
        })
    }

    /// Appends the correction to the answer, unless the answer already contains the corrected fact.
    fn append_correction(&mut self, mut spoken: UserUtterance, due: &PersonaCorrection) -> UserUtterance {
        let fact = due.fact.as_ref().map(|fact| fact.value.clone());
        if let Some(revealed) = spoken.reveals.iter_mut().find(|one| Some(&one.fact) == fact.as_ref()) {
            revealed.corrected = true;
            return spoken;
        }
        let says = self.voice.speak(UtteranceKind::Opening, &due.says);
        spoken.text = if spoken.text.is_empty() { says } else { format!("{} {says}", spoken.text) };
        spoken.reveals.extend(fact.map(|fact| RevealedFact { fact, corrected: true }));
        spoken
    }

    /// Replies to a message without questions: leaves after a stop word (or at once if there is none), otherwise nudges.
    fn reply_to_statement(&mut self, text: &str, more_to_say: bool) -> UserReply {
        self.unanswered.reset();
        let said = &self.persona.stop.said;
        let done = said.is_empty() || said.iter().any(|word| mentions(text, word));
        match (more_to_say, done) {
            (true, _) => UserReply::plain(String::new()),
            (false, true) => UserReply::Leaves,
            (false, false) => UserReply::plain(self.voice.speak(UtteranceKind::Nudge, "")),
        }
    }

    /// Replies to questions. A user with a correction to make does not leave before.
    fn reply_to_questions(&mut self, text: &str, questions: &[String], more_to_say: bool) -> Result<UserReply, UserFault> {
        let asks = |fact: &PersonaFact| fact.asked.iter().any(|phrase| questions.iter().any(|question| mentions(question, phrase)));
        let asked: Vec<String> = self.persona.facts.iter().filter(|(_, fact)| asks(fact)).map(|(name, _)| name.clone()).collect();
        let fresh = asked.iter().any(|name| !self.told_at.contains_key(name));
        if !fresh && questions.iter().any(|question| asks_permission(question)) {
            self.unanswered.reset();
            return Ok(UserReply::plain(self.voice.speak(UtteranceKind::Answer, &self.persona.consent.clone())));
        }
        if asked.is_empty() {
            return self.reply_to_unmatched(text, questions, more_to_say);
        }
        self.unanswered.reset();
        self.repeated += u64::from(!fresh);
        if self.repeated >= MAX_REPEATS && self.persona.temper == PersonaTemper::Impatient && !more_to_say {
            return Ok(UserReply::Leaves);
        }
        let says: Vec<&str> = asked.iter().map(|name| self.persona.facts[name].says.as_str()).collect();
        let text = self.voice.speak(if fresh { UtteranceKind::Answer } else { UtteranceKind::Repeat }, &says.join(" "));
        for name in &asked {
            self.told_at.entry(name.clone()).or_insert(self.messages_heard);
        }
        let reveals = asked.into_iter().map(|fact| RevealedFact { fact, corrected: false }).collect();
        Ok(UserReply::Says(UserUtterance { text, reveals, unmatched: None }))
    }

    fn reply_to_unmatched(&mut self, text: &str, questions: &[String], more_to_say: bool) -> Result<UserReply, UserFault> {
        if self.unanswered.add(text)? && !more_to_say {
            return Ok(UserReply::Leaves);
        }
        Ok(UserReply::Says(UserUtterance {
            text: self.voice.speak(UtteranceKind::Unknown, ""),
            reveals: vec![],
            unmatched: Some(questions.join(" ")),
        }))
    }
}

#[async_trait]
impl User for ScriptedPersona {
    async fn respond(&mut self, input: UserInput<'_>) -> Result<UserReply, UserFault> {
        if self.turns >= self.persona.stop.turns {
            return Ok(UserReply::Leaves);
        }
        self.turns += 1;
        let reply = self.reply_to(input)?;
        self.allowed.check(reply)
    }
}
