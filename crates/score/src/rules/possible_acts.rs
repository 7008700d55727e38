//! Acts that an agent is able to do with its tools and edges. A rule against anything else cannot be broken.

use model::rule::{ActionClass, ActionSelector, SelectorTarget};
use model::{Agent, OpClass, ReviewRole, Rule, Tool, Workspace};

/// Reports whether the agent can break a prohibition. Rules that demand something can always be broken, by not doing it.
pub(crate) fn can_break(workspace: &Workspace, agent: &Agent, rule: &Rule) -> bool {
    match rule {
        Rule::Never(selector) | Rule::AtMost(selector, _) => can_do(workspace, agent, selector),
        Rule::NeverAfter(first, then) => can_do(workspace, agent, first) && can_do(workspace, agent, then),
        Rule::Before(..) | Rule::After(..) | Rule::ImmediatelyAfter(..) | Rule::Eventually(_) | Rule::Within(..) => true,
    }
}

/// Reports whether the agent can do an act that the selector selects. Tests of arguments are ignored.
pub(crate) fn can_do(workspace: &Workspace, agent: &Agent, selector: &ActionSelector) -> bool {
    let has_tool = |fits: &dyn Fn(&Tool) -> bool| agent.tools.iter().filter_map(|name| workspace.tool(name)).any(fits);
    let reviews = |role: ReviewRole| agent.delegates_to.iter().any(|edge| workspace.review_role(edge) == Some(role));
    let decides = |role: ReviewRole| workspace.review_role(&agent.name) == Some(role);
    match &selector.what {
        SelectorTarget::Tool(name) => has_tool(&|tool| tool.has_name(name)),
        SelectorTarget::Acts(pattern) => has_tool(&|tool| pattern.matches(*tool.acts)),
        SelectorTarget::DelegateTo(name) => agent.delegates_to.iter().any(|edge| **edge == *name),
        SelectorTarget::Guard(_) => reviews(ReviewRole::Guardian) || decides(ReviewRole::Guardian),
        SelectorTarget::Assess(_) => reviews(ReviewRole::Assessor) || decides(ReviewRole::Assessor),
        SelectorTarget::Class(ActionClass::Call) => !agent.tools.is_empty(),
        SelectorTarget::Class(ActionClass::Read) => has_tool(&|tool| tool.acts.class() == OpClass::Read),
        SelectorTarget::Class(ActionClass::Quote) => has_tool(&|tool| tool.acts.class() == OpClass::Quote || tool.writes()),
        SelectorTarget::Class(ActionClass::Simulate) => has_tool(&|tool| tool.acts.class() == OpClass::Simulate),
        SelectorTarget::Class(ActionClass::Write | ActionClass::Sign) => has_tool(&Tool::writes),
        SelectorTarget::Class(ActionClass::Delegate) => !agent.terminal && !agent.delegates_to.is_empty(),
        SelectorTarget::Class(ActionClass::Ask | ActionClass::Say | ActionClass::Report) => true,
        SelectorTarget::AnyOf(several) => several.iter().any(|one| can_do(workspace, agent, one)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::ExampleWorkspace;

    #[test]
    fn agents_can_do_what_their_tools_and_edges_allow() {
        let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let can =
            |agent: &str, rule: &str| can_break(&workspace, workspace.agent(agent).expect("an agent"), &Rule::parse(rule).expect("a rule"));
        for act in ["quote", "simulate", "write", "read", "delegate"] {
            assert!(can("trader", &format!("never({act})")), "{act}");
        }
        assert!(can("desk", "never(read)") && can("desk", "never(delegate)"));
        for act in ["quote", "simulate", "write", "sign"] {
            assert!(!can("desk", &format!("never({act})")), "the desk has a read alone, {act}");
        }
        assert!(can("desk", "never(write | read)") && !can("desk", "never(write | quote)"));
        assert!(!can("desk", "never_after(read, write)") && can("desk", "before(read, write)"));
    }
}
