//! No case is passed by the reference of another case.

use super::cross_play_candidates::CandidateIndex;
use super::cross_play_case::CrossPlayCase;
use super::rubrics_decidable::{last_answer, unstated};
use super::words::{expects_write, percent};
use super::{Check, ExampleWorkspace, FindingCollector};
use crate::quality::StaticCase;
use model::suite::{Case, CaseSurface};
use model::{ContentHash, SeededRng, Workspace};
use std::collections::BTreeMap;

pub(super) struct CrossPlay;

/// Maximum fraction of cases that another case's reference may pass. Cases that expect a write are never allowed.
const MAX_PASSED_SHARE: f64 = 0.05;

/// Cases with more references that may pass are scored on a sample of them, so that the time is linear in the number of cases.
const MAX_CANDIDATES: usize = 400;
const SAMPLED_CANDIDATES: usize = 64;

/// Cases scored on a sample, and the references that may pass them.
#[derive(Default)]
struct SampledPairs {
    cases: usize,
    candidates: usize,
}

impl Check for CrossPlay {
    fn id(&self) -> &'static str {
        "cross_play"
    }

    fn manual(&self) -> &'static str {
        "Every case is scored, without a world, on the references of all other cases of its surface: a case that the right answer to \
         another request passes is underspecified. The facts of a rubric count: the last answer must state them. Pairs whose reference lacks an expected tool or the expected skill cannot pass and are \
         skipped. A case that more than 400 references could pass is scored on 64 of them, drawn with --seed; the report says how many \
         cases and pairs. Two cases that both expect no call, and nothing in particular to be said, do not count. No case that expects a write may be passed, and at most 5 % of all cases; passes within \
         that limit are warnings. Cases whose own reference needs a world to pass are counted and skipped."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let mut surfaces: BTreeMap<String, Vec<CrossPlayCase<'_>>> = BTreeMap::new();
        let mut unjudged = 0_usize;
        // An attacked case repeats its scenario on purpose.
        for case in workspace.cases().filter(|case| case.attack.is_none()) {
            match StaticCase::of(workspace, case) {
                Some(static_case) => surfaces.entry(surface(case)).or_default().push(CrossPlayCase::new(workspace, case, static_case)),
                None => unjudged += 1,
            }
        }
        let (mut cases, mut pairs, mut passed) = (0_usize, 0_usize, vec![]);
        let mut sampled = SampledPairs::default();
        for players in surfaces.values() {
            let candidates = CandidateIndex::of(players);
            cases += players.len();
            pairs += players.len() * (players.len() - 1);
            for (n, player) in players.iter().enumerate() {
                found.record_examined();
                let mut others = candidates.of_player(n);
                if others.count() > MAX_CANDIDATES {
                    sampled.cases += 1;
                    sampled.candidates += others.count();
                    others.sample(
                        SAMPLED_CANDIDATES,
                        SeededRng::from(&ContentHash::of_text(&format!("{} {}", found.seed(), *player.case.id))),
                    );
                }
                let others: Vec<&CrossPlayCase<'_>> = others.iter().map(|other| &players[other]).collect();
                let passes =
                    |other: &CrossPlayCase<'_>| player.static_case.passes(&other.case.reference) && states_facts(player.case, other.case);
                let passing = others.into_iter().filter(|other| passes(other));
                let passing: Vec<&CrossPlayCase<'_>> = passing.collect();
                if let Some(first) = passing.first() {
                    passed.push((player.case, first.case, passing.len()));
                }
            }
        }
        let share = passed.len() as f64 / cases.max(1) as f64;
        for (case, other, more) in &passed {
            let what = format!("the reference of {} also passes case {}{}", *other.id, *case.id, and_more(*more));
            let remedy = "state what distinguishes them: arguments, parameters, rules, an assert on what is said, or facts of the rubric";
            if share > MAX_PASSED_SHARE || expects_write(workspace, case) {
                found.error(&case.at, what, remedy)
            } else {
                found.warning(&case.at, what, remedy)
            }
        }
        found.note(format!(
            "{} of {} ({}) passed by another case's reference, {} on one surface; cases that need a world: {unjudged}",
            passed.len(),
            model::count(cases, "case"),
            percent(passed.len(), cases),
            model::count(pairs, "pair")
        ));
        if sampled.cases > 0 {
            found.note(format!(
                "{} with more than {MAX_CANDIDATES} references that may pass: scored on {} of {} such pairs, drawn with seed {}",
                model::count(sampled.cases, "case"),
                sampled.cases * SAMPLED_CANDIDATES,
                sampled.candidates,
                found.seed()
            ));
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        let from = "args: { token_in: USDC, token_out: WETH, amount: \"250\", chain: base } }]] }\n      forbid: [token_transfer]";
        let to = "args: { token_out: WETH, chain: base } }]] }";
        let second = "\n  - id: sell_dollars\n    brief:\n      surface: { agent: trader }\n      turns: [\"Turn 90 USDC into wrapped ether.\"]\n      world: small\n    \
                      expect:\n      calls: { any_of: [[{ tool: swap_execute, args: { amount: \"90\" } }]] }\n    reference:\n      \
                      - { call: swap_execute, args: { token_in: USDC, token_out: WETH, amount: \"90\", chain: base } }\n";
        ExampleWorkspace::minimal()
            .edit("suites/behavior/trader.yaml", from, to)
            .edit("suites/behavior/trader.yaml", "\n      rules: [\"before(simulate, write)\", \"before(guard.approve, write)\"]", "")
            .edit("suites/behavior/trader.yaml", "    tags: [happy_path]\n", &format!("    tags: [happy_path]{second}"))
    }
}

/// Returns whether the last answer of the other reference states the facts of a rubric, as far as the rubric lists any. What else a judge
/// would say is not known here.
fn states_facts(case: &Case, other: &Case) -> bool {
    let Some(rubric) = case.expect.rubric.as_ref().filter(|rubric| !rubric.facts.is_empty()) else { return true };
    last_answer(other).is_some_and(|answer| unstated(rubric, answer).next().is_none())
}

fn surface(case: &Case) -> String {
    match &case.brief.surface {
        CaseSurface::Profile(name) => format!("profile {}", **name),
        CaseSurface::Agent(name) => format!("agent {}", **name),
        CaseSurface::Skills => "skills".to_owned(),
    }
}

fn and_more(others: usize) -> String {
    if others > 1 { format!(", and {} more do", others - 1) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    /// Returns a workspace with a surface of `quotes` cases that differ in their amount, and one case that any of them passes.
    fn crowded(quotes: usize) -> Workspace {
        let mut suite = String::from("suite: tool_selection\nabout: Are many cases sampled?\ncases:\n");
        for n in 0..=quotes {
            let amount = if n == 0 { String::new() } else { format!("amount: \"{n}\", ") };
            let args = format!("{{ token_in: USDC, token_out: WETH, amount: \"{n}\", chain: base }}");
            let _ = write!(
                suite,
                "  - id: quote_{n}\n    brief: {{ surface: {{ profile: trader }}, turns: [\"Quote {n} USDC.\"], world: small }}\n    \
                 expect: {{ calls: {{ any_of: [[{{ tool: swap_get_quote, args: {{ token_in: USDC, {amount}chain: base }} }}]] }} }}\n    \
                 reference: [{{ call: swap_get_quote, args: {args} }}]\n"
            );
        }
        ExampleWorkspace::minimal().with("suites/tool_selection/crowd.yaml", &suite).load().expect("a workspace")
    }

    fn result(workspace: &Workspace, seed: u64) -> super::super::CheckResult {
        let mut found = FindingCollector::of("cross_play", seed);
        CrossPlay.check(workspace, &mut found);
        found.finish()
    }

    #[test]
    fn planted_pass_is_found_with_and_without_a_sample() {
        for quotes in [20, MAX_CANDIDATES + 20] {
            let found = result(&crowded(quotes), 1);
            let loose: Vec<_> = found.findings.iter().filter(|finding| finding.what.contains("passes case quote_0")).collect();
            assert_eq!(loose.len(), 1, "{quotes}: {:?}", found.findings);
        }
    }

    #[test]
    fn facts_of_a_rubric_distinguish_cases() {
        let suite = |rubric: &str| {
            let case = |id: &str, said: &str, rubric: &str| {
                format!(
                    "  - id: {id}\n    brief: {{ surface: {{ agent: desk }}, turns: [\"What do I have? {id}\"], world: small }}\n    expect:\n      \
                     calls: {{ any_of: [[{{ tool: wallet_get_balance }}]] }}\n{rubric}    reference:\n      \
                     - {{ agent: desk, call: wallet_get_balance, args: {{ token: USDC, chain: base }} }}\n      - {{ agent: desk, say: {said} }}\n"
                )
            };
            let cases = [
                case("names_coins", "You have coins.", rubric),
                case("names_notes", "You have notes.", "      rubric: { asks: Names notes., facts: [notes], counter_example: No. }\n"),
            ];
            let text = format!("suite: behavior\nabout: Is the answer the difference?\ncases:\n{}", cases.concat());
            let workspace = ExampleWorkspace::minimal().with("suites/behavior/words.yaml", &text).load().expect("a workspace");
            result(&workspace, 1)
                .findings
                .iter()
                .filter(|finding| finding.what.contains("names_"))
                .map(|finding| finding.what.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(suite("      rubric: { asks: Names coins., facts: [coins], counter_example: No. }\n"), [""; 0]);
        assert_eq!(suite(""), ["the reference of names_notes also passes case names_coins"]);
    }

    #[test]
    fn cases_without_calls_count_if_something_must_be_said() {
        let suite = |assertion: &str| {
            let case = |id: &str, said: &str, assertion: &str| {
                format!(
                    "  - id: {id}\n    brief: {{ surface: {{ profile: trader }}, turns: [\"Pay by card. {id}\"], world: small }}\n    expect:\n      \
                     calls: {{ none: true }}\n      assert: [{assertion}]\n    reference: [{{ say: {said} }}]\n"
                )
            };
            let cases = [
                case("by_card", "No card was used.", assertion),
                case("by_note", "No note was used.", "{ type: not-contains, value: paid }"),
            ];
            let text = format!("suite: tool_selection\nabout: Is nothing called?\ncases:\n{}", cases.concat());
            let workspace = ExampleWorkspace::minimal().with("suites/tool_selection/none.yaml", &text).load().expect("a workspace");
            result(&workspace, 1)
                .findings
                .iter()
                .filter(|finding| finding.what.contains("by_"))
                .map(|finding| finding.what.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(suite("{ type: not-contains, value: bought }"), [""; 0]);
        assert_eq!(suite("{ type: contains, value: was used }"), ["the reference of by_note also passes case by_card"]);
    }

    #[test]
    fn sample_is_reported_with_its_seed() {
        let all = result(&crowded(20), 7);
        assert!(!all.notes.iter().any(|note| note.contains("drawn with seed")), "{:?}", all.notes);
        let some = result(&crowded(MAX_CANDIDATES + 20), 7);
        let note = some.notes.iter().find(|note| note.contains("drawn with seed 7")).expect("a note about the sample");
        assert!(note.starts_with("422 cases with more than 400"), "{note}");
        let again = result(&crowded(MAX_CANDIDATES + 20), 7);
        assert_eq!((some.findings.len(), &some.notes), (again.findings.len(), &again.notes));
    }
}
