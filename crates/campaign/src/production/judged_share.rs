//! Grades a share of the kept traces with a judge, within the money of each day. Question, answer and reading are stored with the trace.

use super::trace_judge::trace_hex;
use crate::judging::query;
use crate::logs::unknown_case;
use crate::scoring::append_event;
use foreign::{AttackContext, LogPlace, LogRecording};
use model::suite::CaseRubric;
use model::{Case, EventKind, JudgedShare, Location, RunClaim, Score, ScorerId, Spanned, Transcript, UserError, Workspace};
use run::judge::{JudgeFault, LlmJudge};
use run::ledger::{CallId, CallRole};
use run::providers::{FaultKind, ProviderConfig};
use run::{Budget, Clock, ProductionLedger};
use score::production::is_judged;
use score::questions::{JudgeAnswer, JudgeQuestion, trial_questions};
use score::score_trial;
use score::scorers::scorer;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use store::StoreError;
use store::production::{KeptTrace, NewJudgement, ProductionCounter, ProductionStore, TraceId};

/// Makes a judge that pays from the budget and ledger of a configuration.
pub type JudgeFactory<'w> = Box<dyn Fn(&ProviderConfig) -> Result<LlmJudge, UserError> + Send + 'w>;

/// Seconds of traffic that is judged. Older traces are left unjudged.
const JUDGED_SPAN_S: u64 = 86_400;
/// Traces that are looked at and judged in one step, and the steps after which all are looked at again: late spans change traces.
const PAGE: usize = 500;
const STEP: usize = 4;
const RESCAN: u32 = 200;

/// Grades traces one after another.
pub struct TraceReviewer<'w> {
    workspace: &'w Workspace,
    settings: &'w JudgedShare,
    store: ProductionStore,
    ledger: Arc<ProductionLedger>,
    clock: Clock,
    open_judge: JudgeFactory<'w>,
    judge: Option<DayJudge>,
    /// Day on which the money ran out.
    unfunded: Option<u64>,
    after: u64,
    steps: u32,
}

/// Judge with the rest of a day's money.
struct DayJudge {
    day: u64,
    judge: LlmJudge,
}

/// Result of one step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReviewStep {
    /// Traces with a new answer, also one that cannot be used.
    pub judged: u64,
    /// The money of the day does not cover the next call.
    pub is_unfunded: bool,
    /// All traces of the span were looked at.
    pub is_done: bool,
}

/// Answer about one trace.
enum TraceAnswer {
    Given {
        question: Option<JudgeQuestion>,
        answer: String,
        happened: Option<Box<EventKind>>,
    },
    Unfunded,
    /// The harness failed, so that the trace is asked about later.
    Later,
}

impl fmt::Debug for TraceReviewer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceReviewer").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl<'w> TraceReviewer<'w> {
    /// Prepares a judge and checks that it can be built. `stores` are two connections to the same file.
    ///
    /// # Errors
    ///
    /// Fails if `production.yaml` has no judge, or the judge cannot be built, such as without its key or price.
    pub fn new(
        workspace: &'w Workspace,
        stores: [ProductionStore; 2],
        clock: Clock,
        open_judge: JudgeFactory<'w>,
    ) -> Result<Self, UserError> {
        let settings = workspace.production.judge.as_ref().ok_or_else(|| {
            let remedy = "write judge: { share: 0.1, usd_per_day: 5, rubric: … } into production.yaml";
            UserError::new("production.yaml does not say what is judged", remedy)
        })?;
        let [store, ledger] = stores;
        let ledger = Arc::new(ProductionLedger::new(ledger, settings.usd_per_day, clock));
        let mut reviewer = Self { workspace, settings, store, ledger, clock, open_judge, judge: None, unfunded: None, after: 0, steps: 0 };
        reviewer.judge = Some(reviewer.open_day(reviewer.ledger.today())?);
        Ok(reviewer)
    }

    fn open_day(&self, day: u64) -> Result<DayJudge, UserError> {
        let budget = Budget::new(Some(self.settings.usd_per_day));
        budget.deduct(self.ledger.spent_on(day)?);
        let judge = (self.open_judge)(&ProviderConfig::new(budget, self.ledger.clone(), self.clock))?;
        Ok(DayJudge { day, judge })
    }

    /// Asks about the next traces that are chosen and have no answer.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be used or the judge cannot be built.
    pub async fn step(&mut self, now_ms: u64) -> Result<ReviewStep, UserError> {
        let day = self.ledger.today();
        if self.unfunded == Some(day) {
            return Ok(ReviewStep { is_unfunded: true, is_done: true, ..ReviewStep::default() });
        }
        if self.judge.as_ref().is_none_or(|judge| judge.day != day) {
            self.judge = Some(self.open_day(day)?);
        }
        self.steps += 1;
        if self.steps.is_multiple_of(RESCAN) {
            self.after = 0;
        }
        let mut step = ReviewStep::default();
        let page = self.store.unjudged_traces((now_ms / 1000).saturating_sub(JUDGED_SPAN_S), self.after, PAGE)?;
        step.is_done = page.len() < PAGE;
        for (seq, trace) in page {
            if is_judged(&trace_hex(&trace), self.settings.share, &self.workspace.production.sampling.key) {
                if step.judged >= STEP as u64 {
                    step.is_done = false;
                    return Ok(step);
                }
                match self.review(&trace, now_ms).await? {
                    ReviewOutcome::Stored => step.judged += 1,
                    ReviewOutcome::Unfunded => {
                        self.unfunded = Some(day);
                        return Ok(ReviewStep { is_unfunded: true, is_done: true, ..step });
                    }
                    ReviewOutcome::Later => {}
                }
            }
            self.after = seq;
        }
        Ok(step)
    }

    async fn review(&self, trace: &TraceId, now_ms: u64) -> Result<ReviewOutcome, StoreError> {
        let Some(kept) = self.store.kept_trace(trace)? else { return Ok(ReviewOutcome::Later) };
        let Ok(mut transcript) = serde_json::from_str::<Transcript>(&kept.transcript) else { return Ok(ReviewOutcome::Later) };
        let case = self.case(trace, &transcript);
        let (question, answer, happened) = match self.ask(&case, &transcript).await {
            TraceAnswer::Given { question, answer, happened } => (question, answer, happened),
            TraceAnswer::Unfunded => {
                self.store.add_count(ProductionCounter::JudgeUnfunded, 1)?;
                return Ok(ReviewOutcome::Unfunded);
            }
            TraceAnswer::Later => return Ok(ReviewOutcome::Later),
        };
        let is_unusable = matches!(happened.as_deref(), Some(EventKind::Misjudged { .. }));
        transcript.events.retain(|event| !matches!(event.happened, EventKind::Judged { .. } | EventKind::Misjudged { .. }));
        if let Some(happened) = happened {
            append_event(&mut transcript.events, "judge", *happened);
        }
        let claim = RunClaim { tier: None, confidence: None, rule_out: None, trust_claims: false };
        let scorers: Vec<_> = scorer(ScorerId::Judged).into_iter().collect();
        let scores = score_trial(self.workspace, &case, &scorers, &transcript, &claim);
        let counter = if is_unusable { ProductionCounter::TracesMisjudged } else { ProductionCounter::TracesJudged };
        self.store.add_judgement(&judgement(&kept, question.as_ref(), answer, scores.first()), counter, now_ms)?;
        Ok(ReviewOutcome::Stored)
    }

    /// Asks one question, which the settled reply of an earlier process may answer.
    async fn ask(&self, case: &Case, transcript: &Transcript) -> TraceAnswer {
        // A trace that did not end orderly fails without a judge.
        let Some(question) = trial_questions(case, transcript).into_iter().next() else {
            return TraceAnswer::Given { question: None, answer: String::new(), happened: None };
        };
        let Some(DayJudge { judge, .. }) = &self.judge else { return TraceAnswer::Later };
        let call = CallId { trial: question.id.clone(), role: CallRole::Judge, n: 0 };
        let misjudged = |why: String| EventKind::Misjudged { question: question.id.clone(), why };
        let (answer, happened) = match judge.ask(&query(call, 1, &question)).await {
            Ok(text) => {
                let happened = JudgeAnswer::parse(&question, &text).map_or_else(|why| misjudged(why.to_string()), EventKind::from);
                (text, happened)
            }
            Err(JudgeFault::Provider(fault)) if fault.kind == FaultKind::Unfunded => return TraceAnswer::Unfunded,
            Err(JudgeFault::Provider(fault)) if fault.kind == FaultKind::Harness => return TraceAnswer::Later,
            Err(fault) => (fault.to_string(), misjudged(fault.to_string())),
        };
        TraceAnswer::Given { question: Some(question), answer, happened: Some(Box::new(happened)) }
    }

    /// Returns a case whose only expectation is the rubric.
    fn case(&self, trace: &TraceId, transcript: &Transcript) -> Case {
        let name = trace_hex(trace);
        let recording = LogRecording {
            at: LogPlace { file: name.clone(), item: 0 },
            transcript: transcript.clone(),
            trial: None,
            tools: None,
            expected: vec![],
            required_texts: vec![],
            verdicts: vec![],
            attack: AttackContext::Unknown,
            scores: vec![],
            notes: vec![],
        };
        let mut case = unknown_case(self.workspace, &recording, "");
        let asks = Spanned::new(self.settings.rubric.clone(), Location::new("production.yaml", 0));
        case.expect.rubric = Some(Box::new(CaseRubric { asks, facts: vec![], counter_example: None }));
        case
    }
}

/// Result of one trace.
enum ReviewOutcome {
    Stored,
    Unfunded,
    Later,
}

fn judgement(kept: &KeptTrace, question: Option<&JudgeQuestion>, answer: String, score: Option<&Score>) -> NewJudgement {
    // Questions and scores are plain data, so serialization cannot fail.
    let text = |value: serde_json::Result<String>| value.unwrap_or_else(|error| panic!("an answer cannot be serialized: {error}"));
    NewJudgement {
        trace: kept.trace,
        at_s: kept.at_s,
        sampled: kept.sampled,
        question: text(serde_json::to_string(&question)),
        answer,
        score: text(serde_json::to_string(&score)),
    }
}

/// Returns the newest readings of judged traces since a time, by trace.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub(super) fn judged_scores(store: &ProductionStore, from_s: u64) -> Result<Vec<(TraceId, Score)>, StoreError> {
    let (mut found, mut seen, mut after) = (vec![], BTreeSet::new(), 0);
    loop {
        let page = store.judgements(from_s, after, PAGE)?;
        let Some(last) = page.last() else { break };
        after = last.n;
        found
            .extend(page.into_iter().filter_map(|stored| {
                Some((stored.judgement.trace, serde_json::from_str::<Option<Score>>(&stored.judgement.score).ok()??))
            }));
    }
    // The newest answer about a trace counts.
    found.reverse();
    found.retain(|(trace, _)| seen.insert(*trace));
    Ok(found)
}
