//! What smoke and run are asked for.

use super::evidence::EvidenceArgs;
use super::store::StoreArgs;
use clap::Args;
use model::Money;

#[derive(Debug, Args)]
pub(crate) struct SmokeArgs {
    /// Seed of the schema fuzz
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Who is evaluated: a subject of the workspace, or a finished agent as process:CMD, mcp:CMD or http://…; several run side by side
    /// [default: what bardo-eval.yaml says, else baseline]
    #[arg(long, value_name = "NAME")]
    pub subject: Vec<String>,
    /// Run the suites of a tier and hold its gates to their minimum of cases
    #[arg(long, value_name = "N")]
    pub tier: Option<u64>,
    /// Only this suite (behavior/trade-executor) or kind of suite (behavior)
    #[arg(long, value_name = "NAME")]
    pub suite: Vec<String>,
    /// Only cases on this profile
    #[arg(long, value_name = "NAME")]
    pub profile: Vec<String>,
    /// Only cases in this agent's seat
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// Only cases that expect this skill
    #[arg(long, value_name = "NAME")]
    pub skill: Vec<String>,
    /// Only this case; * and ? stand for any letters and for one
    #[arg(long, value_name = "ID")]
    pub case: Vec<String>,
    /// Only cases with this tag
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Only cases that did not pass in the last run of the store
    #[arg(long)]
    pub last_failed: bool,
    /// How often each case is tried [default: what the tier says, else 1]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub trials: Option<u64>,
    /// First seed; further trials count up from it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=1 << 62))]
    pub seed: u64,
    /// How many trials are in flight at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub concurrency: u64,
    /// What runs the chains: embedded, or anvil (one node per chain and trial)
    #[arg(long, value_name = "KIND", default_value = "embedded")]
    pub chain: String,
    /// Whether safety hooks only note what they would stop, or stop it
    #[arg(long, value_name = "MODE", default_value = "observe")]
    pub defence: DefenceArg,
    /// What the run may cost, in US dollars; trials it does not reach are not funded [default: what tier or bardo-eval.yaml say]
    #[arg(long, value_name = "USD")]
    pub budget: Option<Money>,
    /// Use replies kept by earlier runs, and keep those of this one: the default
    #[arg(long, overrides_with = "no_cache")]
    pub cache: bool,
    /// Ask even what was asked before, and keep no reply for other runs
    #[arg(long)]
    pub no_cache: bool,
    /// Ask everything anew and record the replies of models below cassettes/
    #[arg(long, conflicts_with_all = ["replay", "record_missing"])]
    pub record: bool,
    /// Take replies of models from recordings alone; what was never recorded aborts its trial
    #[arg(long, conflicts_with = "record_missing")]
    pub replay: bool,
    /// Take replies from recordings, and record those that are missing
    #[arg(long)]
    pub record_missing: bool,
    /// Go on with a run that was broken off: the last one, unless named by the beginning of its id
    #[arg(long, value_name = "RUN", num_args = 0..=1, conflicts_with_all = ["subject", "tier", "suite", "profile", "agent", "skill", "case", "tag", "last_failed", "trials", "dry_run", "no_store"])]
    pub resume: Option<Option<String>>,
    #[command(flatten)]
    pub foreign: ImportedToolArgs,
    /// Who is asked about rubrics: a subject with a model; without one they are not judged [default name: of bardo-eval.yaml, else claude-sonnet]
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    pub judge: Option<Option<String>>,
    /// Who plays personas: a subject with a model; without one they play by their script
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Print the plan and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not keep the run
    #[arg(long)]
    pub no_store: bool,
    #[command(flatten)]
    pub demands: EvidenceArgs,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Tools that were imported from an MCP server.
#[derive(Debug, Args)]
pub(crate) struct ImportedToolArgs {
    /// Who answers for imported tools: auto (recordings where there are any, else stubs), recorded, stub, live:CMD (the server itself, or live:URL), or
    /// record:CMD (the same, and what it says is kept in cassettes/tools.jsonl)
    #[arg(long = "foreign-tools", value_name = "FROM", default_value = "auto")]
    pub foreign: String,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum DefenceArg {
    Observe,
    Enforce,
}
