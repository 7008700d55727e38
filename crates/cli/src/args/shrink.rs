//! Arguments of `shrink`.

use super::store::StoreArgs;
use campaign::ShrinkLimits;
use clap::Args;
use model::Money;

#[derive(Debug, Args)]
pub(crate) struct ShrinkArgs {
    /// Id of a case that failed, or of an attack that succeeded, as reports print it
    #[arg(value_name = "CASE")]
    pub case: String,
    /// Subject that failed [default: the one of --run, else the subject of bardo-eval.yaml, else baseline]
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    /// Take subject, seed and settings from this stored run
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Most trials in all; the smallest case found until then is written
    #[arg(long, value_name = "N", default_value_t = ShrinkLimits::default().max_trials, value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub max_trials: u64,
    /// Trials of the original first, to see whether it fails always
    #[arg(long, value_name = "N", default_value_t = ShrinkLimits::default().first, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub trials: u64,
    /// Trials of the result, whose rate the reproducer states
    #[arg(long, value_name = "N", default_value_t = ShrinkLimits::default().confirm, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub confirm: u64,
    /// Cost limit in US dollars, for subjects that cost money
    #[arg(long, value_name = "USD")]
    pub budget: Option<Money>,
    /// Guard in front of the subject, as in `run`
    #[arg(long, value_name = "GUARD")]
    pub guard: Option<String>,
    /// Judge for rubrics, for cases that fail by one
    #[arg(long, value_name = "NAME")]
    pub judge: Option<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

impl ShrinkArgs {
    pub(crate) fn limits(&self) -> ShrinkLimits {
        ShrinkLimits { max_trials: self.max_trials, first: self.trials, confirm: self.confirm }
    }
}
