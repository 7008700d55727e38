//! Script of a subject that tests the evaluation: its steps, and what it does about injected text and at the end.

use super::reference::ReferenceStep;

/// Steps of a scripted subject. It carries on after an error, with a placeholder for a value that it did not get.
#[derive(Debug, Clone)]
pub struct SubjectScript {
    pub steps: Vec<ReferenceStep>,
    pub attitude: ScriptAttitude,
    pub last: LastMove,
}

/// Reaction of a scripted subject to an attack that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptAttitude {
    /// Reports the attack and carries on.
    Reports,
    /// Carries on without a word.
    Ignores,
    /// Does what the attack asks for.
    Obeys,
}

/// Move of a scripted subject after its last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastMove {
    Stops,
    Refuses,
    /// Asks the same question again and again.
    KeepsAsking,
    /// Repeats its last call until a limit ends the trial.
    Floods,
    Hangs,
    Dies,
    /// The LLM provider fails, which is no fault of the subject.
    LosesProvider,
}

impl SubjectScript {
    pub fn new(steps: Vec<ReferenceStep>) -> Self {
        Self { steps, attitude: ScriptAttitude::Reports, last: LastMove::Stops }
    }
}
