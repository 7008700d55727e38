//! `promptfoo`: runs a config of promptfoo.

use crate::args::{PromptfooArgs, ReportFormat};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::{env, files};
use model::Problem;
use promptfoo::{
    JsonResults, JunitCases, PromptfooSuite, ProviderEnvironment, RangeFilter, RunTotals, SuiteFiles, SuiteRunner, TestFilters, TestRow,
    junit, read_suite, row_json,
};
use regex::Regex;
use score::assertions::AssertionMode;
use script::{ScriptLimits, ScriptPool};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exit of promptfoo for failed tests.
const TESTS_FAILED: u8 = 100;
/// Failed tests that are listed.
const MAX_LISTED: usize = 50;

pub(crate) fn promptfoo(io: &CliOutput, args: &PromptfooArgs) -> ExitCode {
    let compat = args.compat.is_some();
    match Prepared::of(args) {
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
struct ConfigFolder {
    folder: PathBuf,
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
struct Prepared {
    suite: PromptfooSuite,
    mode: AssertionMode,
    environment: ProviderEnvironment,
    filters: TestFilters,
    vars: Map<String, Value>,
}

impl Prepared {
    fn of(args: &PromptfooArgs) -> Result<Self, Vec<Problem>> {
        let mode = if args.compat.is_some() { AssertionMode::Compat } else { AssertionMode::Strict };
        let name = args.config.display().to_string();
        let wrong = |what: String, remedy: &str| Problem { at: model::Location::new(name.as_str(), 0), what, remedy: remedy.to_owned() };
        let text = files::read_tests(&args.config).map_err(|why| vec![wrong(format!("cannot be read: {why}"), "check the path")])?;
        let folder = ConfigFolder { folder: args.config.parent().map(Path::to_owned).unwrap_or_default() };
        let mut problems = vec![];
        let mut collect = |result: Result<(), String>| problems.extend(result.err().map(|what| wrong(what, "")));
        let mut filters = TestFilters { first_n: args.filter_first_n, ..TestFilters::default() };
        collect(pattern(args.filter_pattern.as_deref()).map(|found| filters.pattern = found));
        collect(pattern(args.filter_providers.as_deref()).map(|found| filters.providers = found));
        collect(pattern(args.filter_prompts.as_deref()).map(|found| filters.prompts = found));
        collect(range(args.filter_range.as_deref()).map(|found| filters.range = found));
        collect(pairs(&args.filter_metadata, "--filter-metadata").map(|found| filters.metadata = found));
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
        let environment = environment(args, &suite, &given).map_err(|what| vec![wrong(what, "")])?;
        Ok(Self { suite, mode, environment, filters, vars })
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
        let mut outputs = match ResultFiles::open(io, &self.suite) {
            Ok(outputs) => outputs,
            Err(why) => return self.incomplete(io, &why),
        };
        let done = super::block_on(runner.run(cells, |row| outputs.row(row)));
        let totals = match done.map_err(|why| why.to_string()).and_then(|totals| totals) {
            Ok(totals) => totals,
            Err(why) => return self.incomplete(io, &why),
        };
        let listed = std::mem::take(&mut outputs.listed);
        if let Err(why) = outputs.end(&self.suite, &totals) {
            return self.incomplete(io, &why);
        }
        if io.format == ReportFormat::Text || io.output_file().is_some() {
            listed.iter().for_each(|line| io.print_message(line));
            io.print_message(&summary(&totals, listed.len()));
        }
        self.exit(&totals)
    }

    /// Reports why there is no result.
    fn incomplete(&self, io: &CliOutput, why: &str) -> ExitCode {
        io.print_message(why);
        if self.mode == AssertionMode::Compat { ExitCode::from(1) } else { ExitKind::Incomplete.into() }
    }

    fn exit(&self, totals: &RunTotals) -> ExitCode {
        match self.mode {
            AssertionMode::Compat => {
                let number = |name: &str| env::var(name).and_then(|text| text.trim().parse::<f64>().ok());
                let wanted = number("PROMPTFOO_PASS_RATE_THRESHOLD").unwrap_or(100.0);
                let rate = totals.passed as f64 / totals.total() as f64 * 100.0;
                // Without tests the rate is not a number, which is not below anything.
                if rate < wanted {
                    ExitCode::from(number("PROMPTFOO_FAILED_TEST_EXIT_CODE").map_or(TESTS_FAILED, |code| code as u8))
                } else {
                    ExitCode::SUCCESS
                }
            }
            AssertionMode::Strict if totals.failed > 0 => ExitKind::Missed.into(),
            AssertionMode::Strict if totals.errors > 0 || totals.total() == 0 => ExitKind::Incomplete.into(),
            AssertionMode::Strict => ExitKind::Clean.into(),
        }
    }
}

/// Result files, written while the run goes on.
struct ResultFiles {
    json: Vec<JsonResults<Box<dyn Write>>>,
    lines: Vec<Box<dyn Write>>,
    junit: Vec<PathBuf>,
    cases: JunitCases,
    listed: Vec<String>,
}

impl ResultFiles {
    fn open(io: &CliOutput, suite: &PromptfooSuite) -> Result<Self, String> {
        let mut found = Self { json: vec![], lines: vec![], junit: vec![], cases: JunitCases::default(), listed: vec![] };
        let (id, timestamp) = (format!("eval-{}", now().replace([':', '.'], "")), now());
        let mut paths: Vec<PathBuf> = suite.output_paths.iter().map(PathBuf::from).collect();
        paths.extend(io.output_file().map(Path::to_owned));
        for path in paths {
            let open = || {
                files::create(&path)
                    .map(|file| Box::new(file) as Box<dyn Write>)
                    .map_err(|why| format!("{} cannot be written: {why}", path.display()))
            };
            match path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).as_deref() {
                Some("json") => found.json.push(JsonResults::begin(open()?, &id, &timestamp).map_err(|why| why.to_string())?),
                Some("jsonl") => found.lines.push(open()?),
                Some("xml") => found.junit.push(path),
                _ => return Err(format!("{}: results are written as .json, .jsonl or .xml", path.display())),
            }
        }
        if io.format == ReportFormat::Json && io.output_file().is_none() {
            let out: Box<dyn Write> = Box::new(std::io::BufWriter::new(std::io::stdout()));
            found.json.push(JsonResults::begin(out, &id, &timestamp).map_err(|why| why.to_string())?);
        }
        Ok(found)
    }

    fn row(&mut self, row: &TestRow) -> Result<(), String> {
        for json in &mut self.json {
            json.row(row).map_err(|why| why.to_string())?;
        }
        for lines in &mut self.lines {
            writeln!(lines, "{}", row_json(row, "eval")).map_err(|why| why.to_string())?;
        }
        if !self.junit.is_empty() {
            self.cases.row(row);
        }
        if !row.success && self.listed.len() < MAX_LISTED {
            let name = row.cell.test.description.clone().unwrap_or_else(|| format!("test {}", row.cell.test_index + 1));
            let kind = if row.error.is_some() { "error" } else { "failed" };
            let reason: String = row.reason.chars().take(300).collect();
            self.listed.push(format!("{kind}  {name} ({}): {reason}", row.cell.provider.id));
        }
        Ok(())
    }

    fn end(mut self, suite: &PromptfooSuite, totals: &RunTotals) -> Result<(), String> {
        for json in self.json.drain(..) {
            json.end(suite, totals).map_err(|why| why.to_string())?;
        }
        for mut lines in self.lines.drain(..) {
            lines.flush().map_err(|why| why.to_string())?;
        }
        let document = junit(&self.cases, suite.description.as_deref().unwrap_or("promptfoo"), totals);
        for path in &self.junit {
            files::write(path, &document).map_err(|why| format!("{} cannot be written: {why}", path.display()))?;
        }
        Ok(())
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

fn environment(args: &PromptfooArgs, suite: &PromptfooSuite, given: &BTreeMap<String, String>) -> Result<ProviderEnvironment, String> {
    let configured = suite.env.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    let own: BTreeMap<String, String> = configured.chain(given.iter().map(|(name, value)| (name.clone(), value.clone()))).collect();
    let mut program_env: BTreeMap<String, String> = env::child_env(&[]).into_iter().collect();
    program_env.extend(own.clone());
    let mut names = vec!["OPENAI_API_KEY".to_owned(), "ANTHROPIC_API_KEY".to_owned(), "OLLAMA_BASE_URL".to_owned()];
    names.extend(suite.providers.iter().filter_map(|provider| Some(provider.config.get("apiKeyEnvar")?.as_str()?.to_owned())));
    let mut keys: BTreeMap<String, String> = names.into_iter().filter_map(|name| env::var(&name).map(|value| (name, value))).collect();
    keys.extend(own);
    let program = env::own_program().ok_or("the file of this program is not known, so scripts cannot run")?;
    let limits = ScriptLimits { time_ms: args.script_timeout, ..ScriptLimits::default() };
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    let client = reqwest::Client::builder().build().map_err(|why| why.to_string())?;
    Ok(ProviderEnvironment { client, pool: ScriptPool::new(program, limits, workers), env: program_env, keys })
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

#[expect(clippy::disallowed_methods, reason = "results are stamped with the time of the run")]
fn now() -> String {
    humantime::format_rfc3339_millis(std::time::SystemTime::now()).to_string()
}
