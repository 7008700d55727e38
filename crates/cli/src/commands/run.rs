//! From files to verdicts.

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::files;
use crate::io::Io;
use crate::open::Source;
use crate::report::{self, Shown};
use campaign::{Request, Selection, execute, plan, select};
use model::{Claim, RunRecord, SubjectFile, Transcript, Trial, Workspace, did_you_mean};
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use store::Store;

pub(crate) fn run(io: &Io, source: &Source, args: &RunArgs) -> Exit {
    let workspace = match super::open_to_judge(io, source, "run") {
        Ok(workspace) => Arc::new(workspace),
        Err(exit) => return exit,
    };
    let (cases, subjects) = match (select(&workspace, &selection(args)), subjects(&workspace, &args.subject)) {
        (Ok(cases), Ok(subjects)) => (cases, subjects),
        (cases, subjects) => {
            let unknown = cases.err().unwrap_or_default().iter().map(ToString::to_string).collect::<Vec<_>>();
            let lines = [unknown, subjects.err().unwrap_or_default()].concat();
            return report::refused(io, "run", &lines);
        }
    };
    if cases.is_empty() {
        io.say("no case is left after these filters; nothing was run");
        return Exit::Incomplete;
    }
    let plan = plan(&workspace, &cases, &subjects, args.trials, args.seed);
    if args.dry_run {
        return io.result(&report::plan(io, &plan), Exit::Clean);
    }
    let claim = Claim {
        tier: args.tier,
        confidence: args.demands.confidence,
        rule_out: args.demands.rule_out,
        trust_claims: args.demands.trust_claims.unwrap_or_default(),
    };
    let concurrency = usize::try_from(args.concurrency).unwrap_or(1);
    let chains = match super::world::kind::of_world(&args.chain) {
        Ok(chains) => chains,
        Err(why) => return report::refused(io, "run", &[why]),
    };
    let defence = super::world::kind::defence(args.defence);
    let request = Request { workspace: workspace.clone(), plan, claim, concurrency, chains, defence, subjects };
    let mut progress = Progress::new(io, request.plan.trials.len());
    let record = match super::block_on(execute(request, &mut progress)) {
        Ok(record) => record,
        Err(error) => {
            io.say(&format!("the run could not be started: {error}"));
            return Exit::Incomplete;
        }
    };
    progress.clear();
    let kept = if args.no_store { Exit::Clean } else { keep(io, &record, &args.store.store) };
    let kept_as = (!args.no_store && kept == Exit::Clean).then(|| args.store.show(record.hash().short()));
    let exit = worst(Exit::of(&record), kept);
    io.result(&report::run(io, &Shown { command: "run", source, workspace: &workspace, record: &record, kept_as, exit }), exit)
}

fn selection(args: &RunArgs) -> Selection {
    Selection {
        tier: args.tier,
        suites: args.suite.clone(),
        profiles: args.profile.clone(),
        agents: args.agent.clone(),
        skills: args.skill.clone(),
        cases: args.case.clone(),
        tags: args.tag.clone(),
    }
}

fn subjects<'w>(workspace: &'w Workspace, names: &[String]) -> Result<Vec<&'w SubjectFile>, Vec<String>> {
    let mut found: Vec<&SubjectFile> = vec![];
    let mut wrong = vec![];
    for name in names {
        match workspace.subject(name) {
            None => {
                let guess = did_you_mean(name, workspace.subjects.iter().map(|subject| subject.name.as_str()));
                wrong.push(format!("there is no subject \"{name}\"  {guess}").trim_end().to_owned());
            }
            Some(subject) => match ::run::subjects::available(subject) {
                Err(error) => wrong.push(error.to_string()),
                Ok(_) if found.iter().any(|one| one.name == subject.name) => {}
                Ok(_) => found.push(subject),
            },
        }
    }
    if wrong.is_empty() { Ok(found) } else { Err(wrong) }
}

fn worst(run: Exit, kept: Exit) -> Exit {
    if run == Exit::Clean { kept } else { run }
}

fn keep(io: &Io, record: &RunRecord, path: &Path) -> Exit {
    #[expect(clippy::disallowed_methods, reason = "when a run was kept is told beside it, not in it")]
    let at = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let folder = path.parent().unwrap_or(Path::new("."));
    let kept = files::create_folder(folder)
        .map_err(|error| error.to_string())
        .and_then(|()| Store::open(path).and_then(|store| store.keep(record, &at)).map_err(|error| error.to_string()));
    match kept {
        Ok(_) => Exit::Clean,
        Err(error) => {
            io.say(&format!("the run could not be kept in {}: {error}", path.display()));
            Exit::Incomplete
        }
    }
}

/// A line on standard error once a run takes longer than a second, on a terminal only.
struct Progress<'i> {
    io: &'i Io,
    of: usize,
    done: usize,
    since: Instant,
    shown: Option<Instant>,
    terminal: bool,
}

impl<'i> Progress<'i> {
    #[expect(clippy::disallowed_methods, reason = "progress is for people, who live in real time")]
    fn new(io: &'i Io, of: usize) -> Self {
        Self { io, of, done: 0, since: Instant::now(), shown: None, terminal: std::io::stderr().is_terminal() }
    }

    fn clear(&self) {
        if self.shown.is_some() {
            self.io.say(&format!("{} of {} trials done", self.done, self.of));
        }
    }
}

impl ::run::Watcher for Progress<'_> {
    fn finished(&mut self, trial: &Trial, _: &Transcript) -> ::run::Go {
        self.done += 1;
        let due = self.shown.unwrap_or(self.since).elapsed() >= Duration::from_secs(1);
        if self.terminal && due {
            #[expect(clippy::disallowed_methods, reason = "progress is for people, who live in real time")]
            let now = Instant::now();
            self.shown = Some(now);
            self.io.say(&format!("{} of {} trials, last {}", self.done, self.of, trial.case));
        }
        ::run::Go::On
    }
}
