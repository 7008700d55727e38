//! Causes of failed trials in words.

use score::causes::{FailureCause, ToolConfusion};

/// Says which tools were called instead of which.
pub fn confusion(tools: &ToolConfusion) -> String {
    let ToolConfusion { called, expected } = tools;
    match (called.as_str(), expected.as_str()) {
        ("", expected) => format!("no tool for {expected}"),
        (called, "") => format!("{called} where no tool fits"),
        (called, expected) => format!("{called} for {expected}"),
    }
}

pub fn cause(cause: Option<&FailureCause>) -> String {
    match cause {
        Some(FailureCause::Ending(kind)) => kind.clone(),
        Some(FailureCause::Tool(tools)) => confusion(tools),
        Some(FailureCause::Missing(what)) => what.clone(),
        Some(FailureCause::Argument(name)) => format!("argument {name}"),
        Some(FailureCause::Rule(scorer)) => scorer.to_string(),
        None => "no cause recorded".to_owned(),
    }
}
