//! Expected cost of a planned run, and the gates that its budget can decide.

use super::run_plan::RunPlan;
use crate::cost::{CostEstimate, GateReach, LiveModels, TrialQuote, estimate_cost, funded_cases, gate_reach, trial_quotes};
use crate::spec::RecordingMode;
use model::suite::Case;
use model::{Money, SubjectFile};

#[derive(Debug, Clone)]
pub struct CostForecast {
    /// One per case and subject.
    quotes: Vec<TrialQuote>,
    trials: u64,
    pub budget: Option<Money>,
    pub reach: Vec<GateReach>,
    /// Model that judges rubrics, named by the user or the tier.
    pub judge: Option<String>,
}

/// Subjects whose replies are played from recordings and have none, and what it takes to record them.
#[derive(Debug, Clone)]
pub struct MissingRecordings {
    pub subjects: Vec<String>,
    pub trials: u64,
    pub estimate: CostEstimate,
}

impl RunPlan {
    pub fn forecast(&self) -> CostForecast {
        let settings = &self.spec().settings;
        let live = match self.spec().options.recordings {
            Some(RecordingMode::Replay) => LiveModels { subjects: false, judge: None, attacker: None, ..self.live_models() },
            // Everything but the judged material may have to be recorded.
            Some(RecordingMode::Record | RecordingMode::RecordMissing) => LiveModels { subjects: true, ..self.live_models() },
            Some(RecordingMode::Off) | None => self.live_models(),
        };
        let cases: Vec<&Case> = self.cases().collect();
        let subjects: Vec<&SubjectFile> = self.subjects().iter().collect();
        let quotes = trial_quotes(self.workspace(), &cases, &subjects, &live);
        let funded = funded_cases(&quotes, cases.len(), settings.trials, settings.budget);
        CostForecast {
            reach: gate_reach(self.workspace(), settings.claim, &cases, funded, settings.judge.is_some()),
            judge: settings.judge.clone(),
            budget: settings.budget,
            trials: settings.trials,
            quotes,
        }
    }
}

impl RunPlan {
    /// Returns the subjects whose replies this run plays from recordings, but none is recorded.
    pub fn missing_recordings(&self, is_recorded: impl Fn(&SubjectFile) -> bool) -> Option<MissingRecordings> {
        let (options, settings) = (&self.spec().options, &self.spec().settings);
        let replays = match options.recordings {
            Some(RecordingMode::Replay) => true,
            Some(RecordingMode::Record | RecordingMode::RecordMissing) => false,
            Some(RecordingMode::Off) | None => !self.live_models().subjects,
        };
        let subjects: Vec<&SubjectFile> =
            self.subjects().iter().filter(|subject| replays && subject.provider.is_llm() && !is_recorded(subject)).collect();
        if subjects.is_empty() {
            return None;
        }
        let cases: Vec<&Case> = self.cases().collect();
        let live = LiveModels { subjects: true, judge: None, attacker: None, trials: settings.trials };
        Some(MissingRecordings {
            trials: (cases.len() * subjects.len()) as u64 * settings.trials,
            estimate: estimate_cost(&trial_quotes(self.workspace(), &cases, &subjects, &live), settings.trials),
            subjects: subjects.iter().map(|subject| subject.name.value.clone()).collect(),
        })
    }
}

impl CostForecast {
    /// Returns the quote of the trial with this index.
    pub fn quote(&self, n: u64) -> TrialQuote {
        let pair = usize::try_from(n / self.trials).unwrap_or(usize::MAX);
        self.quotes.get(pair).copied().unwrap_or_default()
    }

    /// Returns the maximum cost of one trial, limited by the budget of the run.
    pub fn ceiling(&self, n: u64) -> Money {
        let ceiling = self.quote(n).ceiling;
        self.budget.map_or(ceiling, |budget| ceiling.min(budget))
    }

    /// Returns the maximum cost of the run.
    pub fn max_cost(&self) -> Money {
        let total: Money = (0..self.quotes.len() as u64 * self.trials).map(|n| self.ceiling(n)).sum();
        self.budget.map_or(total, |budget| total.min(budget))
    }

    /// Returns the most that the first calls of `concurrency` trials reserve at once.
    pub fn reserved_at_once(&self, concurrency: usize) -> Money {
        let mut reserved: Vec<Money> = self.quotes.iter().map(|quote| quote.first_call).collect();
        reserved.sort_unstable_by(|a, b| b.cmp(a));
        let repeated =
            reserved.into_iter().flat_map(|money| std::iter::repeat_n(money, usize::try_from(self.trials).unwrap_or(usize::MAX)));
        repeated.take(concurrency).sum()
    }

    pub fn estimate(&self) -> CostEstimate {
        estimate_cost(&self.quotes, self.trials)
    }
}
