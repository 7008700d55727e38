//! From files to verdicts.

mod asked;
mod failed;
mod hire;
mod progress;
mod room;

use crate::args::{RunArgs, SmokeArgs};
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report::{self, Line, Planned, Shown};
use ::run::Purse;
use asked::Asked;
use campaign::{Asking, Brake, Kept, Request, Summary, execute, funded, quotes, reach};
use hire::Agreed;
use model::Case;
use progress::Progress;
use room::Room;
pub(super) use room::now;
use std::sync::Arc;
use store::StoreError;

/// The tier that runs nothing.
const SMOKE: u64 = 1;

pub(crate) fn run(io: &Io, source: &Source, args: &RunArgs) -> Exit {
    if args.tier == Some(SMOKE) && args.resume.is_none() {
        return super::smoke(io, source, &SmokeArgs { seed: args.seed });
    }
    let workspace = match super::open_to_judge(io, source, "run") {
        Ok(workspace) => Arc::new(workspace),
        Err(exit) => return exit,
    };
    let asked = match Asked::of(args, &workspace) {
        Ok(asked) => asked,
        Err(lines) => return report::refused(io, "run", &lines),
    };
    let mut request = match asked.request(args, &workspace) {
        Ok(request) => request,
        Err(lines) => return report::refused(io, "run", &lines),
    };
    if request.outline.is_empty() {
        io.say("no case is left after these filters; nothing was run");
        return Exit::Incomplete;
    }
    if args.dry_run {
        return io.result(&report::plan(io, &planned(args, &asked, &request)), Exit::Clean);
    }
    let agreed = match Agreed::of(args, &asked, &request, source) {
        Ok(agreed) => agreed,
        Err(lines) => return report::refused(io, "run", &lines),
    };
    let room = match Room::open(io, args, &asked, &request) {
        Ok(room) => room,
        Err(why) => return report::refused(io, "run", &[why]),
    };
    let hired = match agreed.hire(&request, &room.kept, room.spent()) {
        Ok(hired) => hired,
        Err(lines) => return report::refused(io, "run", &lines),
    };
    (request.company, request.aides) = (hired.company, hired.aides);
    let ran = super::block_on(async {
        // A server that answers for its tools lives as long as the run.
        request.foreign = super::world::foreign::of(source, &workspace, &args.foreign.foreign).await?;
        Ok::<_, String>(carry_out(io, &request, &room.kept, hired.purse).await)
    });
    let ran = match ran {
        Ok(Ok(ran)) => Ok(ran),
        Ok(Err(why)) => return report::refused(io, "run", &[why]),
        Err(error) => Err(error),
    };
    let summary = match ran.map_err(|error| error.to_string()).and_then(|ran| ran.map_err(|error| error.to_string())) {
        Ok(summary) => summary,
        Err(error) => {
            io.say(&format!("the run could not be carried out: {error}"));
            return Exit::Incomplete;
        }
    };
    let exit = worst(Exit::of(&summary), room.exit());
    if !summary.complete && room.is_kept() {
        io.say(&format!(
            "{} of {} trials have ended; go on with: bardo-eval run --resume {}{}",
            ended(&summary),
            summary.planned,
            room.id(),
            io.workspace_flag()
        ));
    }
    let kept_as = room.is_kept().then(|| args.store.show(room.name(&summary)));
    let lines = if report::wants_lines(io) { lines(&room.kept).unwrap_or_default() } else { vec![] };
    let judge = asked.judge.as_deref().and_then(|name| super::judge::known(&workspace, &args.store.store, name));
    let (command, workspace, summary, spent) = ("run", &workspace, &summary, room.spent());
    io.result(&report::run(io, &Shown { command, source, workspace, summary, lines, kept_as, spent, judge, exit }), exit)
}

fn planned<'r>(args: &RunArgs, asked: &Asked, request: &'r Request) -> Planned<'r> {
    let workspace = &request.workspace;
    let cases: Vec<&Case> = request.outline.cases.iter().filter_map(|planned| workspace.case(&planned.case)).collect();
    let models = request.subjects.iter().any(|subject| subject.provider.is_llm());
    let judge = asked.foreseen(workspace).filter(|_| models);
    let asking = match (args.replay, asked.asking(workspace)) {
        (true, asking) => Asking { subjects: false, judge: None, ..asking },
        (false, asking) => Asking { judge: asking.judge.or(judge), ..asking },
    };
    let quotes = quotes(workspace, &cases, &request.subjects.iter().collect::<Vec<_>>(), &asking);
    let funded = funded(&quotes, cases.len(), request.outline.trials, asked.budget);
    let reach = reach(workspace, request.claim, &cases, funded);
    let judge = asking.judge.map(|file| file.name.value.clone());
    Planned { request, quotes, budget: asked.budget, reach, judge, judge_named: asked.judge.is_some() }
}

/// Ctrl-C ends the run in good order: what has ended is kept.
async fn carry_out(io: &Io, request: &Request, kept: &Kept, purse: Arc<Purse>) -> Result<Summary, StoreError> {
    let (brake, halt) = Brake::new();
    let listener = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            brake.pull();
        }
        // Dropped, it could never be pulled; it is kept until the run is over.
        std::future::pending::<()>().await;
    });
    let mut progress = Progress::new(io, request.outline.len(), kept.ended.len() as u64, purse);
    let summary = execute(request, kept, &mut progress, halt, &now()).await;
    progress.clear();
    listener.abort();
    summary
}

fn worst(run: Exit, kept: Exit) -> Exit {
    if run == Exit::Clean { kept } else { run }
}

fn ended(summary: &Summary) -> u64 {
    summary.finished + summary.all_broken
}

/// What a report for a machine says of every trial.
fn lines(kept: &Kept) -> Result<Vec<Line>, StoreError> {
    let run = kept.run;
    kept.journal.look_now(move |store| {
        let mut lines = vec![];
        store.each_ended(run, |ended| lines.push(Line::of((&ended.trial.case, &ended.trial.subject), &ended.ending, &ended.scores)))?;
        Ok(lines)
    })?
}
