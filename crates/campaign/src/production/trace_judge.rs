//! Decides on settled traces.

use super::chain_evidence::{NamedTransaction, ObservedChains, hold_against_chain, withhold_hits, withhold_unknown_calls};
use super::day_limit::DayFindings;
use super::keep_rules::{keep_reasons, keeps_value};
use super::receipts::ReceiptAnswer;
use crate::logs::LogScorer;
use foreign::{AttackQuestion, ClaimTrust, LogPlace, TraceReading, read_spans};
use model::{EventKind, RunClaim, ScorerId, Workspace};
use score::production::{SampleWeight, is_sampled};
use serde_json::Value;
use store::StoreError;
use store::production::{KeptTrace, OpenTrace, ProductionStore, ReceiptState, TraceDecision, TraceId};

/// Traces that are decided in one commit, and the bytes after which the commit comes earlier.
const GROUP: usize = 256;
const GROUP_BYTES: usize = 16 << 20;

/// Scorers of agent files and of the policy, which logs of others do not know. Without a case each reads what needs none.
const TRACE_SCORERS: &[ScorerId] = &[
    ScorerId::BehavioralInvariants,
    ScorerId::DagAdherence,
    ScorerId::ToolOrdering,
    ScorerId::OutputFormat,
    ScorerId::OracleViolations,
    ScorerId::ChainConsistency,
    ScorerId::SlippageCompliance,
    ScorerId::SpendingLimit,
    ScorerId::AddressGrounding,
    ScorerId::SafetyVeto,
];
/// Milliseconds after which a trace that waits for receipts is looked at again.
const RECEIPT_WAIT_MS: u64 = 1_000;

/// Reads, samples and scores traces.
#[derive(Debug)]
pub struct TraceJudge<'w> {
    workspace: &'w Workspace,
    scorer: LogScorer<'w>,
    chains: ObservedChains<'w>,
}

/// Traces that one pass decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SettleResult {
    pub kept: u64,
    pub dropped: u64,
    pub unreadable: u64,
}

impl<'w> TraceJudge<'w> {
    pub fn new(workspace: &'w Workspace) -> Self {
        // Claims of an agent about itself are not evidence.
        let claim = RunClaim { tier: None, confidence: None, rule_out: None, trust_claims: false };
        let world = workspace.worlds.iter().find(|world| world.is_default).or(workspace.worlds.first());
        let scorer = LogScorer::new(Some(workspace), AttackQuestion::default(), claim);
        let scorer = scorer.of_traffic(world.map_or("", |world| world.name.as_str()));
        Self { workspace, scorer, chains: ObservedChains::new(workspace) }
    }

    /// Reads a trace from its spans as stored; absent if they say nothing of an agent.
    fn read(&self, open: &OpenTrace, spans: &[Vec<u8>]) -> Option<TraceReading> {
        let trace = trace_hex(&open.trace);
        let spans: Vec<Value> = spans.iter().filter_map(|span| serde_json::from_slice(span).ok()).collect();
        let trust = if self.workspace.production.trust_claims { ClaimTrust::Trusted } else { ClaimTrust::Ignored };
        let mut reading = read_spans(&trace, spans, &LogPlace { file: trace.clone(), item: 0 }, trust).ok()?;
        self.add_names(&mut reading);
        Some(reading)
    }

    /// Asks for the receipts of a trace that are not known. Returns none while some are not.
    fn receipts(
        &self,
        store: &ProductionStore,
        open: &OpenTrace,
        reading: &TraceReading,
        now_ms: u64,
    ) -> Result<Option<Vec<(NamedTransaction, ReceiptAnswer)>>, StoreError> {
        let named = if self.chains.is_empty() { vec![] } else { self.chains.named(reading) };
        if named.is_empty() {
            return Ok(Some(vec![]));
        }
        let wanted: Vec<(u64, String)> = named.iter().map(|named| (named.chain, named.hash.clone())).collect();
        let mut answers = vec![];
        let mut is_waiting = false;
        for (mut named, claim) in named.into_iter().zip(store.want_receipts(&open.trace, &wanted, now_ms)?) {
            named.named_ms = open.first_ms.min(claim.wanted_ms);
            let not_decoded = |why: String| ReceiptAnswer::NotDecoded { why };
            match (claim.state, claim.other) {
                // One of the two traces did not send it.
                (_, Some(other)) => answers.push((named, not_decoded(format!("trace {} named it before", trace_hex(&other))))),
                (ReceiptState::Known(body), None) => {
                    let unreadable = |error| not_decoded(format!("its stored receipt cannot be read: {error}"));
                    answers.push((named, serde_json::from_str(&body).unwrap_or_else(unreadable)));
                }
                (ReceiptState::Wanted, None) => is_waiting = true,
            }
        }
        Ok((!is_waiting).then_some(answers))
    }

    /// Decides on a trace with the receipts of its transactions.
    fn decide(
        &self,
        store: &ProductionStore,
        open: &OpenTrace,
        mut reading: TraceReading,
        receipts: &[(NamedTransaction, ReceiptAnswer)],
    ) -> Result<TraceDecision, StoreError> {
        let trace = trace_hex(&open.trace);
        let observes = !self.chains.is_empty();
        let mut spent = vec![];
        if observes {
            self.chains.attach(&mut reading, receipts);
            spent = self.chains.spent(&reading, receipts, &self.scorer.mined_values(&reading.recording));
        }
        reading.facts.refused_spans = open.refused;
        let days = DayFindings::note(self.workspace, store, &spent)?;
        let settings = &self.workspace.production;
        let facts = &reading.facts;
        let rate = settings.sampling.rate_of(facts.agents.iter().map(String::as_str), facts.skills.iter().map(String::as_str));
        let sampled = is_sampled(&trace, rate, &settings.sampling.key);
        let mut reasons = keep_reasons(self.workspace, &settings.keep, &reading);
        if spent.iter().any(|spent| keeps_value(&settings.keep, spent.usd())) && !reasons.contains(&"large_write") {
            reasons.push("large_write");
        }
        reasons.extend(days.has_unknown().then_some("unknown_value"));
        let has_effects = facts.decoded_transactions > 0;
        if !sampled && reasons.is_empty() && !(has_effects && settings.keep.limit_breaches) {
            return Ok(TraceDecision::Drop);
        }
        let mut scores = self.scorer.score_without_expectations(&reading.recording, TRACE_SCORERS);
        hold_against_chain(&mut scores, &facts.undecoded, &facts.contradictions);
        days.apply(&mut scores);
        withhold_unknown_calls(&mut scores, self.workspace, &reading.recording.transcript);
        for (spans, fate) in [(facts.refused_spans, "refused"), (facts.skipped_spans, "not read at their place")] {
            if spans > 0 {
                let spans = model::count(usize::try_from(spans).unwrap_or(usize::MAX), "span");
                withhold_hits(&mut scores, &format!("{spans} of the trace were {fate}"));
            }
        }
        let is_breach = |score: &model::Score| score.scorer == ScorerId::SpendingLimit && score.reading.is_violation();
        if has_effects && settings.keep.limit_breaches && !reasons.contains(&"limit") && scores.iter().any(is_breach) {
            reasons.push("limit");
        }
        if !sampled && reasons.is_empty() {
            return Ok(TraceDecision::Drop);
        }
        let weight = SampleWeight::of(!reasons.is_empty(), rate);
        Ok(TraceDecision::Keep(Box::new(KeptTrace {
            trace: open.trace,
            seq: 0,
            // Not the time that the trace states: it could be chosen to be in no window.
            at_s: open.first_ms / 1000,
            sampled,
            probability: weight.probability,
            reasons: reasons.join(" "),
            facts: json_text(&reading.facts),
            scores: json_text(&scores),
            transcript: json_text(&reading.recording.transcript),
        })))
    }

    /// Adds the agents and skills that the transcript names to those of the spans.
    fn add_names(&self, reading: &mut TraceReading) {
        for event in &reading.recording.transcript.events {
            if self.workspace.agent(&event.by).is_some() {
                reading.facts.agents.insert(event.by.clone());
            }
            if let EventKind::Activated { skill, .. } = &event.happened {
                reading.facts.skills.insert(skill.clone());
            }
        }
    }
}

fn json_text(value: &impl serde::Serialize) -> String {
    // Facts, scores and transcripts are plain data, so serialization cannot fail.
    serde_json::to_string(value).unwrap_or_else(|error| panic!("a trace cannot be serialized: {error}"))
}

pub(super) fn trace_hex(trace: &TraceId) -> String {
    trace.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decides on all traces that have settled. Stops between two commits if `go_on` returns false.
///
/// # Errors
///
/// Fails if the file cannot be read or written; decisions of earlier groups are stored.
pub fn settle_traces(
    store: &ProductionStore,
    judge: &TraceJudge<'_>,
    now_ms: u64,
    go_on: &dyn Fn() -> bool,
) -> Result<SettleResult, StoreError> {
    let settings = &judge.workspace.production;
    let mut result = SettleResult::default();
    while go_on() {
        let settled = store.settled_traces(now_ms, settings.settle_s * 1000, settings.max_age_s * 1000, GROUP)?;
        if settled.is_empty() {
            break;
        }
        let (mut decisions, mut bytes, mut has_grown) = (vec![], 0, false);
        for open in settled {
            let decision = match judge.read(&open, &store.spans_of(&open.trace)?) {
                None => TraceDecision::Unreadable,
                Some(reading) => match judge.receipts(store, &open, &reading, now_ms)? {
                    Some(receipts) => judge.decide(store, &open, reading, &receipts)?,
                    None => {
                        store.defer_trace(&open.trace, now_ms + RECEIPT_WAIT_MS)?;
                        continue;
                    }
                },
            };
            match &decision {
                TraceDecision::Keep(kept) => {
                    result.kept += 1;
                    bytes += kept.facts.len() + kept.scores.len() + kept.transcript.len();
                }
                TraceDecision::Drop => result.dropped += 1,
                TraceDecision::Unreadable => result.unreadable += 1,
            }
            decisions.push((open, decision));
            if bytes > GROUP_BYTES {
                has_grown |= store.decide(&decisions, now_ms)? < decisions.len() as u64;
                decisions.clear();
                bytes = 0;
            }
        }
        has_grown |= store.decide(&decisions, now_ms)? < decisions.len() as u64;
        if has_grown {
            // Traces that grew since settle later.
            break;
        }
    }
    Ok(result)
}
