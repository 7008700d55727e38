//! What a person can type.

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use model::Money;
use std::path::PathBuf;

const STYLES: Styles = Styles::styled().header(AnsiColor::Green.on_default().bold()).usage(AnsiColor::Green.on_default().bold());

/// Evaluates LLM-driven DeFi agents before real money is at stake.
#[derive(Debug, Parser)]
#[command(name = "bardo-eval", version, styles = STYLES, max_term_width = 120, after_help = "\
Examples:
  bardo-eval smoke                        check the workspace in ./evals, or the embedded one
  bardo-eval run --subject reference      play every case and judge the gates
  bardo-eval show done_with_link          what happened in a case of the last run, event by event
  bardo-eval init my-evals --minimal      write a small workspace to start from
  bardo-eval explain safety_pipeline      what a check, scorer or gate means

Exit codes: 0 clean, 1 a gate missed or a check failed, 2 wrong usage or files (nothing ran), 3 incomplete.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Folder of the workspace [default: ./evals if it exists, else the embedded one]
    #[arg(long, short = 'w', global = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Use the embedded reference workspace even if ./evals exists
    #[arg(long, global = true, conflicts_with = "workspace")]
    pub embedded: bool,
    /// Shape of the result
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write the result to a file instead of standard output
    #[arg(long, short = 'o', global = true, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
    /// Show everything instead of the first few
    #[arg(long, short = 'v', global = true)]
    pub verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
    Junit,
    Markdown,
    /// Annotations of GitHub Actions, at the file and line of each finding
    Github,
    /// Safety findings for code scanning
    Sarif,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Tier 1: check everything that can be known without calling a model
    #[command(after_help = "Example:\n  bardo-eval smoke --format junit -o smoke.xml")]
    Smoke(SmokeArgs),
    /// Run cases against a subject and judge the gates
    #[command(
        after_help = "Examples:\n  bardo-eval run                          the lexical baseline: no key, no network\n  bardo-eval run --subject reference\n  bardo-eval run --suite behavior --subject reference --format json\n  bardo-eval run --profile trader --dry-run"
    )]
    Run(Box<RunArgs>),
    /// Show what happened in a stored trial, with its scores beside their evidence
    #[command(
        after_help = "Examples:\n  bardo-eval show sell_ether_for_usdc\n  bardo-eval show 3f2a91c07b5e --run 8d41f0 --verbose\n  bardo-eval show --diff 3f2a91c07b5e c7714be09a12\n  bardo-eval show sell_ether_for_usdc --diff 8d41f0 52ab9e"
    )]
    Show(ShowArgs),
    /// List, show and remove the runs that are kept
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Score a stored run again with the scorers and gates of today; nothing is run
    #[command(
        after_help = "Examples:\n  bardo-eval score\n  bardo-eval score 8d41f0 --confidence 0.95 --rule-out 0.05\n  bardo-eval score 8d41f0 --workspace changed-evals"
    )]
    Score(ScoreArgs),
    /// Say which tiers an event of CI runs, or write a workflow that runs them
    #[command(
        subcommand,
        after_help = "Examples:\n  git diff --name-only main... | bardo-eval ci plan --event pull_request --changed -\n  bardo-eval ci github --subject baseline"
    )]
    Ci(CiCommand),
    /// Say what the kept runs cost, by tier, model and suite, and what was saved
    #[command(after_help = "Examples:\n  bardo-eval cost\n  bardo-eval cost --since 2026-11-01 --format json")]
    Cost(CostArgs),
    /// Keep what a run did as the baseline, and see what changed since
    #[command(
        subcommand,
        after_help = "Examples:\n  bardo-eval golden status\n  bardo-eval golden diff --play\n  bardo-eval golden update 8d41f0"
    )]
    Golden(GoldenCommand),
    /// Talk to a subject in a world, one line a turn, and see what it does
    #[command(
        after_help = "Examples:\n  bardo-eval chat --agent trade-executor --subject baseline\n  bardo-eval chat --case sell_ether_for_usdc --subject claude-sonnet\n  echo 'What do I hold?' | bardo-eval chat --profile data --world defi_small --format json"
    )]
    Chat(ChatArgs),
    /// Write cases
    #[command(subcommand)]
    Case(CaseCommand),
    /// Measure whoever judges what no state can show
    #[command(subcommand)]
    Judge(JudgeCommand),
    /// Write a workspace to start from
    #[command(
        after_help = "Examples:\n  bardo-eval init\n  bardo-eval init small --minimal\n  bardo-eval init mine --from-mcp 'npx -y @modelcontextprotocol/server-everything'"
    )]
    Init(InitArgs),
    /// Export, import and compare tool lists
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// Look at a world's chains and act on them
    #[command(subcommand)]
    World(WorldCommand),
    /// List what the workspace and this program hold
    List(ListArgs),
    /// Say what a check, scorer or gate means
    Explain {
        /// Its id, as the reports print it
        name: String,
    },
    /// Say what is set up on this machine and what is missing
    Doctor(StoreArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  bardo-eval completions bash > ~/.local/share/bash-completion/completions/bardo-eval")]
    Completions { shell: clap_complete::Shell },
}

#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    /// Only runs begun on or after this day, such as 2026-11-01
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CiCommand {
    /// The tiers that an event runs, by the table in tiers.yaml
    #[command(
        after_help = "Examples:\n  bardo-eval ci plan --event pull_request --changed evals/tools/wallet.yaml README.md\n  bardo-eval ci plan --event manual --tier 1 --tier 3\n  bardo-eval ci plan --event merge --format github >> \"$GITHUB_OUTPUT\""
    )]
    Plan(CiPlanArgs),
    /// Write .github/workflows/bardo-eval.yml
    #[command(after_help = "Examples:\n  bardo-eval ci github\n  bardo-eval ci github --subject claude-sonnet --branch main --print")]
    Github(CiGithubArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CiPlanArgs {
    /// pull_request, merge, nightly or manual
    #[arg(long, value_name = "EVENT")]
    pub event: String,
    /// Files that changed; - reads them from standard input [default: everything may have changed]
    #[arg(long, value_name = "FILES", num_args = 0..)]
    pub changed: Option<Vec<String>>,
    /// Only this tier, as asked for by hand
    #[arg(long, value_name = "N")]
    pub tier: Vec<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct CiGithubArgs {
    /// Who is evaluated
    #[arg(long, value_name = "NAME", default_value = "baseline")]
    pub subject: String,
    /// The branch that pull requests are merged to
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub branch: String,
    /// How the workflow gets this program onto its path
    #[arg(
        long,
        value_name = "CMD",
        default_value = "cargo build --release --locked -p bardo-eval && echo \"$PWD/target/release\" >> \"$GITHUB_PATH\""
    )]
    pub install: String,
    /// Print it instead of writing the file
    #[arg(long)]
    pub print: bool,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GoldenCommand {
    /// Say which baselines are stale: model, descriptions, profiles, agents, skills or cases changed
    Status,
    /// Say what a stored run does otherwise than the baselines; exit 1 where something changed
    #[command(
        after_help = "Examples:\n  bardo-eval golden diff\n  bardo-eval golden diff 8d41f0 --subject baseline --format json\n  bardo-eval golden diff --judge claude-sonnet --budget 0.5"
    )]
    Diff(GoldenDiffArgs),
    /// Make baselines of a stored run; refuses under CI
    #[command(after_help = "Example:\n  bardo-eval golden update 8d41f0")]
    Update(GoldenRunArgs),
}

#[derive(Debug, Args)]
pub(crate) struct GoldenRunArgs {
    /// The run, by the beginning of its id [default: the last one kept]
    pub run: Option<String>,
    /// Play every case first and take that run
    #[arg(long, conflicts_with = "run")]
    pub play: bool,
    /// Who is played, or whose trials where a run has several subjects [default: baseline for --play]
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GoldenDiffArgs {
    #[command(flatten)]
    pub run: GoldenRunArgs,
    /// How far numbers in arguments may differ, as a share of the larger
    #[arg(long, value_name = "SHARE", default_value_t = 0.0001)]
    pub tolerance: f64,
    /// Who is asked whether texts in other words say the same: a subject with a model; without one they are counted
    #[arg(long, value_name = "NAME")]
    pub judge: Option<String>,
    /// What the judge may cost, in US dollars
    #[arg(long, value_name = "USD", default_value = "1", requires = "judge")]
    pub budget: Money,
    /// How many questions are in flight at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub concurrency: u64,
}

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
    pub foreign: ForeignArgs,
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
    pub demands: DemandArgs,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Tools that were imported from an MCP server.
#[derive(Debug, Args)]
pub(crate) struct ForeignArgs {
    /// Who answers for imported tools: auto (recordings where there are any, else stubs), recorded, stub, live:CMD (the server itself, or live:URL), or
    /// record:CMD (the same, and what it says is kept in cassettes/tools.jsonl)
    #[arg(long = "foreign-tools", value_name = "FROM", default_value = "auto")]
    pub foreign: String,
}

/// How sure a gate must be before it is met.
#[derive(Debug, Args)]
pub(crate) struct DemandArgs {
    /// Hold each bound to its one-sided limit at this confidence, such as 0.95, instead of to the rate seen
    #[arg(long, value_name = "C", value_parser = share)]
    pub confidence: Option<f64>,
    /// Gates that allow no miss must rule out, at 95 %, failing this often, such as 0.05
    #[arg(long, value_name = "P", value_parser = share)]
    pub rule_out: Option<f64>,
    /// Count what finished agents merely claim (delegations, verdicts of their own guard) as if it had been seen
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub trust_claims: Option<bool>,
}

/// Between 0 and 1, both excluded.
fn share(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    if number > 0.0 && number < 1.0 { Ok(number) } else { Err("it must lie between 0 and 1, as in 0.95".to_owned()) }
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A case, or a trial by the beginning of its id
    #[arg(value_name = "CASE|TRIAL", required_unless_present = "diff")]
    pub what: Option<String>,
    /// In this run, by the beginning of its id [default: the last one kept]
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Compare two trials; after a CASE, that case in two runs
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub diff: Option<Vec<String>>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ScoreArgs {
    /// The run, by the beginning of its id [default: the last one kept]
    pub run: Option<String>,
    #[command(flatten)]
    pub demands: DemandArgs,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// All runs, newest first
    #[command(after_help = "Examples:\n  bardo-eval runs list\n  bardo-eval runs list --format json")]
    List(StoreArgs),
    /// What one run was asked for and what it came to
    #[command(after_help = "Examples:\n  bardo-eval runs show\n  bardo-eval runs show 8d41f0")]
    Show(OneRunArgs),
    /// Remove runs with all that is kept of them
    #[command(after_help = "Example:\n  bardo-eval runs rm 8d41f0 52ab9e")]
    Rm(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct OneRunArgs {
    /// The run, by the beginning of its id [default: the last one begun]
    pub run: Option<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The runs, each by the beginning of its id
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// Where runs are kept
    #[arg(long, value_name = "FILE", default_value = STORE)]
    pub store: PathBuf,
}

const STORE: &str = ".bardo-eval/store.sqlite";

impl StoreArgs {
    /// What to type after a trial so that `show` finds it in a run of this store.
    pub(crate) fn show(&self, run: &str) -> String {
        format!(" --run {run}{}", self.flag())
    }

    /// What to type so that a command looks into the same store.
    pub(crate) fn flag(&self) -> String {
        if self.store.as_os_str() == STORE { String::new() } else { format!(" --store {}", self.store.display()) }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Who you talk to: a subject of the workspace
    #[arg(long, value_name = "NAME", default_value = "echo")]
    pub subject: String,
    /// Take the seat, the world and the peers of a case; the conversation is scored by it
    #[arg(long, value_name = "ID", conflicts_with_all = ["agent", "profile", "world", "own_peers"])]
    pub case: Option<String>,
    /// Talk to it in this agent's seat
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Give it the tools of this profile; the conversation ends with its first calls
    #[arg(long, value_name = "NAME", conflicts_with = "agent")]
    pub profile: Option<String>,
    /// Where it acts [default: the first world]
    #[arg(long, value_name = "NAME")]
    pub world: Option<String>,
    /// The subject plays guardian and assessor itself instead of the policy
    #[arg(long)]
    pub own_peers: bool,
    /// What runs the chains: embedded, or anvil
    #[arg(long, value_name = "KIND", default_value = "embedded")]
    pub chain: String,
    /// Whether safety hooks only note what they would stop, or stop it
    #[arg(long, value_name = "MODE", default_value = "observe")]
    pub defence: DefenceArg,
    /// What a model may cost in it, in US dollars
    #[arg(long, value_name = "USD", default_value = "1")]
    pub budget: Money,
    /// Do not keep the conversation
    #[arg(long)]
    pub no_store: bool,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JudgeCommand {
    /// Ask a judge about labelled examples and say how far it agrees, and what sways it
    #[command(after_help = "Examples:\n  bardo-eval judge calibrate\n  bardo-eval judge calibrate mine.jsonl --judge ollama --format json")]
    Calibrate(CalibrateArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// Labelled examples, one JSON object a line [default: judge/examples.jsonl of the workspace]
    pub file: Option<PathBuf>,
    /// Who judges: a subject of the workspace with a model
    #[arg(long, value_name = "NAME", default_value = "claude-sonnet")]
    pub judge: String,
    /// What it may cost, in US dollars
    #[arg(long, value_name = "USD", default_value = "2")]
    pub budget: Money,
    /// How many questions are in flight at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub concurrency: u64,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CaseCommand {
    /// Draft a case from a stored trial and check it as smoke would
    #[command(
        after_help = "Example:\n  bardo-eval case new --from 8d41f0/3f2a91c0 --id sell_some_ether -o evals/suites/behavior/sell_some_ether.yaml"
    )]
    New(CaseNewArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CaseNewArgs {
    /// The trial, by the beginnings of the ids of its run and of itself
    #[arg(long, value_name = "RUN/TRIAL")]
    pub from: String,
    /// Name of the case [default: the first words that were said]
    #[arg(long, value_name = "NAME")]
    pub id: Option<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Folder to write to
    #[arg(default_value = "evals")]
    pub dir: PathBuf,
    /// The smallest complete workspace instead of the reference one
    #[arg(long, conflicts_with = "from_mcp")]
    pub minimal: bool,
    /// A small workspace around the tools of an MCP server, started with this command
    #[arg(long, value_name = "CMD")]
    pub from_mcp: Option<String>,
    /// Environment variables the server may see, besides PATH and HOME
    #[arg(long, value_name = "NAME", requires = "from_mcp")]
    pub pass_env: Vec<String>,
    /// Write into a folder that already has files; files of the same name are replaced
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// Write the tool lists a model is sent, per profile
    #[command(
        after_help = "Examples:\n  bardo-eval tools export --out tool-lists\n  bardo-eval tools export --profile trader --shape anthropic"
    )]
    Export(ExportArgs),
    /// Take over the tools of an MCP server, pinned by hash
    #[command(
        after_help = "Examples:\n  bardo-eval tools import --mcp 'npx -y @modelcontextprotocol/server-everything'\n  bardo-eval tools import --mcp-url http://127.0.0.1:3001/mcp --name local"
    )]
    Import(ImportArgs),
    /// Say what a server changed since its tools were imported (exit 1 if anything did)
    Diff(ServerArgs),
    /// Rank the tool pairs of a profile that a lexical reader would confuse
    Confusable(ConfusableArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorldCommand {
    /// Print accounts, balances, allowances, positions and limits of a world
    #[command(after_help = "Examples:\n  bardo-eval world show\n  bardo-eval world show --on base --format json")]
    Show(WorldArgs),
    /// Send one transaction from the agent's account and see its effects; nothing is kept
    #[command(
        after_help = "Examples:\n  bardo-eval world send --on base USDC 'transfer(address,uint256)' 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 250000000\n  bardo-eval world send --on base USDC 'approve(address,uint256)' SwapRouter02 max\n  bardo-eval world send --on base --chain anvil USDC 'transfer(address,uint256)' account 1"
    )]
    Send(SendArgs),
    /// Call one tool and see its answer, its events and what changed; nothing is kept
    #[command(
        after_help = "Examples:\n  bardo-eval world call data_get_token_price token=WETH chain_id=8453\n  bardo-eval world call uniswap_execute_swap token_in=USDC token_out=WETH amount=250 chain=base\n  bardo-eval world call wallet_transfer_token --args '{\"token\": \"USDC\", \"recipient\": \"0x70997970C51812dc3A010C7d01b50e0d17dc79C8\", \"amount\": \"5\", \"chain_id\": 8453}' --defence enforce"
    )]
    Call(CallArgs),
    /// Start a world for an agent or a person: its tools over MCP, its chains over JSON-RPC, its pages over HTTP
    #[command(
        after_help = "Examples:\n  bardo-eval world serve --agent trade-executor            # MCP, RPC and pages on a loopback port; ends with Ctrl-C\n  bardo-eval world serve --profile trader --stdio          # MCP on stdin and stdout, for clients that start a command"
    )]
    Serve(ServeArgs),
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum DefenceArg {
    Observe,
    Enforce,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The tool's name or one of its former names
    pub tool: String,
    /// Its arguments as NAME=VALUE; a value that is JSON counts as JSON
    #[arg(value_name = "NAME=VALUE")]
    pub pairs: Vec<String>,
    /// All arguments as one JSON object instead
    #[arg(long, value_name = "JSON", conflicts_with = "pairs")]
    pub args: Option<String>,
    /// Which world
    #[arg(long, value_name = "NAME")]
    pub world: Option<String>,
    /// What runs the chain: embedded, or anvil (started here)
    #[arg(long, value_name = "KIND", default_value = "embedded")]
    pub chain: String,
    /// Whether safety hooks only note what they would stop, or stop it
    #[arg(long, value_name = "MODE", default_value = "observe")]
    pub defence: DefenceArg,
    #[command(flatten)]
    pub foreign: ForeignArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// In the seat of this agent: its tools and its delegations
    #[arg(long, value_name = "NAME", conflicts_with = "profile")]
    pub agent: Option<String>,
    /// With the tools of this profile [default: full]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Which world
    #[arg(long, value_name = "NAME")]
    pub world: Option<String>,
    /// Speak MCP on stdin and stdout instead of opening a port
    #[arg(long)]
    pub stdio: bool,
    /// The port on 127.0.0.1 [default: any that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// What runs the chain: embedded, or anvil (started here)
    #[arg(long, value_name = "KIND", default_value = "embedded")]
    pub chain: String,
    /// Whether safety hooks only note what they would stop, or stop it
    #[arg(long, value_name = "MODE", default_value = "observe")]
    pub defence: DefenceArg,
    #[command(flatten)]
    pub foreign: ForeignArgs,
    /// Write the events here as JSON lines when it ends
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WorldArgs {
    /// Which world
    #[arg(long, value_name = "NAME")]
    pub world: Option<String>,
    /// Which of its chains, by name or id [default: all for show, the first for send]
    #[arg(long, value_name = "CHAIN")]
    pub on: Option<String>,
    /// What runs the chain: embedded, anvil (started here), or anvil:URL (an empty node of yours)
    #[arg(long, value_name = "KIND", default_value = "embedded")]
    pub chain: String,
}

#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    #[command(flatten)]
    pub world: WorldArgs,
    /// Who is called: a name of the world (USDC, SwapRouter02) or an address
    pub to: String,
    /// The function, as in Solidity: 'transfer(address,uint256)'; empty for a plain payment
    #[arg(default_value = "")]
    pub function: String,
    /// Its arguments; names of the world stand for addresses, max for the largest number
    pub args: Vec<String>,
    /// Native coin sent along, in wei
    #[arg(long, default_value = "0")]
    pub value: String,
    /// Send from the operator's key directly instead of through the account's cage
    #[arg(long)]
    pub direct: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Only this profile
    #[arg(long, value_name = "NAME")]
    pub profile: Vec<String>,
    /// Only this shape
    #[arg(long, value_enum)]
    pub shape: Vec<ToolShape>,
    /// Write <profile>.<shape>.json files to this folder instead of one document to standard output
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolShape {
    Anthropic,
    /// Chat Completions
    OpenaiChat,
    /// Responses
    OpenaiResponses,
    Mcp,
}

#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct ServerArgs {
    /// Start this command and talk to it over standard input and output
    #[arg(long, value_name = "CMD", conflicts_with = "mcp_url", required_unless_present = "mcp_url")]
    pub mcp: Option<String>,
    /// Talk to this address (streamable HTTP)
    #[arg(long, value_name = "URL")]
    pub mcp_url: Option<String>,
    /// Environment variables the server may see, besides PATH and HOME
    #[arg(long, value_name = "NAME")]
    pub pass_env: Vec<String>,
    /// How long to wait for the server, in seconds
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub timeout: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    pub server: ServerArgs,
    /// Name of the category and file [default: the server's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ConfusableArgs {
    /// Only this profile
    #[arg(long, value_name = "NAME")]
    pub profile: Vec<String>,
    /// How many pairs per profile
    #[arg(long, default_value_t = 10)]
    pub top: usize,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[arg(value_enum)]
    pub what: Listable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listable {
    Tools,
    Profiles,
    Agents,
    Skills,
    Suites,
    Cases,
    Worlds,
    Subjects,
    Chains,
    Tiers,
    Gates,
    Checks,
    Scorers,
}
