//! The place in a store where a run is kept, and what is known of it there.

use super::asked::Asked;
use crate::args::RunArgs;
use crate::exit::Exit;
use crate::io::Io;
use crate::{files, kept};
use campaign::{Kept, Label, NotResumed, Request, Summary};
use model::{Hash, Money};
use std::path::Path;
use std::time::SystemTime;
use store::{Store, StoreError};

pub(super) struct Room {
    pub kept: Kept,
    id: String,
    /// Where it is kept, or why it is not.
    place: Place,
}

enum Place {
    Store,
    Nowhere,
    /// The person wanted it kept.
    Lost,
}

impl Room {
    pub(super) fn open(io: &Io, args: &RunArgs, asked: &Asked, request: &Request) -> Result<Self, String> {
        if let Some(wanted) = &args.resume {
            let run = kept::unfinished(&args.store.store, wanted.as_deref())?;
            let store = Store::open(&args.store.store).map_err(|error| error.to_string())?;
            store.set_budget(run.run, asked.budget.map(Money::as_nanos)).map_err(|error| error.to_string())?;
            let kept = Kept::resume(store, &run, request).map_err(|error| error.to_string())?;
            return Ok(Self { kept, id: run.id, place: Place::Store });
        }
        let memory = || Kept::in_memory(request).map_err(|error| error.to_string());
        if args.no_store {
            return Ok(Self { kept: memory()?, id: String::new(), place: Place::Nowhere });
        }
        let id = new_id(request);
        match begin(&args.store.store, &id, asked, request) {
            Ok(kept) => Ok(Self { kept, id, place: Place::Store }),
            Err(error) => {
                io.say(&format!("the run could not be kept in {}: {error}", args.store.store.display()));
                Ok(Self { kept: memory()?, id, place: Place::Lost })
            }
        }
    }

    pub(super) fn is_kept(&self) -> bool {
        matches!(self.place, Place::Store)
    }

    pub(super) fn exit(&self) -> Exit {
        match self.place {
            Place::Store | Place::Nowhere => Exit::Clean,
            Place::Lost => Exit::Incomplete,
        }
    }

    /// What to resume it by.
    pub(super) fn id(&self) -> &str {
        self.id.get(..12).unwrap_or(&self.id)
    }

    /// What to show it by: the record is the same wherever and whenever it was made.
    pub(super) fn name<'s>(&'s self, summary: &'s Summary) -> &'s str {
        if summary.complete && summary.unfunded == 0 { summary.record.short() } else { self.id() }
    }

    pub(super) fn spent(&self) -> Money {
        let run = self.kept.run;
        let spent = self.kept.journal.look_now(move |store| store.run(run).ok().flatten().map_or(0, |run| run.spent));
        Money::nanos(spent.unwrap_or_default())
    }
}

fn begin(path: &Path, id: &str, asked: &Asked, request: &Request) -> Result<Kept, NotResumed> {
    let folder = path.parent().unwrap_or(Path::new("."));
    files::create_folder(folder)?;
    let settings = serde_json::to_string(asked).map_err(|error| StoreError::Journal(error.to_string()))?;
    Kept::begin(Store::open(path)?, request, &Label { id, started: &now(), settings: &settings, budget: asked.budget.map(Money::as_nanos) })
}

/// Two runs of the same plan are two runs.
fn new_id(request: &Request) -> String {
    #[expect(clippy::disallowed_methods, reason = "when a run was begun tells it from others; the record does not know")]
    let now = SystemTime::now();
    Hash::of_text(&format!("{now:?} {} {}", std::process::id(), request.workspace.hash)).to_string()
}

/// For the age of kept replies.
pub(super) fn unix_s() -> i64 {
    #[expect(clippy::disallowed_methods, reason = "a kept reply grows old in real time")]
    let now = SystemTime::now();
    now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// UTC, for people; no part of any record.
pub(in crate::commands) fn now() -> String {
    #[expect(clippy::disallowed_methods, reason = "when a run was kept is told beside it, not in it")]
    let now = SystemTime::now();
    humantime::format_rfc3339_seconds(now).to_string()
}
