//! A rubric can be met and can be missed: the reference states its facts, a counter-example does not.

use super::{Check, ExampleWorkspace, FindingCollector};
use crate::facts::stated::report_states;
use model::Workspace;
use model::suite::{Case, CaseRubric, ReferenceAction, RubricFact};

pub(super) struct RubricsDecidable;

impl Check for RubricsDecidable {
    fn id(&self) -> &'static str {
        "rubrics_decidable"
    }

    fn manual(&self) -> &'static str {
        "A rubric lists the facts that the last answer must state, and a counter-example: a plausible answer that does not. The last answer \
         of the reference states every fact in one of its wordings, and the counter-example misses at least one. Numbers are compared by \
         amount, words as whole words in any letter case. A rubric that is a plain text is a warning: nothing shows that it can be met or \
         missed."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for (case, rubric) in workspace.cases().filter_map(|case| Some((case, case.expect.rubric.as_ref()?))) {
            found.record_examined();
            if rubric.facts.is_empty() {
                let what = format!("the rubric of case {} lists no facts, so nothing shows that it can be met or missed", *case.id);
                found.warning(&rubric.asks.at, what, "write rubric: { asks: …, facts: […], counter_example: … }");
                continue;
            }
            check_reference(case, rubric, found);
            check_counter_example(case, rubric, found);
        }
    }

    fn accepts(&self) -> ExampleWorkspace {
        with_facts("[[declined, not sold]]", "I sold it for you.")
    }

    fn rejects(&self) -> ExampleWorkspace {
        with_facts("[[declined, not sold]]", "I declined to sell it.")
    }
}

fn check_reference(case: &Case, rubric: &CaseRubric, found: &mut FindingCollector) {
    let Some(answer) = last_answer(case) else {
        let what = format!("case {} has a rubric, but its reference says nothing", *case.id);
        return found.error(&rubric.asks.at, what, "end the reference with a step say, or remove the rubric");
    };
    for fact in unstated(rubric, answer) {
        let what = format!("the last answer of the reference of case {} does not state \"{}\"", *case.id, fact.wordings.join("\" or \""));
        found.error(&rubric.asks.at, what, "complete the answer or correct the fact");
    }
}

fn check_counter_example(case: &Case, rubric: &CaseRubric, found: &mut FindingCollector) {
    let Some(answer) = &rubric.counter_example else { return };
    if unstated(rubric, answer).next().is_none() {
        let what = format!("the counter-example of case {} states every fact of the rubric", *case.id);
        found.error(&answer.at, what, "write an answer that a judge must deny");
    }
}

pub(super) fn unstated<'r>(rubric: &'r CaseRubric, answer: &'r str) -> impl Iterator<Item = &'r RubricFact> {
    rubric.facts.iter().filter(move |fact| !fact.wordings.iter().any(|wording| report_states(answer, wording)))
}

/// Returns the text with which the reference ends.
pub(super) fn last_answer(case: &Case) -> Option<&str> {
    case.reference.iter().rev().find_map(|step| match &step.action {
        ReferenceAction::Say(text) | ReferenceAction::Report(text) => Some(text.as_str()),
        ReferenceAction::Call { .. } | ReferenceAction::Delegate { .. } | ReferenceAction::Activate { .. } | ReferenceAction::Ask(_) => {
            None
        }
    })
}

/// Returns the minimal workspace with a rubric on its skill case, whose reference says that it was not sold.
fn with_facts(facts: &str, counter_example: &str) -> ExampleWorkspace {
    let rubric = format!(
        "      skill: swap\n      rubric: {{ asks: Says what was not done., facts: {facts}, counter_example: {counter_example} }}\n"
    );
    let step = "      - { activate: swap, params: { token_in: ETH, token_out: USDC, amount: \"0.5\", chain: base } }\n";
    ExampleWorkspace::minimal().edit("suites/skills/swap.yaml", "      skill: swap\n", &rubric).edit(
        "suites/skills/swap.yaml",
        step,
        &format!("{step}      - {{ say: It was not sold. }}\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(example: &ExampleWorkspace) -> Vec<String> {
        let workspace = example.load().expect("the example loads");
        crate::checks::run_selected(&workspace, &["rubrics_decidable"]).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn reference_without_a_fact_is_found() {
        let found = findings(&with_facts("[declined]", "I sold it."));
        assert_eq!(found, ["the last answer of the reference of case convert_half_an_ether does not state \"declined\""]);
    }

    #[test]
    fn plain_rubric_is_a_warning() {
        let plain =
            ExampleWorkspace::minimal().edit("suites/skills/swap.yaml", "      skill: swap\n", "      skill: swap\n      rubric: Kind.\n");
        let found = findings(&plain);
        assert!(found.len() == 1 && found[0].contains("lists no facts"), "{found:?}");
    }
}
