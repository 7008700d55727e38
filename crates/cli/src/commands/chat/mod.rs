//! A person talks to a subject in a world, sees what it does, and keeps the conversation as a trial.

mod seat;
mod terminal;

pub(crate) use seat::Seat;

use super::models;
use crate::args::{ChatArgs, Format};
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report;
use crate::{env, files};
use ::run::finished::{Host, Surroundings};
use ::run::providers::Cassette;
use ::run::subjects::{NotAvailable, Reference};
use ::run::{Clock, Limits, Scene, SubjectDeps, SubjectInWorld, SubjectPool, drive};
use campaign::{import_record, inline_subject, open_store, timestamp};
use model::suite::Surface;
use model::{Claim, FORMAT, Hash, Plan, RunRecord, Transcript, Trial, UserError, Workspace};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use terminal::Terminal;
use world::{LiveWorld, Setup, WorldTemplate};

pub(crate) fn chat(io: &Io, source: &Source, args: &ChatArgs) -> Exit {
    let workspace = match super::open(io, source, "chat") {
        Ok(workspace) => Arc::new(workspace),
        Err(exit) => return exit,
    };
    let transcript = match talk(io, &workspace, args) {
        Ok(transcript) => transcript,
        Err(why) => return report::refused(io, "chat", &[why]),
    };
    let ended = match transcript.ending.is_scorable() {
        true => Exit::Clean,
        false => Exit::Incomplete,
    };
    io.say(&format!("the conversation is over: the subject {}", transcript.ending));
    if args.no_store {
        return ended;
    }
    let record = as_run(&workspace, transcript);
    if let Err(why) = keep(&record, &args.store.store) {
        io.say(&format!("the conversation could not be kept in {}: {why}", args.store.store.display()));
        return Exit::Incomplete;
    }
    let (run, trial) = (record.hash().short().to_owned(), record.transcripts[0].trial.short().to_owned());
    let store = args.store.show(&run);
    io.say(&format!("  bardo-eval show {trial}{store}{}", io.workspace_flag()));
    io.say(&format!("  bardo-eval case new --from {run}/{trial}{}{}", args.store.flag(), io.workspace_flag()));
    ended
}

fn talk(io: &Io, workspace: &Arc<Workspace>, args: &ChatArgs) -> Result<Transcript, UserError> {
    let seat = Seat::chosen(workspace, args)?;
    let inline = inline_subject(&args.subject).transpose()?;
    let file = match &inline {
        Some(file) => file,
        None => models::subject(workspace, &args.subject)?,
    };
    let host = Arc::new(Host::new(Surroundings { variable: env::value, folder: env::folder() }, Clock::system()));
    let deps = SubjectDeps { terms: Some(models::terms(Some(args.budget))), key: &models::key, cassette: &|_| Cassette::Off, host };
    let pool = SubjectPool::build(workspace, &[file], &deps);
    let pool = pool.map_err(|wrong| wrong.into_iter().next().map_or_else(|| UserError::plain("nobody can be played"), UserError::from))?;
    let steps = workspace.case(&seat.name).map(|case| case.reference.clone()).unwrap_or_default();
    let at_once = matches!(seat.brief.surface, Surface::Profile(_));
    let trial = Trial { id: Hash::of_text(&seat.name), case: seat.name.clone(), subject: file.name.value.clone(), seed: 0 };
    let chains = super::world::kind::of_world(&args.chain)?;
    let template = WorldTemplate::new(workspace.clone(), &seat.brief.world, chains)?;
    let setup = Setup { peers: seat.brief.peers.clone(), defence: super::world::kind::defence(args.defence), ..Setup::default() };
    let mut world = LiveWorld::new(&template, setup);
    let live = report::Live::new(io, workspace.clone(), &seat.brief.world);
    world.tap(Box::new(move |event| live.tell(event)));
    let mut user = Terminal::new(io.format == Format::Text);
    io.say(&format!(
        "{} sits at {}, world {}. An empty line or the end of input ends the conversation.",
        args.subject,
        seat.title(),
        *seat.brief.world
    ));
    let scene = Scene { workspace, brief: &seat.brief, limits: Limits::from(file.limits) };
    let played = super::block_on(async {
        let acting = pool.instantiate(&trial, &seat.brief, world, || Reference::new(steps, at_once)).await?;
        let SubjectInWorld { mut subject, mut world } = acting;
        Ok::<_, NotAvailable>(drive(scene, subject.as_mut(), &mut user, world.as_mut()).await)
    });
    let played = played.map_err(|error| UserError::plain(format!("the chat could not be started: {error}")))?;
    let (events, ending) = played?;
    let trial = Hash::of(&json!({ "chat": seat.name, "subject": file.identity().as_str(), "events": events, "ending": ending }));
    Ok(Transcript { trial, case: seat.name, subject: file.name.value.clone(), events, ending })
}

fn keep(record: &RunRecord, path: &Path) -> Result<(), UserError> {
    files::create_folder(path.parent().unwrap_or(Path::new("."))).map_err(UserError::caused_by)?;
    let store = open_store(path)?;
    Ok(import_record(&store, record, &timestamp(Clock::system()))?)
}

/// A run of one trial. It is scored where the conversation was about a case; otherwise there is nothing to hold it to.
fn as_run(workspace: &Workspace, transcript: Transcript) -> RunRecord {
    let trial = Trial { id: transcript.trial.clone(), case: transcript.case.clone(), subject: transcript.subject.clone(), seed: 0 };
    let plan = Plan { workspace: workspace.hash.clone(), trials: vec![trial] };
    let claim = Claim::default();
    let bare =
        RunRecord { format: FORMAT, claim, plan, transcripts: vec![transcript], scores: vec![], judgements: vec![], out_of_scope: vec![] };
    campaign::rescore(workspace, bare, claim).record
}
