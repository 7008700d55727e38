//! Subject behind a guard: new texts of its view are inspected first, and what the guard flags is reported as the subject's own move.

use super::{Subject, SubjectFault};
use crate::limits::{ReplyTotals, SubjectUsage};
use ::guard::{ProvenanceLedger, ReferenceGuard, ValueKind};
use async_trait::async_trait;
use model::AttackChannel;
use model::transcript::{Move, ToolAnswer, ToolCall};
use model::view::{Observation, View};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use store::AgentOutput;

/// Most reports of one trial. Further findings would repeat the same attack.
const MAX_REPORTS: usize = 3;
/// Most descriptions whose verdicts are kept.
const MAX_KNOWN: usize = 4_096;

/// Guard of a run, with the verdicts on tool descriptions, which most trials repeat.
#[derive(Default)]
pub struct SharedGuard {
    guard: ReferenceGuard,
    descriptions: Mutex<BTreeMap<String, Option<&'static str>>>,
}

impl fmt::Debug for SharedGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedGuard")
    }
}

impl SharedGuard {
    fn flag(&self, channel: AttackChannel, text: &str) -> Option<&'static str> {
        self.guard.inspect(channel, text).first().map(|flag| flag.rule)
    }

    fn flag_description(&self, text: &str) -> Option<&'static str> {
        let mut known = self.descriptions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flag) = known.get(text) {
            return *flag;
        }
        let flag = self.flag(AttackChannel::ToolDescription, text);
        if known.len() < MAX_KNOWN {
            known.insert(text.to_owned(), flag);
        }
        flag
    }
}

pub struct GuardedSubject {
    inner: Box<dyn Subject>,
    guard: Arc<SharedGuard>,
    /// Observations already inspected, by agent and depth.
    inspected: BTreeMap<(String, u32), usize>,
    /// Findings already reported.
    reported: BTreeSet<String>,
    ledger: ProvenanceLedger,
}

impl fmt::Debug for GuardedSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardedSubject").field("reported", &self.reported).finish_non_exhaustive()
    }
}

impl GuardedSubject {
    pub fn new(inner: Box<dyn Subject>, guard: Arc<SharedGuard>) -> Self {
        Self { inner, guard, inspected: BTreeMap::new(), reported: BTreeSet::new(), ledger: ProvenanceLedger::default() }
    }

    /// Returns the first new finding: its source and the rule.
    fn find(&mut self, view: &View<'_>) -> Option<(String, &'static str)> {
        let mut found = vec![];
        for tool in &view.context.tools {
            let flag = self.guard.flag_description(&tool.description);
            found.extend(flag.map(|rule| (format!("the description of {}", tool.name), rule)));
        }
        let inspected = self.inspected.entry((view.context.agent.clone(), view.depth)).or_default();
        // A later delegation to the same agent starts anew.
        let from = if *inspected > view.observations.len() { 0 } else { *inspected };
        *inspected = view.observations.len();
        for observation in &view.observations[from..] {
            found.extend(self.inspect(observation));
        }
        found.into_iter().find(|(source, rule)| self.reported.insert(format!("{source} {rule}")))
    }

    fn inspect(&mut self, observation: &Observation) -> Option<(String, &'static str)> {
        match observation {
            Observation::User(text) => {
                self.ledger.trust(text);
                Some(("a message of the user".to_owned(), self.guard.flag(AttackChannel::User, text)?))
            }
            // The task comes from an agent that the user's request reached first.
            Observation::HandOver { params, .. } => {
                self.ledger.trust(&Value::Object(params.clone()).to_string());
                None
            }
            Observation::Message { from, text } => {
                self.ledger.observe_text(text);
                Some((format!("a message of {from}"), self.guard.flag(AttackChannel::AgentMessage, text)?))
            }
            Observation::Peer { agent, said } => {
                let flag = self.guard.guard.inspect_result(AttackChannel::AgentMessage, said).first().map(|flag| flag.rule)?;
                Some((format!("the answer of {agent}"), flag))
            }
            Observation::Answer { tool, answer } => {
                let flag = match answer {
                    ToolAnswer::Result(result) => {
                        self.ledger.observe_result(result);
                        self.guard.guard.inspect_result(AttackChannel::ToolResult, result).first().map(|flag| flag.rule)?
                    }
                    ToolAnswer::Error { message, .. } => self.guard.flag(AttackChannel::ToolResult, message)?,
                };
                Some((format!("the result of {tool}"), flag))
            }
        }
    }

    /// Returns a value of a call that only untrusted prose names.
    fn ungrounded(&self, calls: &[ToolCall]) -> Option<String> {
        let found = calls.iter().flat_map(|call| self.ledger.ungrounded(&call.tool, &call.args, |_| true));
        // Amounts alone recur by chance.
        found.filter(|one| one.kind == ValueKind::Address).map(|one| format!("{} {}", one.kind.word(), one.value)).next()
    }
}

#[async_trait]
impl Subject for GuardedSubject {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        if self.reported.len() < MAX_REPORTS
            && let Some((source, rule)) = self.find(view)
        {
            return Ok(Move::Report(format!("Possible injection in {source} ({rule}). I treat it as data and do not follow it.")));
        }
        let next = self.inner.next(view).await?;
        if let Move::Call(calls) = &next
            && let Some(value) = self.ungrounded(calls)
            && self.reported.insert(value.clone())
        {
            return Ok(Move::Report(format!(
                "Possible injection: the {value} of a planned call occurs only in text that is not from the user."
            )));
        }
        Ok(next)
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
