//! Cases of one surface have distinct prompts. Spec 2.1, distinct cases.

use super::words::{gists_alike, prompt_gist};
use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;
use model::suite::{Case, CaseSurface};
use std::collections::BTreeMap;

pub(super) struct PromptsDistinct;

impl Check for PromptsDistinct {
    fn id(&self) -> &'static str {
        "prompts_distinct"
    }

    fn manual(&self) -> &'static str {
        "No two cases of one profile, one agent or the skill surface open with nearly the same words, numbers, addresses and punctuation \
         aside. Copies of a prompt are not independent evidence and make a rate look more certain than it is."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let mut asked: BTreeMap<String, Vec<CasePrompt<'_>>> = BTreeMap::new();
        for case in workspace.cases() {
            found.record_examined();
            let surface = surface(case);
            let new = CasePrompt { case, gist: prompt_gist(case.brief.user_script.opening()) };
            let others = asked.entry(surface.clone()).or_default();
            if let Some(first) = others.iter().find(|other| gists_alike(&other.gist, &new.gist)) {
                let what = format!("the prompt of case {} for {surface} nearly equals that of {}", *case.id, *first.case.id);
                found.error(&case.at, what, format!("the other is at {}; change the request or its wording", first.case.at));
            }
            others.push(new);
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit(
            "suites/tool_selection/trader.yaml",
            "What would I get in wrapped ether for 250 USDC on Base right now? Don't trade yet.",
            "How many dollars in USDC do I still have left on Base?",
        )
    }
}

struct CasePrompt<'w> {
    case: &'w Case,
    gist: String,
}

fn surface(case: &Case) -> String {
    match &case.brief.surface {
        CaseSurface::Profile(name) => format!("profile {}", **name),
        CaseSurface::Agent(name) => format!("agent {}", **name),
        CaseSurface::Skills => "the skill surface".to_owned(),
    }
}
