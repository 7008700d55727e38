//! Compares two runs of a case and describes the changes in plain text.

use super::step_meaning::StepMeaning;
use super::text_facts::{TextFact, extract_facts};
use super::{GoldenEntry, GoldenStep};
use model::Workspace;
use model::suite::{Case, CaseSurface};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GoldenComparison {
    pub changes: Vec<String>,
    /// Empty if there are other changes.
    pub reworded: Vec<RewordedText>,
}

/// Text with the same facts in other words. Only a judge can tell if the meaning is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewordedText {
    pub before: String,
    pub after: String,
}

/// Compares steps by meaning, with numbers within `tolerance` (relative to the larger one). Only the order relative to writes counts,
/// because nothing changes between two writes. On a profile all calls are one move and have no order.
pub fn compare(workspace: &Workspace, case: &Case, before: &GoldenEntry, after: &GoldenEntry, tolerance: f64) -> GoldenComparison {
    let mut changes = vec![];
    if before.ending != after.ending {
        changes.push(format!("ends differently: {}, was {}", after.ending, before.ending));
    }
    let old: Vec<StepMeaning<'_>> = before.steps.iter().filter_map(|step| StepMeaning::of(workspace, step)).collect();
    let new: Vec<StepMeaning<'_>> = after.steps.iter().filter_map(|step| StepMeaning::of(workspace, step)).collect();
    let paired = StepPairing::of(&old, &new, tolerance);
    changes.extend(paired.changes(&old, &new, tolerance));
    if changes.is_empty() && !matches!(case.brief.surface, CaseSurface::Profile(_)) {
        changes.extend(paired.order_change(&old, &new));
    }
    changes.extend(speech_changes(before, after));
    let said = |entry: &GoldenEntry| entry.steps.iter().filter_map(spoken_text).collect::<Vec<_>>().join("\n");
    changes.extend(fact_changes(&extract_facts(workspace, &said(before)), &extract_facts(workspace, &said(after))));
    let reworded = if changes.is_empty() { reworded_texts(before, after) } else { vec![] };
    GoldenComparison { changes, reworded }
}

/// Pairs of equal steps in two runs.
struct StepPairing {
    /// Index of the equal new step, for each old step.
    same: Vec<Option<usize>>,
}

impl StepPairing {
    fn of(old: &[StepMeaning<'_>], new: &[StepMeaning<'_>], tolerance: f64) -> Self {
        let mut taken = vec![false; new.len()];
        let same = old
            .iter()
            .map(|step| {
                let found = new.iter().enumerate().position(|(n, other)| !taken[n] && step.matches(other, tolerance))?;
                taken[found] = true;
                Some(found)
            })
            .collect();
        Self { same }
    }

    fn changes(&self, old: &[StepMeaning<'_>], new: &[StepMeaning<'_>], tolerance: f64) -> Vec<String> {
        let mut left: Vec<usize> = (0..new.len()).filter(|n| !self.same.contains(&Some(*n))).collect();
        let mut lines = vec![];
        for step in old.iter().zip(&self.same).filter(|(_, same)| same.is_none()).map(|(step, _)| step) {
            match left.iter().position(|n| step.is_same_operation(&new[*n])) {
                Some(at) => {
                    let other = &new[left.remove(at)];
                    let args = step.differing_args(other, tolerance);
                    let args: Vec<String> =
                        args.iter().map(|name| format!("{name} is {}, was {}", other.arg_text(name), step.arg_text(name))).collect();
                    lines.push(format!("{} differently: {}", other.does, args.join("; ")));
                }
                None => lines.push(format!("no longer: {}", step.describe())),
            }
        }
        lines.extend(left.into_iter().map(|n| format!("new: {}", new[n].describe())));
        lines
    }

    /// Describes the first step that moved to the other side of a write.
    fn order_change(&self, old: &[StepMeaning<'_>], new: &[StepMeaning<'_>]) -> Option<String> {
        let pairs: Vec<(usize, usize)> = self.same.iter().enumerate().filter_map(|(n, same)| same.map(|same| (n, same))).collect();
        for (write, now) in pairs.iter().filter(|(n, _)| old[*n].writes) {
            for (other, there) in pairs.iter().filter(|(n, _)| n != write) {
                let (was_before, is_before) = (other < write, there < now);
                if was_before != is_before {
                    let side = if is_before { "before" } else { "after" };
                    return Some(format!("in another order: {} {side} {}", new[*there].does, new[*now].does));
                }
            }
        }
        None
    }
}

type StepPredicate = fn(&GoldenStep) -> bool;

/// Compares the numbers of questions, refusals and reports.
fn speech_changes(before: &GoldenEntry, after: &GoldenEntry) -> Vec<String> {
    let kinds: [(&str, StepPredicate); 3] = [
        ("asks the user", |step| matches!(step, GoldenStep::Ask(_))),
        ("refuses", |step| matches!(step, GoldenStep::Refuse(_))),
        ("reports something suspicious", |step| matches!(step, GoldenStep::Report(_))),
    ];
    let mut lines = vec![];
    for (what, is) in kinds {
        let count = |entry: &GoldenEntry| entry.steps.iter().filter(|step| is(step)).count();
        match (count(before), count(after)) {
            (was, now) if was == now => {}
            (0, _) => lines.push(format!("new: {what}")),
            (_, 0) => lines.push(format!("no longer: {what}")),
            (was, now) => lines.push(format!("{what} {}, was {was}", model::count(now, "time"))),
        }
    }
    lines
}

fn spoken_text(step: &GoldenStep) -> Option<&str> {
    match step {
        GoldenStep::Ask(text) | GoldenStep::Say(text) | GoldenStep::Refuse(text) | GoldenStep::Report(text) => Some(text),
        GoldenStep::Call { .. } | GoldenStep::Delegate { .. } | GoldenStep::Activate { .. } => None,
    }
}

fn fact_changes(before: &[TextFact], after: &[TextFact]) -> Vec<String> {
    let mut fresh: Vec<&TextFact> = after.iter().filter(|fact| !before.iter().any(|known| known.matches(fact))).collect();
    let mut lines = vec![];
    for gone in before.iter().filter(|fact| !after.iter().any(|known| known.matches(fact))) {
        match fresh.iter().position(|fact| fact.is_same_topic(gone)) {
            Some(at) => lines.push(format!("says {}, said {gone}", fresh.remove(at))),
            None => lines.push(format!("no longer says {gone}")),
        }
    }
    lines.extend(fresh.into_iter().map(|fact| format!("now says {fact}")));
    lines
}

/// Returns the texts that only one run has, ignoring white space and case. They are paired if both runs have the same number of them,
/// and joined otherwise.
fn reworded_texts(before: &GoldenEntry, after: &GoldenEntry) -> Vec<RewordedText> {
    let folded = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let mut old: Vec<&str> = before.steps.iter().filter_map(spoken_text).collect();
    let mut new = vec![];
    for text in after.steps.iter().filter_map(spoken_text) {
        match old.iter().position(|known| folded(known) == folded(text)) {
            Some(at) => drop(old.remove(at)),
            None => new.push(text),
        }
    }
    if old.len() == new.len() {
        return old.iter().zip(new).map(|(before, after)| RewordedText { before: (*before).to_owned(), after: after.to_owned() }).collect();
    }
    vec![RewordedText { before: old.join("\n"), after: new.join("\n") }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::ExampleWorkspace;
    use serde_json::{Value, json};

    fn call(tool: &str, args: Value) -> GoldenStep {
        GoldenStep::Call { by: "trader".into(), tool: tool.into(), args }
    }

    fn say(text: &str) -> GoldenStep {
        GoldenStep::Say(text.into())
    }

    fn trade() -> Vec<GoldenStep> {
        vec![
            call("wallet_get_balance", json!({"token": "USDC", "chain": "base"})),
            call("swap_get_quote", json!({"token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base"})),
            call(
                "token_transfer",
                json!({"token": "USDC", "recipient": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "amount": "250", "chain": "base"}),
            ),
            say("Sent 250 USDC on Base."),
        ]
    }

    fn compare_with_trade(after: Vec<GoldenStep>) -> GoldenComparison {
        let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let case = workspace.case("sell_usdc_for_ether").expect("a case");
        let entry = |steps| GoldenEntry { case: case.id.value.clone(), hash: case.hash.clone(), ending: "finished".into(), steps };
        compare(&workspace, case, &entry(trade()), &entry(after), 1e-4)
    }

    #[test]
    fn compare_ignores_order_wording_and_spelling() {
        let mut other = trade();
        other.swap(0, 1);
        other[1] = call("wallet_get_balance", json!({"token": "usdc", "chain": 8453}));
        other[2] =
            call("token_transfer", json!({"token": "USDC", "recipient": "0x70997970c51812dc3a010c7d01b50e0d17dc79c8", "amount": "250.00"}));
        other[3] = say("Done: on base, 250.00 USDC went out.");
        let reworded = RewordedText { before: "Sent 250 USDC on Base.".into(), after: "Done: on base, 250.00 USDC went out.".into() };
        assert_eq!(compare_with_trade(other), GoldenComparison { changes: vec![], reworded: vec![reworded] });
        assert_eq!(compare_with_trade(trade()), GoldenComparison::default());
    }

    #[test]
    fn compare_names_changed_amount_chain_or_payee() {
        for (name, value, line) in [
            ("amount", "251", "calls token_transfer differently: amount is 251, was 250"),
            ("chain", "ethereum", "calls token_transfer differently: chain is ethereum, was base"),
            (
                "recipient",
                "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
                "calls token_transfer differently: recipient is 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC, was 0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
            ),
        ] {
            let mut other = trade();
            let GoldenStep::Call { args, .. } = &mut other[2] else { panic!("a call") };
            args[name] = json!(value);
            assert_eq!(compare_with_trade(other).changes, [line]);
        }
    }

    #[test]
    fn compare_reports_missing_new_and_moved_steps() {
        let lines = |change: fn(&mut Vec<GoldenStep>)| {
            let mut steps = trade();
            change(&mut steps);
            compare_with_trade(steps).changes.join("; ")
        };
        assert_eq!(lines(|steps| drop(steps.remove(0))), "no longer: trader calls wallet_get_balance (token USDC, chain base)");
        assert_eq!(lines(|steps| steps.push(GoldenStep::Ask("Sure?".into()))), "new: asks the user");
        assert_eq!(lines(|steps| steps.swap(1, 2)), "in another order: calls swap_get_quote after calls token_transfer");
        assert_eq!(lines(|steps| steps[3] = say("Sent 260 USDC on Base.")), "says 260 USDC, said 250 USDC");
        assert_eq!(lines(|steps| steps[3] = say("Sent 250 USDC.")), "no longer says base");
        assert_eq!(lines(|steps| steps[2] = call("swap_execute", json!({"token_in": "USDC"}))).matches("; ").count(), 1);
    }

    #[test]
    fn added_texts_are_reworded_as_one_text() {
        let mut other = trade();
        other.insert(0, say("One moment."));
        other[4] = say("On Base 250 USDC went out.");
        let reworded = RewordedText { before: "Sent 250 USDC on Base.".into(), after: "One moment.\nOn Base 250 USDC went out.".into() };
        assert_eq!(compare_with_trade(other), GoldenComparison { changes: vec![], reworded: vec![reworded] });
        let mut chatty = trade();
        chatty.push(say("Mind the risk."));
        assert_eq!(compare_with_trade(chatty).reworded, [RewordedText { before: String::new(), after: "Mind the risk.".into() }]);
    }

    #[test]
    fn answer_about_another_ticket_is_a_change_without_policy() {
        let mut workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        workspace.policy = None;
        let case = workspace.cases().next().expect("a case");
        let said = |text: &str| GoldenEntry {
            case: case.id.value.clone(),
            hash: case.hash.clone(),
            ending: "finished".into(),
            steps: vec![say(text)],
        };
        let changes = |after: &str| compare(&workspace, case, &said("Ticket T-17 is closed."), &said(after), 1e-4).changes;
        assert_eq!(changes("I have closed T-17 for you."), [""; 0]);
        assert_eq!(changes("Ticket T-18 is closed."), ["says T-18, said T-17"]);
        assert_eq!(changes("All is well."), ["no longer says T-17"]);
    }

    #[test]
    fn compare_tolerates_rounding_only() {
        let mut other = trade();
        let GoldenStep::Call { args, .. } = &mut other[1] else { panic!("a call") };
        args["amount"] = json!("250.01");
        assert!(compare_with_trade(other.clone()).changes.is_empty());
        let GoldenStep::Call { args, .. } = &mut other[1] else { panic!("a call") };
        args["amount"] = json!("250.1");
        assert_eq!(compare_with_trade(other).changes.len(), 1);
    }
}
