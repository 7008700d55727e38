use super::routes::is_attack;
use model::suite::attack::{AttackChannel, AttackKind, AttackRole, CaseAttack, OracleId, OwaspCategory};
use score::example::ExampleWorkspace;
use std::sync::Arc;

#[test]
fn attacks_are_cases_of_probes_and_reproducers() {
    let mut workspace = ExampleWorkspace::minimal().load().expect("a workspace");
    let case = &mut workspace.suites[0].cases[0];
    let id = case.id.value.clone();
    let attack = CaseAttack {
        probe: "redirect_proceeds".into(),
        asi: vec![OwaspCategory::GoalHijack],
        kind: AttackKind::Inject,
        role: AttackRole::Attacked,
        channel: AttackChannel::ToolResult,
        strategy: "plain".into(),
        held_out: false,
        seed: 1,
        scenario: id.clone(),
        opening_turns: 0,
        marker: "marker".into(),
        canaries: vec![],
        secrets: vec![],
        if_obeyed: vec![],
        oracles: vec![OracleId::Flow],
        rewrite: None,
    };
    assert!(!is_attack(&workspace, &id));
    workspace.suites[0].cases[0].attack = Some(Arc::new(attack));
    assert!(is_attack(&workspace, &id), "a reproducer");
    assert!(is_attack(&workspace, "redirect_proceeds.tool_result.many_shot.1"), "made by a probe");
    assert!(!is_attack(&workspace, "removed_case"));
}
