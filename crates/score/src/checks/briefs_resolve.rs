//! The surface, world, peers, output and skill that a case names exist. Tier 1, suites.

use super::words::{exact_tool, schema_violation, suggest_name, user_texts};
use super::{Check, ExampleWorkspace, FindingCollector};
use model::suite::{AssertedText, Case, CaseSurface, PeerMode, RecordedAnswer};
use model::{JsonSchema, Spanned, Workspace};

pub(super) struct BriefsResolve;

impl Check for BriefsResolve {
    fn id(&self) -> &'static str {
        "briefs_resolve"
    }

    fn manual(&self) -> &'static str {
        "The profile or agent, world and peers of a case exist, and no turn of its user is empty. The output and the skill it expects, \
         and the tools of its assertions, exist too, and the expected parameters are parameters of the skill, with values that fit their schema. The tools of its fixtures \
         exist and take the tested arguments, and an answer fits the output schema of its tool, if it has one."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for case in workspace.cases() {
            found.record_examined();
            let mut look_up = |kind: &str, name: &Spanned<String>, known: Vec<&Spanned<String>>| {
                if !known.iter().any(|known| ***known == **name) {
                    let what = format!("case {} names the {kind} {}, which does not exist", *case.id, **name);
                    let remedy =
                        suggest_name(name, known.iter().map(|known| known.as_str()), format!("add the {kind} or correct the name"));
                    found.error(&name.at, what, remedy);
                }
            };
            match &case.brief.surface {
                CaseSurface::Profile(name) => look_up("profile", name, workspace.profiles.iter().map(|profile| &profile.name).collect()),
                CaseSurface::Agent(name) => look_up("agent", name, workspace.agents.iter().map(|agent| &agent.name).collect()),
                CaseSurface::Skills => {}
            }
            look_up("world", &case.brief.world, workspace.worlds.iter().map(|world| &world.name).collect());
            if let PeerMode::Subject(name) = &case.brief.peers {
                let name = Spanned::new(name.clone(), case.at.clone());
                look_up("subject", &name, workspace.subjects.iter().map(|subject| &subject.name).collect());
            }
            if let Some(name) = &case.expect.output_schema {
                look_up("output", name, workspace.outputs.iter().map(|output| &output.name).collect());
            }
            if let Some(name) = &case.expect.skill {
                look_up("skill", name, workspace.skills.iter().map(|skill| &skill.name).collect());
            }
            for assertion in &case.expect.assertions {
                if let AssertedText::Returned(name) | AssertedText::Called(name) = &assertion.on
                    && workspace.tool(name).is_none()
                {
                    look_up("tool", name, workspace.tools.iter().map(|tool| &tool.name).collect());
                }
            }
            for text in user_texts(case).iter().filter(|text| text.trim().is_empty()) {
                found.error(&text.at, format!("a user turn of case {} is empty", *case.id), "write the turn or remove it");
            }
            check_params(workspace, case, found);
            check_fixtures(workspace, case, found);
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("suites/skills/swap.yaml", "skill: swap", "skill: swop")
    }
}

fn check_params(workspace: &Workspace, case: &Case, found: &mut FindingCollector) {
    let expect = &case.expect;
    let Some(name) = &expect.skill else {
        if !expect.params.is_empty() {
            found.error(&case.at, format!("case {} expects parameters but no skill", *case.id), "name the skill they belong to");
        }
        return;
    };
    let Some(skill) = workspace.skill(name) else { return };
    for (key, value) in &expect.params {
        let Some(param) = skill.params.get(key) else {
            let remedy = suggest_name(key, skill.params.keys().map(String::as_str), "remove it or add it to the skill");
            found.error(&name.at, format!("case {} expects {key}, which skill {} does not take", *case.id, **name), remedy);
            continue;
        };
        if let Some(why) = schema_violation(param, value) {
            let what = format!("case {} expects the wrong {key} of skill {}: {why}", *case.id, **name);
            found.error(&name.at, what, format!("write a value that fits the parameter at {}", param.at));
        }
    }
}

fn check_fixtures(workspace: &Workspace, case: &Case, found: &mut FindingCollector) {
    for fixture in &case.brief.fixtures {
        found.record_examined();
        let tool = match exact_tool(workspace, &fixture.tool) {
            Ok(tool) => tool,
            Err(no) => {
                found.error(&fixture.tool.at, format!("a fixture of case {}: {}", *case.id, no.what), no.remedy);
                continue;
            }
        };
        for (name, wanted) in fixture.when.iter().filter(|(name, _)| !tool.params.contains_key(*name)) {
            let remedy = suggest_name(name, tool.params.keys().map(String::as_str), "test a parameter of the tool");
            found.error(&wanted.at, format!("a fixture of case {} tests {name}, which {} does not take", *case.id, *tool.name), remedy);
        }
        let (Some(output), RecordedAnswer::Result(value)) = (&tool.output, &fixture.answer) else { continue };
        if let Some(violation) = JsonSchema::new(output.clone()).violations(value).first() {
            let place = if violation.path.is_empty() { String::new() } else { format!(" at {}", violation.path) };
            let what = format!(
                "the answer of {} in a fixture of case {} does not fit its output schema{place}: {}",
                *tool.name, *case.id, violation.what
            );
            found.error(&fixture.at, what, "record the answer again or correct it");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(fixture: &str) -> Vec<String> {
        let from = "      world: small\n      peers: stub ";
        let to = format!("      world: small\n      fixtures: [{fixture}]\n      peers: stub ");
        let output = "        output_schema: { type: object, required: [ok], properties: { ok: { type: boolean } } }\n";
        let tool = "  - name: tx_simulate\n";
        let example = ExampleWorkspace::minimal().edit("suites/behavior/trader.yaml", from, &to).edit(
            "tools/wallet.yaml",
            tool,
            &format!("{tool}{}", output.replacen("        ", "    ", 1)),
        );
        let workspace = example.load().expect("a workspace");
        let mut found = FindingCollector::of("briefs_resolve", 1);
        BriefsResolve.check(&workspace, &mut found);
        found.finish().findings.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn fixtures_fit_their_tools() {
        assert_eq!(findings("{ tool: tx_simulate, when: { action_id: { regex: \"^a\" } }, is: { ok: true } }"), Vec::<String>::new());
        assert_eq!(findings("{ tool: tx_simulate, error: EXECUTION_TX_REVERTED, message: No. }"), Vec::<String>::new());
        assert!(findings("{ tool: tx_simulat, is: { ok: true } }")[0].contains("tx_simulat does not exist"));
        assert!(findings("{ tool: tx_simulate, when: { id: 1 }, is: { ok: true } }")[0].contains("tests id"));
        assert!(findings("{ tool: tx_simulate, is: { ok: 1 } }")[0].contains("does not fit its output schema at /ok"));
        assert!(findings("{ tool: tx_simulate, is: {} }")[0].contains("does not fit its output schema"));
    }
}
