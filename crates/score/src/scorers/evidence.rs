//! What a scorer sees, and small pieces of evidence for the examples every scorer ships.

use crate::example::Example;
use model::suite::Case;
use model::{Ending, Event, Happened, Hash, Transcript, Workspace};

#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub workspace: &'a Workspace,
    pub case: &'a Case,
    pub transcript: &'a Transcript,
}

/// Evidence that owns its parts: a case of the minimal workspace and a transcript written by hand.
#[derive(Debug, Clone)]
pub struct Specimen {
    pub workspace: Workspace,
    case: String,
    pub transcript: Transcript,
}

impl Specimen {
    /// `events` are who did what, in order.
    pub fn of(case: &str, events: Vec<(&str, Happened)>) -> Self {
        let workspace = Example::minimal().load().unwrap_or_else(|problems| panic!("the minimal workspace is broken: {problems:#?}"));
        let events = (1..)
            .zip(events)
            .map(|(n, (by, happened))| Event { n, at_ms: u64::from(n) * 2000, by: by.to_owned(), depth: 0, happened })
            .collect();
        let transcript =
            Transcript { trial: Hash::of_text(case), case: case.to_owned(), subject: "example".into(), events, ending: Ending::Finished };
        Self { workspace, case: case.to_owned(), transcript }
    }

    pub fn case(&self) -> &Case {
        self.workspace.case(&self.case).unwrap_or_else(|| panic!("the minimal workspace has no case {}", self.case))
    }

    pub fn evidence(&self) -> Evidence<'_> {
        Evidence { workspace: &self.workspace, case: self.case(), transcript: &self.transcript }
    }
}
