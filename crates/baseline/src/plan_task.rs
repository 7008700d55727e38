//! Steps of a plan.

/// One step of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PlanTask {
    Read {
        tool: String,
    },
    /// A quote, a preview or a dry run that freezes the write `target`.
    Prepare {
        tool: String,
        target: String,
    },
    Simulate {
        tool: String,
    },
    /// An independent opinion on the prepared action.
    Consult {
        agent: String,
    },
    Execute {
        tool: String,
    },
    /// A specialist takes part of the request.
    Delegate {
        agent: String,
        task: String,
    },
}
