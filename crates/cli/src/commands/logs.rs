//! `score` for logs of other frameworks.

use crate::args::{ReportFormat, ScoreArgs};
use crate::exit::ExitKind;
use crate::files;
use crate::io::CliOutput;
use crate::report;
use crate::workspace_source::WorkspaceSource;
use campaign::{LogGates, LogScorer, LogSummary};
use foreign::{AttackQuestion, LogEntry, LogInput, read_log};
use model::{RunClaim, UserError};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Recordings between two lines of progress.
const PROGRESS_STEP: u64 = 500;

/// Returns whether the arguments name logs and not a stored run: a format is given, or a path exists or is a pattern.
pub(super) fn names_logs(args: &ScoreArgs) -> bool {
    let is_path = |what: &String| what.contains(['*', '?', '/', '.']) || files::exists(Path::new(what));
    args.logs.from.is_some() || args.what.iter().any(is_path)
}

pub(super) fn score_logs(io: &CliOutput, source: &WorkspaceSource, args: &ScoreArgs) -> ExitKind {
    let has_format = matches!(io.format, ReportFormat::Text | ReportFormat::Json);
    if !has_format || !args.reports.reports.is_empty() {
        let error = UserError::new("logs are reported as text or JSON only", "use --format text or json, and no --report");
        return report::print_refusal(io, "score", &[error]);
    }
    let paths = match find_all(&args.what) {
        Ok(paths) => paths,
        Err(errors) => return report::print_refusal(io, "score", &errors),
    };
    // Without a workspace of its own, a log is not scored against one that happens to be built in.
    let workspace = match io.has_chosen_workspace().then(|| super::open_checked_workspace(io, source, "score")).transpose() {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let question = AttackQuestion { canaries: args.logs.canary.clone(), forbidden: args.logs.forbidden.clone() };
    let demands = &args.demands;
    let claim = RunClaim {
        tier: args.logs.tier,
        confidence: demands.confidence,
        rule_out: demands.rule_out,
        trust_claims: demands.trust_claims.unwrap_or_default(),
    };
    let gates = workspace.as_ref().map(|workspace| LogGates::new(workspace, &claim));
    let scorer = LogScorer::new(workspace.as_ref(), question, claim);
    let mut reading = LogFileReader { io, args, scorer, summary: LogSummary::default(), gates, total: 0, done: 0 };
    reading.total = paths.iter().map(|path| files::file_size(path)).sum();
    let errors: Vec<UserError> = paths.iter().filter_map(|path| reading.read_file(path).err()).collect();
    reading.close_progress();
    let LogFileReader { summary, gates, .. } = reading;
    if summary.recordings == 0 {
        let problems = summary.problems.iter().map(|problem| UserError::new(problem.to_string(), problem.remedy.clone()));
        let all: Vec<UserError> = errors.into_iter().chain(problems).collect();
        let none = [UserError::new("the logs have no recordings", "check the paths and the format")];
        return report::print_refusal(io, "score", if all.is_empty() { &none } else { &all });
    }
    let scored = report::ScoredLogs { summary: &summary, verdicts: gates.and_then(LogGates::finish), errors: &errors };
    report::print_logs(io, &scored, workspace.as_ref().map(|_| source))
}

/// Returns what to do about logs that were not found. Errors of no file are of bounds.
fn remedy(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::Other { "name a narrower folder or pattern" } else { "check the path" }
}

/// Returns the logs that the paths name, each once, sorted.
fn find_all(paths: &[String]) -> Result<Vec<PathBuf>, Vec<UserError>> {
    if paths.is_empty() {
        return Err(vec![UserError::new("no logs are named", "name files, folders or a pattern before --from")]);
    }
    let (mut found, mut errors) = (vec![], vec![]);
    for path in paths {
        match files::find_logs(path) {
            Ok(logs) => found.extend(logs),
            Err(error) => errors.push(UserError::new(format!("{path} cannot be read: {error}"), remedy(&error))),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut by_file = BTreeMap::new();
    for path in found {
        by_file.entry(files::resolved(&path)).or_insert(path);
    }
    Ok(by_file.into_values().collect())
}

struct LogFileReader<'a> {
    io: &'a CliOutput,
    args: &'a ScoreArgs,
    scorer: LogScorer<'a>,
    summary: LogSummary,
    gates: Option<LogGates<'a>>,
    /// Bytes of all files, and of those that were read.
    total: u64,
    done: u64,
}

impl LogFileReader<'_> {
    /// Reads a file to its end, or to the first mistake after which nothing can be read.
    fn read_file(&mut self, path: &Path) -> Result<(), UserError> {
        let name = path.display().to_string();
        let mut source =
            files::open_log(path).map_err(|error| UserError::new(format!("{name} cannot be read: {error}"), "check the path"))?;
        let (scorer, summary, gates, io) = (&self.scorer, &mut self.summary, &mut self.gates, self.io);
        let (done, total) = (self.done, self.total);
        let input = LogInput { file: &name, format: self.args.logs.from };
        let read = read_log(&mut source, input, &mut |entry| match entry {
            LogEntry::Recording(recording) => {
                let scored = scorer.score(&recording);
                if let Some(gates) = gates {
                    gates.add(&recording, &scored);
                }
                summary.add(&recording, scored);
                if summary.recordings.is_multiple_of(PROGRESS_STEP) && io.has_message_terminal() {
                    io.redraw_message(&progress_line(summary.recordings, done, total, &name));
                }
            }
            LogEntry::Problem(problem) => summary.add_problem(problem),
        });
        self.done += files::file_size(path);
        match read {
            Ok(format) => self.summary.add_file(format),
            Err(problem) => {
                self.summary.add_file(None);
                self.summary.add_problem(problem);
            }
        }
        Ok(())
    }

    fn close_progress(&self) {
        if self.io.has_message_terminal() {
            self.io.redraw_message("");
        }
    }
}

fn progress_line(recordings: u64, done: u64, total: u64, name: &str) -> String {
    let megabytes = |bytes: u64| bytes / 1_000_000;
    format!("{}, {} of {} MB before {name}", model::count(recordings, "recording"), megabytes(done), megabytes(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedy_tells_wrong_paths_from_wide_ones() {
        let folder = tempfile::tempdir().unwrap();
        let remedy_of = |path: &str| find_all(&[format!("{}{path}", folder.path().display())]).unwrap_err()[0].remedy.clone();
        assert_eq!(remedy_of("/missing.json"), "check the path");
        std::fs::create_dir_all(folder.path().join("d/".repeat(20))).unwrap();
        assert_eq!(remedy_of("/**/*.json"), "name a narrower folder or pattern");
    }

    #[test]
    fn log_that_is_named_twice_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| format!("{}/{name}", folder.path().display());
        std::fs::create_dir_all(path("in/deep")).unwrap();
        for name in ["a.json", "in/deep/b.json"] {
            std::fs::File::create(path(name)).unwrap();
        }
        let both = [path("a.json"), path("in/deep/b.json")].map(PathBuf::from);
        for named in
            [vec![path("**/**/*.json")], vec![path(""), path("in/deep/b.json")], vec![path("in/../a.json"), path("in"), path("a.json")]]
        {
            let found: Vec<PathBuf> = find_all(&named).unwrap().iter().map(|path| files::resolved(path)).collect();
            assert_eq!(found, both.clone().map(|path| files::resolved(&path)), "{named:?}");
        }
    }
}
