//! Cases selected after edits of the minimal workspace.

use super::*;
use crate::example::ExampleWorkspace;
use model::Workspace;

fn load(example: &ExampleWorkspace) -> (Workspace, WorkspaceFingerprint) {
    let workspace = example.load().unwrap_or_else(|problems| panic!("{problems:#?}"));
    let fingerprint = WorkspaceFingerprint::of(&workspace, example.files());
    (workspace, fingerprint)
}

fn selected_after(edit: impl FnOnce(ExampleWorkspace) -> ExampleWorkspace) -> ChangedSelection {
    let (_, before) = load(&ExampleWorkspace::minimal());
    let (workspace, now) = load(&edit(ExampleWorkspace::minimal()));
    select_changed(&workspace, now.changes_since(&before), &now, Some(&before), ChangeReach::Expected)
}

fn reason_of(selection: &ChangedSelection, case: &str) -> Option<SelectionReason> {
    selection.cases.iter().find(|(id, _)| id == case).map(|(_, why)| *why)
}

#[test]
fn nothing_changed_selects_nothing() {
    let selection = selected_after(|example| example);
    assert!(selection.changes.is_empty() && selection.cases.is_empty());
    let cases = ExampleWorkspace::minimal().load().unwrap().cases().count();
    assert_eq!(selection.left_out, cases);
    // A comment moves lines and changes nothing.
    let selection = selected_after(|example| example.edit("tools/wallet.yaml", "tools:", "# moved\ntools:"));
    assert!(selection.changes.is_empty(), "{:?}", selection.changes);
}

#[test]
fn changed_tool_selects_its_cases() {
    let text = ExampleWorkspace::minimal().load().unwrap().tool("wallet_get_balance").unwrap().description.value.clone();
    let selection = selected_after(|example| example.edit("tools/wallet.yaml", &text, "Does a thing."));
    assert_eq!(selection.changes.tools.iter().map(String::as_str).collect::<Vec<_>>(), ["wallet_get_balance"]);
    assert_eq!(reason_of(&selection, "how_much_usdc"), Some(SelectionReason::Tool));
    assert!(selection.left_out > 0, "{:?}", selection.cases);
}

#[test]
fn cases_that_show_a_changed_tool_are_selected_or_counted() {
    let text = ExampleWorkspace::minimal().load().unwrap().tool("swap_execute").unwrap().description.value.clone();
    let (_, before) = load(&ExampleWorkspace::minimal());
    let (workspace, now) = load(&ExampleWorkspace::minimal().edit("tools/wallet.yaml", &text, "Does a thing."));
    let select = |reach| select_changed(&workspace, now.changes_since(&before), &now, Some(&before), reach);
    let (expected, shown) = (select(ChangeReach::Expected), select(ChangeReach::Shown));
    assert_eq!(reason_of(&expected, "how_much_usdc"), None, "the case expects another tool");
    assert_eq!(reason_of(&shown, "how_much_usdc"), Some(SelectionReason::Shown));
    assert!(expected.left_out_showing > 0);
    assert_eq!((shown.left_out_showing, shown.cases.len()), (0, expected.cases.len() + expected.left_out_showing));
}

#[test]
fn near_neighbours_come_along() {
    let (_, mut before) = load(&ExampleWorkspace::minimal());
    let (workspace, mut now) = load(&ExampleWorkspace::minimal());
    now.tools.insert("swap_execute".to_owned(), "another".to_owned());
    before.near.entry("swap_execute".to_owned()).or_default().insert("wallet_get_balance".to_owned(), 0.7);
    let shown = workspace.surface_tools(&workspace.case("how_much_usdc").unwrap().brief.surface);
    assert!(shown.iter().any(|tool| *tool.name == "swap_execute"), "the changed tool must be in the profile");
    let selection = select_changed(&workspace, now.changes_since(&before), &now, Some(&before), ChangeReach::Expected);
    assert_eq!(reason_of(&selection, "how_much_usdc"), Some(SelectionReason::NearTool));
    assert_eq!(selection.near[0].tool, "wallet_get_balance");
}

#[test]
fn agents_skills_policy_and_cases_are_told_apart() {
    let agent = selected_after(|example| example.edit("agents/trader.md", "role: Runs", "role: Carefully runs"));
    assert_eq!(agent.changes.by_kind().iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), ["agent"]);
    assert!(agent.cases.iter().any(|(_, why)| *why == SelectionReason::Agent) && agent.left_out > 0);
    let skill = selected_after(|example| example.edit("skills/swap/SKILL.md", "description: ", "description: Also this. "));
    assert!(skill.cases.iter().all(|(_, why)| *why == SelectionReason::Skill) && !skill.cases.is_empty());
    let policy = selected_after(|example| example.edit("policy.yaml", "\n", "\n# changed\n"));
    assert_eq!(policy.left_out, 0, "the policy concerns every case");
    let case = selected_after(|example| example.edit("suites/tool_selection/trader.yaml", "left on Base?", "now on Base?"));
    assert_eq!(case.cases, [("how_much_usdc".to_owned(), SelectionReason::Case)]);
}
