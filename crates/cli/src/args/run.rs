//! Arguments of `smoke` and `run`.

use super::compare::FailOn;
use super::evidence::EvidenceArgs;
use super::report_files::ReportFileArgs;
use super::store::StoreArgs;
use campaign::AttackerSettings;
use clap::Args;
use launcher::SandboxMode;
use model::Money;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct SmokeArgs {
    /// Seed for schema fuzzing
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Subject to evaluate: a subject of the workspace, an external agent as process:CMD, mcp:CMD, http://…, chat:URL or a2a:URL, or fault:NAME[@CASES]; may be repeated
    /// [default: the subject of bardo-eval.yaml, else baseline]
    #[arg(long, value_name = "NAME")]
    pub subject: Vec<String>,
    /// Run the suites of a tier and require the minimum number of cases of its gates
    #[arg(long, value_name = "N", value_parser = parse_tier)]
    pub tier: Option<u64>,
    /// Only this suite (behavior/support) or kind of suite (behavior)
    #[arg(long, value_name = "NAME")]
    pub suite: Vec<String>,
    /// Only cases with this tool profile
    #[arg(long, value_name = "NAME")]
    pub profile: Vec<String>,
    /// Only cases of this agent
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// Only cases that expect this skill
    #[arg(long, value_name = "NAME")]
    pub skill: Vec<String>,
    /// Only cases with this id; * and ? are wildcards
    #[arg(long, value_name = "ID")]
    pub case: Vec<String>,
    /// Only the cases of this suite file, which need not be in the workspace, such as a reproducer of `shrink`; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tier", "suite", "changed", "last_failed"])]
    pub case_file: Vec<PathBuf>,
    /// Only cases with this tag
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Only cases that did not pass in the last stored run
    #[arg(long)]
    pub last_failed: bool,
    /// Only cases whose tools, agents, skills, policy or own text changed, and those of tools that read like a changed one: since a git revision (merge base), a run, or
    /// golden [default: what --against names, else git HEAD]
    #[arg(long, value_name = "BASE", num_args = 0..=1, conflicts_with_all = ["case", "last_failed"])]
    pub changed: Option<Option<String>>,
    /// Compare the result with an earlier run, or with golden, the baselines of the workspace; a regression ends with exit 1
    #[arg(long, value_name = "RUN", conflicts_with = "dry_run")]
    pub against: Option<String>,
    /// With --against: exit 1 on a regression of a gate or of the cases as a whole, or on anything that got worse: a case, or a reading of a gate
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = FailOn::Regression, requires = "against")]
    pub fail_on: FailOn,
    /// Only the first N cases after all filters, such as --limit 5
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// Trials per case [default: set by the tier, else 1]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub trials: Option<u64>,
    /// Seed of the first trial; further trials count up from it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=1 << 62))]
    pub seed: u64,
    /// Seeds of attacks, set by `redteam`
    #[arg(skip = 1u64)]
    pub attack_seeds: u64,
    /// Only attacks that cover every pair, set by `redteam`
    #[arg(skip)]
    pub pairwise: bool,
    /// Model that words attacks, set by `redteam`
    #[arg(skip)]
    pub attacker: Option<AttackerSettings>,
    /// Second pass with enforced hooks, set by `redteam`
    #[arg(skip)]
    pub enforce_too: bool,
    /// Folder for reproducers of successful attacks, set by `redteam`
    #[arg(skip)]
    pub shrink: Option<PathBuf>,
    /// Trials in flight at once [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub concurrency: Option<u64>,
    /// Guard in front of the subject: embedded, process:CMD, http:URL or mcp:CMD. What it flags is reported as the subject's own move
    #[arg(long, value_name = "GUARD")]
    pub guard: Option<String>,
    /// Chain backend: embedded, anvil (one node per chain and trial), or anvil:URL (a running Anvil or fork of yours, for one chain)
    #[arg(long, value_name = "KIND", default_value = "embedded")]
    pub chain: String,
    /// Time of a trial in seconds for agents given on the command line, such as --timeout 30; a subject file has limits: { seconds } [default: 120]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: Option<u64>,
    /// Stop after N failed trials in the order of the plan, such as --max-fail 3; the rest is not run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_fail: Option<u64>,
    /// Stop when every gate is decided: its bound is excluded at 95 % (or --confidence) however often it is asked, or, for a gate that allows no miss, one is found or its minimum
    /// of cases is clean. Cases run in an order drawn from the seed
    #[arg(long)]
    pub stop_when_decided: bool,
    /// Try one trial of each external agent first, and stop if it crashes, hangs or makes a malformed move [default]
    #[arg(long, overrides_with = "no_preflight")]
    pub preflight: bool,
    /// Run all trials, even if the first one shows that the agent does not work
    #[arg(long)]
    pub no_preflight: bool,
    /// Safety hooks on tool calls: observe reports violations, enforce blocks them. Transactions sent over RPC pass no hooks, only the account's on-chain policy
    #[arg(long, value_name = "MODE", default_value = "observe")]
    pub defence: DefenceArg,
    /// Confinement of agents that are programs: landlock, bwrap or none [default: landlock where the kernel has it]
    #[arg(long, value_name = "MODE")]
    pub sandbox: Option<SandboxMode>,
    /// Cost limit in US dollars; trials beyond it are not funded [default: set by the tier or bardo-eval.yaml]
    #[arg(long, value_name = "USD")]
    pub budget: Option<Money>,
    /// Reuse and store cached model replies [default]
    #[arg(long, overrides_with = "no_cache")]
    pub cache: bool,
    /// Bypass the reply cache
    #[arg(long)]
    pub no_cache: bool,
    /// Bypass the reply cache and record all model replies in cassettes/
    #[arg(long, conflicts_with_all = ["replay", "record_missing"])]
    pub record: bool,
    /// Use recorded replies only; missing recordings abort the trial
    #[arg(long, conflicts_with = "record_missing")]
    pub replay: bool,
    /// Use recorded replies, and record the missing ones
    #[arg(long)]
    pub record_missing: bool,
    /// Resume an interrupted run as it was started: the last one, or the one with this id prefix. Only --budget and --concurrency may change
    #[arg(long, value_name = "RUN", num_args = 0..=1, conflicts_with_all = ["subject", "tier", "suite", "profile", "agent", "skill", "case", "case_file", "tag", "last_failed", "changed", "trials",
        "seed", "guard", "chain", "defence", "sandbox", "cache", "no_cache", "record", "replay", "record_missing", "foreign", "allow_writes", "pass_env", "judge", "no_judge", "user", "confidence", "rule_out",
        "trust_claims", "dry_run", "no_store", "limit", "timeout", "max_fail", "stop_when_decided", "preflight", "no_preflight"])]
    pub resume: Option<Option<String>>,
    #[command(flatten)]
    pub foreign: ImportedToolArgs,
    /// Judge for rubrics: a subject with a model [default: the judge of the tier, if its key is set or its replies are recorded; without a
    /// name the judge of bardo-eval.yaml, else claude-sonnet]
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    pub judge: Option<Option<String>>,
    /// Leave rubrics unjudged, also in a tier with a judge
    #[arg(long, conflicts_with = "judge")]
    pub no_judge: bool,
    /// Model for personas: a subject with a model; without it personas follow their script
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// With 0, plan and watch the run and leave its trials to `bardo-eval work` on any machine; needs a store on PostgreSQL
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=0), conflicts_with_all = ["no_store", "dry_run", "record", "record_missing", "allow_writes"])]
    pub workers: Option<u64>,
    /// Seconds to wait for a worker that can play what is left, with --workers 0; then the run ends incomplete
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub worker_wait: u64,
    /// Print the plan and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not store the run
    #[arg(long)]
    pub no_store: bool,
    /// Write the id of the stored run to this file as soon as the run starts
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_store", "dry_run"])]
    pub run_id_file: Option<PathBuf>,
    #[command(flatten)]
    pub reports: ReportFileArgs,
    #[command(flatten)]
    pub demands: EvidenceArgs,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Source of responses for tools imported from an MCP server.
#[derive(Debug, Args)]
pub(crate) struct ImportedToolArgs {
    /// Source of responses for imported tools: auto (recordings if there are any, else stubs), recorded, stub, live:CMD or live:URL
    /// (the server itself), or record:CMD (live, and recorded in cassettes/tools.jsonl). A server answers only the tools that were
    /// imported from it; may be repeated, once per server. Tools of servers not named are answered from recordings
    #[arg(long = "imported-tools", alias = "foreign-tools", value_name = "FROM", default_value = "auto")]
    pub foreign: Vec<String>,
    /// Let live:CMD and record:CMD call tools that write. Trials then run one at a time
    #[arg(long)]
    pub allow_writes: bool,
    /// Environment variable handed to external agents, MCP servers, guards and scorers, by its name; may be repeated. Its value is
    /// stored nowhere, and redacted where a program repeats it
    #[arg(long, value_name = "NAME", value_parser = parse_variable_name)]
    pub pass_env: Vec<String>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum DefenceArg {
    Observe,
    Enforce,
}

/// Parses the name of a variable. A value would be stored with the run.
fn parse_variable_name(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
    if is_name {
        Ok(text.to_owned())
    } else {
        Err("expected the name alone, such as API_KEY; its value is read from the environment".to_owned())
    }
}

pub(super) fn parse_tier(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "a tier is a number, such as 2; `bardo-eval list tiers` shows them".to_owned())
}
