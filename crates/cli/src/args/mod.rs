//! Command-line arguments.

mod chat;
mod ci;
mod compare;
mod evidence;
mod formats;
mod former_flags;
mod general_help;
mod golden;
mod guard;
mod list;
mod logs;
mod production;
mod promptfoo;
mod red_team;
mod report_files;
mod run;
mod selftest;
mod shrink;
mod store;
mod stored_runs;
mod tools;
mod usage_hint;
mod view;
mod work;
mod world;

pub(crate) use chat::{CalibrateArgs, CaseCommand, CaseNewArgs, ChatArgs, JudgeCommand};
pub(crate) use ci::{CiCommand, CiGitlabArgs, CiPipelineArgs, CiPlanArgs, CiVerdictArgs};
pub(crate) use compare::{CompareArgs, FailOn};
pub(crate) use formats::{command_line, parse_command_line};
pub(crate) use former_flags::former_flag_warnings;
pub(crate) use general_help::HelpTrade;
pub(crate) use golden::{GoldenCommand, GoldenDiffArgs, GoldenRunArgs};
pub(crate) use guard::{GuardCommand, GuardEvalArgs, SplitArg};
pub(crate) use list::{ListArgs, ListTarget};
pub(crate) use production::{CollectArgs, ReferenceArgs, TracesArgs, WatchArgs};
pub(crate) use promptfoo::{ConfigImport, ConfigImportArgs, PromptfooArgs};
pub(crate) use red_team::RedTeamArgs;
pub(crate) use report_files::{ReportFileArgs, ReportKind};
pub(crate) use run::{DefenceArg, ImportedToolArgs, RunArgs, SmokeArgs};
pub(crate) use selftest::SelftestArgs;
pub(crate) use shrink::ShrinkArgs;
pub(crate) use store::{StoreArgs, StoreCommand, StoreCopyArgs};
pub(crate) use stored_runs::{CostArgs, RunExportArgs, RunExportFormat, RunsCommand, ScoreArgs, ShowArgs};
pub(crate) use tools::{ConfusableArgs, ExportArgs, ImportArgs, InitArgs, ServerArgs, ToolShape, ToolsCommand};
pub(crate) use usage_hint::usage_hint;
pub(crate) use view::ViewArgs;
pub(crate) use work::WorkArgs;
pub(crate) use world::{CallArgs, SendArgs, ServeArgs, WorldArgs, WorldCommand};

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

const GLOBAL_HEADING: &str = "Options of all commands";
const STYLES: Styles = Styles::styled().header(AnsiColor::Green.on_default().bold()).usage(AnsiColor::Green.on_default().bold());

/// Evaluates LLM-driven DeFi agents before real money is at stake.
#[derive(Debug, Parser)]
#[command(name = "bardo-eval", version, styles = STYLES, max_term_width = 120, after_help = "\
Examples:
  bardo-eval smoke                        check the workspace in ./evals, or the embedded one
  bardo-eval run --subject reference      run every case and judge the gates
  bardo-eval show done_with_link          show a case of the last run, event by event
  bardo-eval init my-evals --minimal      write a small workspace to start from
  bardo-eval explain case_pass            explain a check, scorer or gate

Exit codes: 0 clean, 1 gate missed or check failed, 2 invalid arguments or files (nothing was run), 3 incomplete.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: CliCommand,
}

#[derive(Debug, Args)]
#[command(next_help_heading = GLOBAL_HEADING)]
pub(crate) struct GlobalArgs {
    /// Workspace folder [default: ./evals if it exists, else the current folder if it is a workspace, else the embedded one]
    #[arg(long, short = 'w', global = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Use the embedded reference workspace even if there is another one
    #[arg(long, global = true, conflicts_with = "workspace")]
    pub embedded: bool,
    /// Output format; each command shows its own in its help
    #[arg(long, global = true, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
    /// Write the result to a file instead of standard output
    #[arg(long, short = 'o', global = true, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Coloured output
    #[arg(long, global = true, value_enum, default_value_t = ColorMode::Auto)]
    pub color: ColorMode,
    /// Show complete lists and texts instead of the beginning
    #[arg(long, short = 'v', global = true)]
    pub verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Text,
    Json,
    Junit,
    Markdown,
    /// Annotations for GitHub Actions, at the file and line of each finding
    Github,
    /// Safety findings for code scanning
    Sarif,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorMode {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Tier 1: run all checks that need no model
    #[command(after_help = "Example:\n  bardo-eval smoke --format junit -o smoke.xml")]
    Smoke(SmokeArgs),
    /// Check that every gate can fail: play the reference and seeded faults, and show which gate each fault trips
    #[command(
        after_help = "Examples:\n  bardo-eval selftest                     every fault, without a model\n  bardo-eval selftest --quick             the gates without tolerance\n  bardo-eval selftest -w my-evals --format markdown\n  bardo-eval run --subject fault:wrong_tool@1 --suite tool_selection"
    )]
    Selftest(SelftestArgs),
    /// Run cases against a subject and judge the gates
    #[command(
        after_help = "Examples:\n  bardo-eval run                          the lexical baseline: no key, no network\n  bardo-eval run --subject reference\n  bardo-eval run --suite behavior --subject reference --format json\n  bardo-eval run --suite behavior --dry-run\n  bardo-eval run --subject 'process:python3 agent.py' --limit 5 --timeout 30 --max-fail 3"
    )]
    Run(Box<RunArgs>),
    /// Play trials of runs that were started with `run --workers 0`, on any machine with the same store
    #[command(
        after_help = "Examples:\n  bardo-eval run --store postgres://evals@db/evals --workers 0 --subject claude-sonnet --budget 50\n  bardo-eval work --store postgres://evals@db/evals                  on each machine\n  bardo-eval work --store postgres://evals@db/evals --once --concurrency 32\n\nSIGTERM ends the worker after the trials in flight. Exit codes: 0 stopped or nothing left, 2 refused (another version, workspace or a store that is no PostgreSQL database), 3 the store failed."
    )]
    Work(WorkArgs),
    /// Run a config of promptfoo; `run CONFIG.yaml` is the same
    #[command(
        after_help = "Examples:\n  bardo-eval run promptfooconfig.yaml -o results.json\n  bardo-eval run promptfooconfig.yaml --compat promptfoo -j 16 -o junit.xml\n  bardo-eval run promptfooconfig.yaml --filter-pattern swap --repeat 3 --var chain=base\n\nExit codes: 0 all tests passed, 1 a test failed, 2 mistakes in the config (nothing was run), 3 a test is in error or none was selected. With --compat promptfoo: 0, 100 for failed tests, 1 for mistakes."
    )]
    Promptfoo(PromptfooArgs),
    /// Turn configs of other frameworks into workspaces
    #[command(subcommand)]
    Import(ConfigImport),
    /// Attack a subject through every channel and judge what the attacks reached
    #[command(
        name = "redteam",
        after_help = "Examples:\n  bardo-eval redteam --subject reference          every attack once; must end clean\n  bardo-eval redteam --subject gullible           an agent that obeys; must fail\n  bardo-eval redteam --probe redirect_proceeds --channel tool_result --seeds 3\n  bardo-eval redteam --asi asi01 --subject claude-sonnet --dry-run"
    )]
    RedTeam(Box<RedTeamArgs>),
    /// Make a failed case or a successful attack as small as possible, and print it as a file for `run --case-file`
    #[command(
        after_help = "Examples:\n  bardo-eval shrink redirect_proceeds.tool_result.many_shot.1 --subject gullible -o reproducer.yaml\n  bardo-eval run --case-file reproducer.yaml --subject gullible\n  bardo-eval shrink done_with_link --run 8d41f0\n  bardo-eval redteam --subject my-agent --shrink reproducers\n\nExit codes: 0 a reproducer was printed, 2 invalid arguments, 3 the case did not fail or a trial was aborted."
    )]
    Shrink(ShrinkArgs),
    /// Show a stored trial event by event, with its scores and their evidence
    #[command(
        after_help = "Examples:\n  bardo-eval show done_with_link\n  bardo-eval show 3f2a91c07b5e --run 8d41f0 --verbose\n  bardo-eval show --diff 3f2a91c07b5e c7714be09a12\n  bardo-eval show done_with_link --diff 8d41f0 52ab9e"
    )]
    Show(ShowArgs),
    /// Show stored runs in a browser, on this machine only
    #[command(
        after_help = "Examples:\n  bardo-eval view                         all stored runs; prints an address that works once\n  bardo-eval view 8d41f0 --open           one run, in the default browser\n  bardo-eval run --report html=run.html   a page of one run as a file"
    )]
    View(ViewArgs),
    /// List, show and remove stored runs
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Copy runs between stores
    #[command(subcommand)]
    Store(StoreCommand),
    /// Rescore a stored run with the current scorers and gates, or score logs of other frameworks; nothing is run
    #[command(
        after_help = "Examples:\n  bardo-eval score\n  bardo-eval score 8d41f0 --confidence 0.95 --rule-out 0.05\n  bardo-eval score 8d41f0 --workspace changed-evals\n  bardo-eval score results/airline.json --from tau2\n  bardo-eval score 'runs/**/*.json' --forbidden 'send_money(recipient=US133000000121212121212)'\n  bardo-eval score traces.jsonl --workspace evals"
    )]
    Score(Box<ScoreArgs>),
    /// Compare two runs, or a run with the golden baselines, paired by case
    #[command(
        after_help = "Examples:\n  bardo-eval compare 8d41f0                       that run with the last one\n  bardo-eval compare 8d41f0 52ab9e --fail-on any\n  bardo-eval compare golden --format markdown     the last run with the baselines\n  bardo-eval compare 8d41f0@baseline 8d41f0@claude-sonnet\n\nExit codes: 0 no regression, 1 regression, 2 invalid arguments, 3 not enough data or cases without a result."
    )]
    Compare(CompareArgs),
    /// Export a stored run for pandas, DuckDB, trace viewers and Inspect
    #[command(
        after_help = "Examples:\n  bardo-eval export --to csv -o run.csv\n  bardo-eval export 8d41f0 --to otlp -o traces.jsonl\n  bardo-eval export 8d41f0 --to inspect -o logs/run.json\n  bardo-eval export --to jsonl | gzip > run.jsonl.gz"
    )]
    Export(RunExportArgs),
    /// Show the tiers that a CI event runs, or write a file for GitHub or GitLab that runs them
    #[command(
        subcommand,
        after_help = "Examples:\n  git diff --name-only --no-renames main... | bardo-eval ci plan --event pull_request --changed -\n  bardo-eval ci github --subject baseline\n  bardo-eval ci gitlab --subject 'process:python3 agent.py'"
    )]
    Ci(CiCommand),
    /// Show the cost of stored runs by tier, model and suite, and what was saved
    #[command(after_help = "Examples:\n  bardo-eval cost\n  bardo-eval cost --since 2026-11-01 --format json")]
    Cost(CostArgs),
    /// Store a run as the baseline and compare later runs with it
    #[command(
        subcommand,
        after_help = "Examples:\n  bardo-eval golden status\n  bardo-eval golden diff --run-first\n  bardo-eval golden update 8d41f0"
    )]
    Golden(GoldenCommand),
    /// Chat with a subject in a world, one line per turn, and watch what it does
    #[command(
        after_help = "Examples:\n  bardo-eval chat --agent support --subject 'process:python3 agent.py'\n  bardo-eval chat --case done_with_link --subject claude-sonnet\n  echo 'What do I have?' | bardo-eval chat --profile data --format json"
    )]
    Chat(ChatArgs),
    /// Tier 5: receive production traces over OTLP, score a sample of them and raise alerts
    #[command(
        after_help = "Examples:\n  bardo-eval collect\n  bardo-eval collect --listen 127.0.0.1:4318 --webhook https://hooks.example/alerts\n  bardo-eval collect --listen 0.0.0.0:4318 --tls-cert cert.pem --tls-key key.pem\n\nEnvironment: BARDO_EVAL_COLLECT_TOKEN is the bearer token of clients, BARDO_EVAL_WEBHOOK_SECRET signs alerts, BARDO_EVAL_SAMPLING_KEY hides which traces are sampled."
    )]
    Collect(CollectArgs),
    /// Tier 5: judge the gates on collected traces, and show drift, cost and latency
    #[command(
        after_help = "Examples:\n  bardo-eval watch                        live, until Ctrl-C\n  bardo-eval watch --once --window 1h     once, for cron\n  bardo-eval watch --once --format markdown -o report.md\n\nExit codes of --once: 0 all gates met, 1 a gate missed or a change found in the window, 2 invalid arguments, 3 no evidence."
    )]
    Watch(WatchArgs),
    /// Draft cases from stored trials or production traces
    #[command(subcommand)]
    Case(CaseCommand),
    /// Measure guards against injected text
    #[command(subcommand)]
    Guard(GuardCommand),
    /// Calibrate the LLM judge
    #[command(subcommand)]
    Judge(JudgeCommand),
    /// Create a workspace
    #[command(
        after_help = "Examples:\n  bardo-eval init\n  bardo-eval init small --minimal\n  bardo-eval init mine --from-mcp 'npx -y @modelcontextprotocol/server-everything'"
    )]
    Init(InitArgs),
    /// Export, import and compare tool lists
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// Inspect a world, call its tools and serve it to an agent
    #[command(subcommand)]
    World(WorldCommand),
    /// List parts of the workspace, checks or scorers
    #[command(
        after_help = "Examples:\n  bardo-eval list suites\n  bardo-eval list cases --suite behavior --tag refusal --verbose\n  bardo-eval list cases --format json"
    )]
    List(ListArgs),
    /// Explain a check, scorer, gate, tool or fault
    Explain {
        /// Id, as printed in reports
        name: String,
    },
    /// Check the local setup: workspace, subjects, API keys, programs and store
    Doctor(StoreArgs),
    /// Print a shell completion script
    #[command(after_help = "Example:\n  bardo-eval completions bash > ~/.local/share/bash-completion/completions/bardo-eval")]
    Completions { shell: clap_complete::Shell },
    /// Print the manual page, with every command and flag
    #[command(after_help = "Example:\n  bardo-eval man > ~/.local/share/man/man1/bardo-eval.1")]
    Man,
}
