//! Causes of failed trials in words.

use score::causes::{FailureCause, ToolConfusion};

/// Says which tools were called instead of which.
pub fn confusion(tools: &ToolConfusion) -> String {
    let ToolConfusion { called, expected } = tools;
    match (counted(called).as_str(), counted(expected).as_str()) {
        ("", expected) => format!("no tool for {expected}"),
        (called, "") => format!("{called} where no tool fits"),
        (called, expected) => format!("{called} for {expected}"),
    }
}

/// Joins repeated names of a list, as in "swap_execute (twice)".
fn counted(names: &str) -> String {
    let mut found: Vec<(&str, usize)> = vec![];
    for name in names.split(", ") {
        match found.iter_mut().find(|(known, _)| *known == name) {
            Some((_, times)) => *times += 1,
            None => found.push((name, 1)),
        }
    }
    let shown = found.into_iter().map(|(name, times)| match times {
        1 => name.to_owned(),
        2 => format!("{name} (twice)"),
        times => format!("{name} ({times} times)"),
    });
    shown.collect::<Vec<_>>().join(", ")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_tools_are_counted() {
        let shown = |called: &str, expected: &str| confusion(&ToolConfusion { called: called.to_owned(), expected: expected.to_owned() });
        assert_eq!(shown("swap, swap", "transfer"), "swap (twice) for transfer");
        assert_eq!(shown("a, b, a, a", "b, b"), "a (3 times), b for b (twice)");
        assert_eq!((shown("", "a"), shown("a", "")), ("no tool for a".to_owned(), "a where no tool fits".to_owned()));
    }
}
