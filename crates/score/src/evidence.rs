//! Input of a scorer, and fixtures for the examples that every scorer ships.

use crate::example::ExampleWorkspace;
use crate::questions::{JudgeQuestion, trial_questions};
use model::suite::Case;
use model::{ContentHash, Ending, Event, EventKind, Transcript, Workspace};

#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub workspace: &'a Workspace,
    pub case: &'a Case,
    pub transcript: &'a Transcript,
}

impl<'a> Evidence<'a> {
    pub fn new(workspace: &'a Workspace, case: &'a Case, transcript: &'a Transcript) -> Self {
        Self { workspace, case, transcript }
    }

    /// Returns the questions for the LLM judge about this trial.
    pub fn questions(&self) -> Vec<JudgeQuestion> {
        trial_questions(self.case, self.transcript)
    }
}

/// Owned evidence: a case of the minimal workspace and a handwritten transcript.
#[derive(Debug, Clone)]
pub struct EvidenceFixture {
    pub workspace: Workspace,
    case: String,
    pub transcript: Transcript,
}

impl EvidenceFixture {
    /// Builds evidence from (agent, event) pairs in order.
    pub fn of(case: &str, events: Vec<(&str, EventKind)>) -> Self {
        Self::within(&ExampleWorkspace::minimal(), case, events)
    }

    /// Like [`of`](Self::of), in an edited workspace.
    pub fn within(example: &ExampleWorkspace, case: &str, events: Vec<(&str, EventKind)>) -> Self {
        let workspace = example.load().unwrap_or_else(|problems| panic!("the example workspace does not load: {problems:#?}"));
        let mut stack = DelegationStack::default();
        let events = (1..)
            .zip(events)
            .map(|(n, (by, happened))| Event {
                n,
                at_ms: u64::from(n) * 2000,
                by: by.to_owned(),
                depth: stack.depth(by, &happened),
                happened,
            })
            .collect();
        let transcript = Transcript {
            trial: ContentHash::of_text(case),
            case: case.to_owned(),
            subject: "example".into(),
            events,
            ending: Ending::Finished,
        };
        Self { workspace, case: case.to_owned(), transcript }
    }

    pub fn case(&self) -> &Case {
        self.workspace.case(&self.case).unwrap_or_else(|| panic!("the example workspace has no case {}", self.case))
    }

    pub fn evidence(&self) -> Evidence<'_> {
        Evidence::new(&self.workspace, self.case(), &self.transcript)
    }
}

/// Stack of delegated agents. Derives the depth that the runner would have recorded.
#[derive(Debug, Default)]
struct DelegationStack(Vec<String>);

impl DelegationStack {
    fn depth(&mut self, by: &str, happened: &EventKind) -> u32 {
        if by == "user" {
            return 0;
        }
        let at = match self.0.iter().rposition(|agent| agent == by) {
            Some(at) => {
                self.0.truncate(at + 1);
                at
            }
            None if self.0.is_empty() => {
                self.0.push(by.to_owned());
                0
            }
            None => self.0.len() - 1,
        };
        if let EventKind::Delegated { to, .. } = happened {
            self.0.push(to.clone());
        }
        u32::try_from(at).unwrap_or(u32::MAX)
    }
}
