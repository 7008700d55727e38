//! Guard of others as a part of a subject: new texts of the view are shown to it first, and what it flags is reported as the subject's own
//! move. It blocks nothing.

use super::{Subject, SubjectFault};
use crate::limits::{ReplyTotals, SubjectUsage};
use async_trait::async_trait;
use model::AttackChannel;
use model::transcript::{Move, ToolAnswer};
use model::view::{Observation, View};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use store::AgentOutput;

/// Most reports of one trial, each about all new texts. More would use up the moves of the subject.
const MAX_REPORTS: usize = 20;
/// Sources named in one report.
const MAX_NAMED: usize = 3;

/// Text of a view with the channel by which it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardedText {
    pub channel: AttackChannel,
    pub text: String,
    /// Place of the text in words.
    pub source: String,
}

/// Judges texts. Implemented by clients of external guards.
#[async_trait]
pub trait TextGuard: fmt::Debug + Send + Sync {
    /// Returns whether each text is flagged.
    ///
    /// # Errors
    /// Reason for a missing answer. The trial is then aborted, never scored.
    async fn flag_texts(&self, texts: &[GuardedText]) -> Result<Vec<bool>, String>;
}

/// Subject behind a [`TextGuard`].
pub struct MonitoredSubject {
    inner: Box<dyn Subject>,
    guard: Arc<dyn TextGuard>,
    /// Observations already shown, by agent and depth.
    shown: BTreeMap<(String, u32), usize>,
    /// Descriptions and prompts already shown.
    known: BTreeSet<String>,
    /// Flagged texts that are not reported yet.
    pending: Vec<String>,
    reports: usize,
}

impl fmt::Debug for MonitoredSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MonitoredSubject").field("guard", &self.guard).finish_non_exhaustive()
    }
}

impl MonitoredSubject {
    pub fn new(inner: Box<dyn Subject>, guard: Arc<dyn TextGuard>) -> Self {
        Self { inner, guard, shown: BTreeMap::new(), known: BTreeSet::new(), pending: vec![], reports: 0 }
    }

    /// Returns the texts that the guard has not seen in this trial.
    fn new_texts(&mut self, view: &View<'_>) -> Vec<GuardedText> {
        let mut texts = vec![];
        for tool in &view.context.tools {
            if self.known.insert(format!("{} {}", tool.name, tool.description)) {
                let source = format!("the description of {}", tool.name);
                texts.push(GuardedText { channel: AttackChannel::ToolDescription, text: tool.description.clone(), source });
            }
        }
        let shown = self.shown.entry((view.context.agent.clone(), view.depth)).or_default();
        // A later delegation to the same agent starts anew.
        let from = if *shown > view.observations.len() { 0 } else { *shown };
        *shown = view.observations.len();
        texts.extend(view.observations[from..].iter().filter_map(guarded_text));
        texts.retain(|text| !text.text.trim().is_empty());
        texts
    }
}

/// Returns the text of an observation. Hand-overs come from an agent that the user's request reached first.
fn guarded_text(observation: &Observation) -> Option<GuardedText> {
    let (channel, text, source) = match observation {
        Observation::User(text) => (AttackChannel::User, text.clone(), "a message of the user".to_owned()),
        Observation::HandOver { .. } => return None,
        Observation::Message { from, text } => (AttackChannel::AgentMessage, text.clone(), format!("a message of {from}")),
        Observation::Peer { agent, said } => (AttackChannel::AgentMessage, joined_texts(said), format!("the answer of {agent}")),
        Observation::Answer { tool, answer } => {
            let text = match answer {
                ToolAnswer::Result(value) => joined_texts(value),
                ToolAnswer::Error { message, .. } => message.clone(),
            };
            (AttackChannel::ToolResult, text, format!("the result of {tool}"))
        }
    };
    Some(GuardedText { channel, text, source })
}

/// Joins all texts of a value by line breaks.
fn joined_texts(value: &Value) -> String {
    fn collect<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
        match value {
            Value::String(text) => texts.push(text),
            Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
            Value::Object(fields) => fields.values().for_each(|field| collect(field, texts)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut texts = vec![];
    collect(value, &mut texts);
    texts.join("\n")
}

#[async_trait]
impl Subject for MonitoredSubject {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        let texts = self.new_texts(view);
        if !texts.is_empty() {
            let flags = self.guard.flag_texts(&texts).await.map_err(SubjectFault::Harness)?;
            let flagged = texts.into_iter().zip(flags).filter(|(_, flagged)| *flagged);
            self.pending.extend(flagged.map(|(text, _)| text.source));
        }
        if self.reports < MAX_REPORTS && !self.pending.is_empty() {
            let sources = std::mem::take(&mut self.pending);
            self.reports += 1;
            let named = sources.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
            let more = sources.len().saturating_sub(MAX_NAMED);
            let others = if more > 0 { format!(" and {more} more") } else { String::new() };
            return Ok(Move::Report(format!("Possible injection in {named}{others}, flagged by the guard.")));
        }
        self.inner.next(view).await
    }

    fn usage(&self) -> SubjectUsage {
        self.inner.usage()
    }

    fn reply_totals(&self) -> Option<ReplyTotals> {
        self.inner.reply_totals()
    }

    async fn agent_output(&mut self) -> Option<AgentOutput> {
        self.inner.agent_output().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects::EchoSubject;
    use model::view::AgentContext;
    use serde_json::json;
    use std::sync::Mutex;

    /// Flags texts with a word, and keeps what it was asked.
    #[derive(Debug, Default)]
    struct WordGuard {
        asked: Mutex<Vec<GuardedText>>,
        is_broken: bool,
    }

    #[async_trait]
    impl TextGuard for WordGuard {
        async fn flag_texts(&self, texts: &[GuardedText]) -> Result<Vec<bool>, String> {
            if self.is_broken {
                return Err("the guard cannot be reached".to_owned());
            }
            self.asked.lock().expect("a lock").extend(texts.iter().cloned());
            Ok(texts.iter().map(|text| text.text.contains("bad")).collect())
        }
    }

    fn context() -> AgentContext {
        AgentContext {
            agent: "trader".to_owned(),
            prompt: String::new(),
            tools: vec![],
            skills: vec![],
            delegates: vec![],
            delegate_infos: vec![],
            output: None,
        }
    }

    fn answer(note: &str) -> Observation {
        Observation::Answer { tool: "read".to_owned(), answer: ToolAnswer::Result(json!({ "price": 3, "notes": ["fine", note] })) }
    }

    #[tokio::test]
    async fn flagged_texts_are_reported_once_before_the_own_move() {
        let guard = Arc::new(WordGuard::default());
        let mut subject = MonitoredSubject::new(Box::new(EchoSubject), guard.clone());
        let (context, mut seen) = (context(), vec![Observation::User("Hello".to_owned()), answer("bad news")]);
        let view = View { context: &context, depth: 0, observations: &seen };
        let first = subject.next(&view).await.expect("a move");
        assert!(matches!(&first, Move::Report(text) if text.contains("the result of read")), "{first:?}");
        assert!(!matches!(subject.next(&view).await.expect("a move"), Move::Report(_)));
        seen.push(answer("good news"));
        let later = subject.next(&View { context: &context, depth: 0, observations: &seen }).await.expect("a move");
        assert!(!matches!(later, Move::Report(_)), "{later:?}");
        let asked: Vec<String> = guard.asked.lock().expect("a lock").iter().map(|text| text.text.clone()).collect();
        assert_eq!(asked, ["Hello", "fine\nbad news", "fine\ngood news"], "each text once");
    }

    #[tokio::test]
    async fn a_guard_that_fails_aborts_the_trial() {
        let guard = Arc::new(WordGuard { is_broken: true, ..WordGuard::default() });
        let mut subject = MonitoredSubject::new(Box::new(EchoSubject), guard);
        let (context, seen) = (context(), [Observation::User("Hello".to_owned())]);
        let fault = subject.next(&View { context: &context, depth: 0, observations: &seen }).await;
        assert_eq!(fault, Err(SubjectFault::Harness("the guard cannot be reached".to_owned())));
    }
}
