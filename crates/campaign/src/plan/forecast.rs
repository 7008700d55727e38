//! Expected cost of a planned run, and the gates that its budget can decide.

use super::run_plan::RunPlan;
use crate::cost::{CostEstimate, GateReach, LiveModels, TrialQuote, estimate_cost, funded_cases, gate_reach, trial_quotes};
use crate::spec::{RecordingMode, default_judge};
use model::suite::Case;
use model::{LiveRole, Money, SubjectFile};

#[derive(Debug, Clone)]
pub struct CostForecast {
    /// One per case and subject.
    quotes: Vec<TrialQuote>,
    trials: u64,
    pub budget: Option<Money>,
    pub reach: Vec<GateReach>,
    pub judge: Option<ForecastJudge>,
}

/// Model that would judge rubrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForecastJudge {
    pub name: String,
    /// True if the user named it; otherwise the tier only allows it.
    pub is_named: bool,
}

impl RunPlan {
    pub fn forecast(&self) -> CostForecast {
        let settings = &self.spec().settings;
        let live = match self.spec().options.recordings {
            Some(RecordingMode::Replay) => LiveModels { subjects: false, judge: None, ..self.live_models() },
            Some(RecordingMode::Off | RecordingMode::Record | RecordingMode::RecordMissing) | None => {
                let live = self.live_models();
                LiveModels { judge: live.judge.or_else(|| allowed_judge(self)), ..live }
            }
        };
        let cases: Vec<&Case> = self.cases().collect();
        let subjects: Vec<&SubjectFile> = self.subjects().iter().collect();
        let quotes = trial_quotes(self.workspace(), &cases, &subjects, &live);
        let funded = funded_cases(&quotes, cases.len(), settings.trials, settings.budget);
        CostForecast {
            reach: gate_reach(self.workspace(), settings.claim, &cases, funded),
            judge: live.judge.map(|file| ForecastJudge { name: file.name.value.clone(), is_named: settings.judge.is_some() }),
            budget: settings.budget,
            trials: settings.trials,
            quotes,
        }
    }
}

/// Returns the default judge if the tier allows one and the user named none.
fn allowed_judge(plan: &RunPlan) -> Option<&SubjectFile> {
    let (settings, workspace) = (&plan.spec().settings, plan.workspace());
    let models = plan.subjects().iter().any(|subject| subject.provider.is_llm());
    let allowed =
        matches!(settings.allowed_live(workspace), Some(LiveRole::Judge | LiveRole::Subject)) && settings.judge.is_none() && models;
    workspace.subject(default_judge(workspace)).filter(|file| allowed && file.provider.is_llm())
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

    pub fn estimate(&self) -> CostEstimate {
        estimate_cost(&self.quotes, self.trials)
    }
}
