//! `promptfoo`: runs a config of promptfoo.

mod config_models;
mod result_files;
mod stored;

use crate::args::{PromptfooArgs, ReportFormat};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use crate::{env, files};
use config_models::ConfigModels;
use model::Problem;
use promptfoo::{
    EarlierTest, LazyClient, PromptfooSuite, ProviderEnvironment, RangeFilter, RunTotals, SampleFilter, SuiteFiles, SuiteRunner,
    TestFilters, TestRow, promptfoo_exit_code, read_results, read_suite,
};
use regex::Regex;
use result_files::ResultFiles;
use score::assertions::AssertionMode;
use script::{ScriptLimits, ScriptPool};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use stored::StoredConfig;

pub(crate) fn promptfoo(io: &CliOutput, source: &WorkspaceSource, args: &PromptfooArgs) -> ExitCode {
    let compat = args.compat.is_some();
    match PreparedConfig::of(source, args) {
        Ok(prepared) => prepared.run(io, args),
        Err(problems) => {
            for problem in &problems {
                io.print_message(&problem.to_string());
            }
            io.print_message(&format!("{}; nothing was run", model::count(problems.len(), "problem")));
            if compat { ExitCode::from(1) } else { ExitKind::Usage.into() }
        }
    }
}

/// Files beside a config.
pub(super) struct ConfigFolder {
    folder: PathBuf,
}

impl ConfigFolder {
    /// Returns the folder of a config.
    pub(super) fn of(config: &Path) -> Self {
        Self { folder: config.parent().map(Path::to_owned).unwrap_or_default() }
    }
}

impl SuiteFiles for ConfigFolder {
    fn read(&self, path: &str) -> Result<String, String> {
        let missing = |why: &std::io::Error| why.kind() == std::io::ErrorKind::NotFound;
        files::read_tests(&self.folder.join(path))
            .map_err(|why| if missing(&why) { "it does not exist".to_owned() } else { why.to_string() })
    }

    fn glob(&self, pattern: &str) -> Vec<String> {
        files::matching_files(&self.folder, pattern)
    }
}

/// Config and options without mistakes.
struct PreparedConfig {
    name: String,
    suite: PromptfooSuite,
    mode: AssertionMode,
    environment: ProviderEnvironment,
    models: ConfigModels,
    filters: TestFilters,
    vars: Map<String, Value>,
}

impl PreparedConfig {
    fn of(source: &WorkspaceSource, args: &PromptfooArgs) -> Result<Self, Vec<Problem>> {
        let mode = if args.compat.is_some() { AssertionMode::Compat } else { AssertionMode::Strict };
        let name = args.config.display().to_string();
        let wrong = |what: String, remedy: &str| Problem { at: model::Location::new(name.as_str(), 0), what, remedy: remedy.to_owned() };
        let text = files::read_tests(&args.config).map_err(|why| vec![wrong(format!("cannot be read: {why}"), "check the path")])?;
        let folder = ConfigFolder::of(&args.config);
        let mut problems = vec![];
        let mut collect = |result: Result<(), String>| problems.extend(result.err().map(|what| wrong(what, "")));
        let sample = args.filter_sample.map(|count| SampleFilter { count, seed: args.filter_sample_seed });
        let mut filters = TestFilters { first_n: args.filter_first_n, sample, ..TestFilters::default() };
        collect(pattern(args.filter_pattern.as_deref()).map(|found| filters.pattern = found));
        collect(pattern(args.filter_providers.as_deref()).map(|found| filters.providers = found));
        collect(pattern(args.filter_prompts.as_deref()).map(|found| filters.prompts = found));
        collect(range(args.filter_range.as_deref()).map(|found| filters.range = found));
        collect(pairs(&args.filter_metadata, "--filter-metadata").map(|found| filters.metadata = found));
        collect(earlier_results(args.filter_failing.as_deref(), false).map(|found| filters.earlier.extend(found)));
        collect(earlier_results(args.filter_errors_only.as_deref(), true).map(|found| filters.earlier.extend(found)));
        let mut vars = Map::new();
        collect(pairs(&args.var, "--var").map(|found| vars = found.into_iter().map(|(name, value)| (name, value.into())).collect()));
        let mut given = BTreeMap::new();
        collect(env_file(args.env_file.as_deref()).map(|found| given = found));
        let suite = match read_suite(&name, &text, &folder, mode) {
            Ok(suite) => Some(suite),
            Err(mistakes) => {
                problems.extend(mistakes);
                None
            }
        };
        let (Some(mut suite), true) = (suite, problems.is_empty()) else { return Err(problems) };
        suite.env.extend(
            given
                .iter()
                .filter(|(name, _)| !suite.env.contains_key(*name))
                .map(|(name, value)| (name.clone(), value.as_str().into()))
                .collect::<Vec<_>>(),
        );
        let own = own_variables(&suite, &given);
        let mut program_env: BTreeMap<String, String> = env::child_env(&[]).into_iter().collect();
        program_env.extend(own.clone());
        let models = ConfigModels::build(source, args, &suite, &own)?;
        let pool = script_pool(args).map_err(|what| vec![wrong(what, "")])?;
        let environment = ProviderEnvironment { client: LazyClient::default(), pool, env: program_env, models: models.models.clone() };
        Ok(Self { name, suite, mode, environment, models, filters, vars })
    }

    fn run(&self, io: &CliOutput, args: &PromptfooArgs) -> ExitCode {
        let runner = SuiteRunner {
            suite: &self.suite,
            mode: self.mode,
            environment: &self.environment,
            filters: self.filters.clone(),
            concurrency: args.max_concurrency.map(|n| n as usize),
            repeat: args.repeat.map(|n| n as usize),
            vars: self.vars.clone(),
        };
        let cells = match runner.cells() {
            Ok(cells) => cells,
            Err(why) => return self.incomplete(io, &why),
        };
        if cells.is_empty() && self.mode == AssertionMode::Strict {
            return self.incomplete(io, "no test was selected");
        }
        let mut stored = match StoredConfig::open(args, &self.name, &cells, &self.models) {
            Ok(stored) => stored,
            Err(why) => {
                io.print_message(&why.to_string());
                return if self.mode == AssertionMode::Compat { ExitCode::from(1) } else { ExitKind::Usage.into() };
            }
        };
        let mut outputs = match ResultFiles::open(io, &self.suite, &self.models.secrets) {
            Ok(outputs) => outputs,
            Err(why) => return self.incomplete(io, &why),
        };
        let done = super::block_on_one_thread(async {
            let write = |row: &TestRow| {
                let row = self.models.redacted(row);
                stored.add(&row);
                outputs.row(&row)
            };
            tokio::select! {
                done = runner.run(cells, write) => done,
                _ = crate::signals::stop_requested() => Err("interrupted".to_owned()),
            }
        });
        let left = stored.finish(args);
        let totals = match done.map_err(|why| why.to_string()).and_then(|totals| totals) {
            Ok(totals) => totals,
            Err(why) => {
                left.iter().for_each(|line| io.print_message(line));
                return self.incomplete(io, &why);
            }
        };
        let listed = std::mem::take(&mut outputs.listed);
        if let Err(why) = outputs.end(&self.suite, &totals) {
            return self.incomplete(io, &why);
        }
        if io.format == ReportFormat::Text || io.output_file().is_some() {
            listed.iter().for_each(|line| io.print_message(line));
            io.print_message(&summary(&totals, listed.len()));
            left.iter().chain(&self.models.spending()).for_each(|line| io.print_message(line));
        }
        match &totals.fault {
            Some(why) if totals.failed == 0 || self.mode == AssertionMode::Compat => self.incomplete(io, why),
            Some(why) => {
                io.print_message(why);
                self.exit(&totals)
            }
            None => self.exit(&totals),
        }
    }

    /// Reports why there is no result.
    fn incomplete(&self, io: &CliOutput, why: &str) -> ExitCode {
        io.print_message(why);
        if self.mode == AssertionMode::Compat { ExitCode::from(1) } else { ExitKind::Incomplete.into() }
    }

    fn exit(&self, totals: &RunTotals) -> ExitCode {
        match self.mode {
            AssertionMode::Compat => promptfoo_exit_code(totals, env::var).into(),
            AssertionMode::Strict if totals.failed > 0 => ExitKind::Missed.into(),
            AssertionMode::Strict if totals.errors > 0 || totals.total() == 0 => ExitKind::Incomplete.into(),
            AssertionMode::Strict => ExitKind::Clean.into(),
        }
    }
}

fn summary(totals: &RunTotals, listed: usize) -> String {
    let more = (totals.failed + totals.errors).saturating_sub(listed);
    let more = if more > 0 { format!(" ({more} more not shown; -o writes all)") } else { String::new() };
    let seconds = totals.duration_ms as f64 / 1000.0;
    format!(
        "{}: {} passed, {} failed, {} in error, {seconds:.1} s{more}",
        model::count(totals.total(), "test"),
        totals.passed,
        totals.failed,
        totals.errors
    )
}

fn script_pool(args: &PromptfooArgs) -> Result<ScriptPool, String> {
    let program = env::own_program().ok_or("the file of this program is not known, so scripts cannot run")?;
    let limits = ScriptLimits { time_ms: args.script_timeout, ..ScriptLimits::default() };
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    Ok(ScriptPool::new(program, limits, workers))
}

fn pattern(source: Option<&str>) -> Result<Option<Regex>, String> {
    source
        .map(Regex::new)
        .transpose()
        .map_err(|why| format!("the pattern of a filter is not valid: {}", why.to_string().lines().last().unwrap_or_default()))
}

fn range(text: Option<&str>) -> Result<Option<RangeFilter>, String> {
    let Some(text) = text else { return Ok(None) };
    let number = |part: &str, absent| if part.is_empty() { Some(absent) } else { part.parse().ok() };
    let parsed =
        text.split_once(':').and_then(|(start, end)| Some(RangeFilter { start: number(start, 0)?, end: number(end, usize::MAX)? }));
    parsed.map(Some).ok_or_else(|| format!("--filter-range {text} is not START:END"))
}

fn pairs(words: &[String], flag: &str) -> Result<Vec<(String, String)>, String> {
    let split = |word: &String| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    words.iter().map(|word| split(word).ok_or_else(|| format!("{flag} {word} is not NAME=VALUE"))).collect()
}

/// Returns the variables of the config and of `--env-file`.
fn own_variables(suite: &PromptfooSuite, given: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let configured = suite.env.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    configured.chain(given.iter().map(|(name, value)| (name.clone(), value.clone()))).collect()
}

/// Reads the tests of earlier results that did not pass, or were in error.
fn earlier_results(path: Option<&Path>, errors_only: bool) -> Result<Option<Vec<EarlierTest>>, String> {
    let Some(path) = path else { return Ok(None) };
    let text = files::read_tests(path).map_err(|why| format!("{}: {why}", path.display()))?;
    let rows = read_results(&text).map_err(|why| format!("{}: {why}", path.display()))?;
    let wanted = rows.iter().filter(|row| if errors_only { row.is_error() } else { !row.success });
    Ok(Some(wanted.map(promptfoo::ResultRow::test).collect()))
}

/// Reads NAME=VALUE lines; comments and empty lines are skipped, quotes around a value are removed.
fn env_file(path: Option<&Path>) -> Result<BTreeMap<String, String>, String> {
    let Some(path) = path else { return Ok(BTreeMap::new()) };
    let text = files::read_file(path).map_err(|why| format!("{}: {why}", path.display()))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let unquoted = |value: &str| {
        let value = value.trim();
        let inner = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
        inner.unwrap_or(value).to_owned()
    };
    lines
        .map(|line| line.strip_prefix("export ").unwrap_or(line))
        .map(|line| line.split_once('=').map(|(name, value)| (name.trim().to_owned(), unquoted(value))))
        .collect::<Option<_>>()
        .ok_or_else(|| format!("{}: a line is not NAME=VALUE", path.display()))
}
