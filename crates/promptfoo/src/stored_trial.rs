//! Rows as trials: transcript and scores, for the store.

use crate::test_row::TestRow;
use model::transcript::FaultSource;
use model::{ContentHash, Ending, Event, EventKind, Reading, Score, ScoreReason, ScorerId, Transcript, Trial};
use run::providers::FaultKind;
use score::assertions::tool_calls;
use serde_json::Value;

/// Row as it is stored.
#[derive(Debug, Clone)]
pub struct StoredRow {
    pub trial: Trial,
    pub transcript: Transcript,
    pub scores: Vec<Score>,
    pub wall_us: u64,
}

impl TestRow {
    /// Returns the row as a trial.
    pub fn to_stored(&self) -> StoredRow {
        let id =
            self.trial.clone().unwrap_or_else(|| ContentHash::of_text(&format!("{}-{}", self.cell.test_index, self.cell.prompt_index)));
        let (case, subject) = (self.case_name(), self.cell.provider.name().to_owned());
        let transcript =
            Transcript { trial: id.clone(), case: case.clone(), subject: subject.clone(), events: self.events(), ending: self.ending() };
        let trial = Trial { id, case, subject, seed: self.cell.repeat as u64 };
        StoredRow { trial, transcript, scores: self.scores(), wall_us: self.latency_ms.saturating_mul(1_000) }
    }

    /// Returns the name under which the test is stored: its name, and that of the prompt if there are several.
    fn case_name(&self) -> String {
        let test = self.cell.test.description.clone().unwrap_or_else(|| format!("test-{}", self.cell.test_index + 1));
        if self.cell.prompt_index == 0 { test } else { format!("{test} prompt-{}", self.cell.prompt_index + 1) }
    }

    fn events(&self) -> Vec<Event> {
        let mut events = vec![];
        let mut add = |by: &str, at_ms: u64, happened: EventKind| {
            let n = events.len() as u32;
            events.push(Event { n, at_ms, by: by.to_owned(), depth: 0, happened });
        };
        add("user", 0, EventKind::UserSaid { text: self.prompt.clone() });
        if self.failed_call {
            return events;
        }
        for (call, (tool, args)) in tool_calls(&self.output).into_iter().enumerate() {
            add("assistant", self.latency_ms, EventKind::Called { call: call as u32, tool, args: args.unwrap_or_default() });
        }
        let text = self.output.as_str().map_or_else(|| self.output.to_string(), str::to_owned);
        add("assistant", self.latency_ms, EventKind::Said { text });
        events
    }

    fn ending(&self) -> Ending {
        let Some(why) = &self.error else { return Ending::Finished };
        let by = match self.fault {
            Some(FaultKind::Unfunded) => return Ending::Unfunded,
            Some(FaultKind::NotRecorded) => FaultSource::Recordings,
            Some(_) => FaultSource::Provider,
            None if self.failed_call => FaultSource::Provider,
            None => FaultSource::Harness,
        };
        Ending::Aborted { by, why: why.clone() }
    }

    fn scores(&self) -> Vec<Score> {
        if self.error.is_some() {
            return vec![];
        }
        let said = self.events().len().saturating_sub(1) as u32;
        let reason = |component: &crate::ComponentResult| {
            let kind = component.assertion.get("type").and_then(Value::as_str).unwrap_or_default();
            ScoreReason { event: Some(said), what: format!("{kind}: {}", component.reason) }
        };
        let missed: Vec<ScoreReason> = self.components.iter().filter(|component| !component.pass).map(reason).collect();
        let hit = self.components.iter().filter(|component| component.pass).count() as u64;
        vec![
            Score::new(ScorerId::Assertions, Reading::Tally { hit, of: self.components.len() as u64 }, missed.clone()),
            Score::new(ScorerId::CasePass, Reading::from_bool(self.success), if self.success { vec![] } else { missed }),
        ]
    }
}
