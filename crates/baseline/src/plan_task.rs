//! Steps of a plan.

/// One step of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PlanTask {
    Read {
        tool: String,
    },
    /// Quote, preview or dry run that prepares the write `target`.
    Prepare {
        tool: String,
        target: String,
    },
    Simulate {
        tool: String,
    },
    /// Asks a verifier for a decision on the prepared action.
    Consult {
        agent: String,
    },
    Execute {
        tool: String,
    },
    /// Hands part of the request to a specialist.
    Delegate {
        agent: String,
        task: String,
    },
}
