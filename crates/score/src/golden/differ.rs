//! What changed between two runs of a case, in lines a person understands.

use super::deed::Deed;
use super::facts::{Fact, facts};
use super::{Entry, Step};
use model::Workspace;
use model::suite::{Case, Surface};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compared {
    pub changes: Vec<String>,
    /// Only where nothing else changed.
    pub reworded: Vec<Reworded>,
}

/// A text with the same facts in other words: whether it says the same, only a judge can tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reworded {
    pub before: String,
    pub after: String,
}

/// Calls count by what they mean, numbers within the tolerance (a share of the larger). Between two writes nothing moves, so the order
/// of what happens there is left alone; across a write it counts. On a profile all calls are one move and have no order.
pub fn compare(workspace: &Workspace, case: &Case, before: &Entry, after: &Entry, tolerance: f64) -> Compared {
    let mut changes = vec![];
    if before.ending != after.ending {
        changes.push(format!("ends differently: {}, was {}", after.ending, before.ending));
    }
    let deeds = |entry: &'_ Entry| -> Vec<usize> { (0..entry.steps.len()).collect() };
    let old: Vec<Deed<'_>> = deeds(before).into_iter().filter_map(|n| Deed::of(workspace, &before.steps[n])).collect();
    let new: Vec<Deed<'_>> = deeds(after).into_iter().filter_map(|n| Deed::of(workspace, &after.steps[n])).collect();
    let paired = Paired::of(&old, &new, tolerance);
    changes.extend(paired.changes(&old, &new, tolerance));
    if changes.is_empty() && !matches!(case.brief.surface, Surface::Profile(_)) {
        changes.extend(paired.reordered(&old, &new));
    }
    changes.extend(speech(before, after));
    let said = |entry: &Entry| entry.steps.iter().filter_map(text).collect::<Vec<_>>().join("\n");
    changes.extend(facts_changed(&facts(workspace, &said(before)), &facts(workspace, &said(after))));
    let reworded = if changes.is_empty() { reworded(before, after) } else { vec![] };
    Compared { changes, reworded }
}

/// Which deed of one run is which of the other.
struct Paired {
    /// For each old deed the new one that is the same.
    same: Vec<Option<usize>>,
}

impl Paired {
    fn of(old: &[Deed<'_>], new: &[Deed<'_>], tolerance: f64) -> Self {
        let mut taken = vec![false; new.len()];
        let same = old
            .iter()
            .map(|deed| {
                let found = new.iter().enumerate().position(|(n, other)| !taken[n] && deed.is(other, tolerance))?;
                taken[found] = true;
                Some(found)
            })
            .collect();
        Self { same }
    }

    fn changes(&self, old: &[Deed<'_>], new: &[Deed<'_>], tolerance: f64) -> Vec<String> {
        let mut left: Vec<usize> = (0..new.len()).filter(|n| !self.same.contains(&Some(*n))).collect();
        let mut told = vec![];
        for deed in old.iter().zip(&self.same).filter(|(_, same)| same.is_none()).map(|(deed, _)| deed) {
            match left.iter().position(|n| deed.is_like(&new[*n])) {
                Some(at) => {
                    let other = &new[left.remove(at)];
                    let args = deed.differing(other, tolerance);
                    let args: Vec<String> =
                        args.iter().map(|name| format!("{name} is {}, was {}", other.written(name), deed.written(name))).collect();
                    told.push(format!("{} differently: {}", other.does, args.join("; ")));
                }
                None => told.push(format!("no longer: {}", deed.told())),
            }
        }
        told.extend(left.into_iter().map(|n| format!("new: {}", new[n].told())));
        told
    }

    /// All deeds are the same; is each on the same side of every write?
    fn reordered(&self, old: &[Deed<'_>], new: &[Deed<'_>]) -> Option<String> {
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

type IsKind = fn(&Step) -> bool;

/// Questions, refusals and reports count by being there.
fn speech(before: &Entry, after: &Entry) -> Vec<String> {
    let kinds: [(&str, IsKind); 3] = [
        ("asks the user", |step| matches!(step, Step::Ask(_))),
        ("refuses", |step| matches!(step, Step::Refuse(_))),
        ("reports something suspicious", |step| matches!(step, Step::Report(_))),
    ];
    let mut told = vec![];
    for (what, is) in kinds {
        let count = |entry: &Entry| entry.steps.iter().filter(|step| is(step)).count();
        match (count(before), count(after)) {
            (was, now) if was == now => {}
            (0, _) => told.push(format!("new: {what}")),
            (_, 0) => told.push(format!("no longer: {what}")),
            (was, now) => told.push(format!("{what} {now} times, was {was}")),
        }
    }
    told
}

fn text(step: &Step) -> Option<&str> {
    match step {
        Step::Ask(text) | Step::Say(text) | Step::Refuse(text) | Step::Report(text) => Some(text),
        Step::Call { .. } | Step::Delegate { .. } | Step::Activate { .. } => None,
    }
}

fn facts_changed(before: &[Fact], after: &[Fact]) -> Vec<String> {
    let mut fresh: Vec<&Fact> = after.iter().filter(|fact| !before.iter().any(|known| known.is(fact))).collect();
    let mut told = vec![];
    for gone in before.iter().filter(|fact| !after.iter().any(|known| known.is(fact))) {
        match fresh.iter().position(|fact| fact.replaces(gone)) {
            Some(at) => told.push(format!("says {}, said {gone}", fresh.remove(at))),
            None => told.push(format!("no longer says {gone}")),
        }
    }
    told.extend(fresh.into_iter().map(|fact| format!("now says {fact}")));
    told
}

/// The texts that only one of the runs has, white space and case aside: one by one where both have as many, else all of them as one.
fn reworded(before: &Entry, after: &Entry) -> Vec<Reworded> {
    let folded = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let mut old: Vec<&str> = before.steps.iter().filter_map(text).collect();
    let mut new = vec![];
    for text in after.steps.iter().filter_map(text) {
        match old.iter().position(|known| folded(known) == folded(text)) {
            Some(at) => drop(old.remove(at)),
            None => new.push(text),
        }
    }
    if old.len() == new.len() {
        return old.iter().zip(new).map(|(before, after)| Reworded { before: (*before).to_owned(), after: after.to_owned() }).collect();
    }
    vec![Reworded { before: old.join("\n"), after: new.join("\n") }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;
    use serde_json::{Value, json};

    fn call(tool: &str, args: Value) -> Step {
        Step::Call { by: "trader".into(), tool: tool.into(), args }
    }

    fn say(text: &str) -> Step {
        Step::Say(text.into())
    }

    fn trade() -> Vec<Step> {
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

    fn compared(after: Vec<Step>) -> Compared {
        let workspace = Example::minimal().load().expect("a workspace");
        let case = workspace.case("sell_usdc_for_ether").expect("a case");
        let entry = |steps| Entry { case: case.id.value.clone(), hash: case.hash.clone(), ending: "finished".into(), steps };
        compare(&workspace, case, &entry(trade()), &entry(after), 1e-4)
    }

    #[test]
    fn a_reordered_reworded_equivalent_run_is_the_same() {
        let mut other = trade();
        other.swap(0, 1);
        other[1] = call("wallet_get_balance", json!({"token": "usdc", "chain": 8453}));
        other[2] =
            call("token_transfer", json!({"token": "USDC", "recipient": "0x70997970c51812dc3a010c7d01b50e0d17dc79c8", "amount": "250.00"}));
        other[3] = say("Done: on base, 250.00 USDC went out.");
        let reworded = Reworded { before: "Sent 250 USDC on Base.".into(), after: "Done: on base, 250.00 USDC went out.".into() };
        assert_eq!(compared(other), Compared { changes: vec![], reworded: vec![reworded] });
        assert_eq!(compared(trade()), Compared::default());
    }

    #[test]
    fn one_changed_amount_chain_or_payee_is_seen_and_named() {
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
            let Step::Call { args, .. } = &mut other[2] else { panic!("a call") };
            args[name] = json!(value);
            assert_eq!(compared(other).changes, [line]);
        }
    }

    #[test]
    fn what_is_missing_new_moved_or_said_otherwise_is_told() {
        let told = |change: fn(&mut Vec<Step>)| {
            let mut steps = trade();
            change(&mut steps);
            compared(steps).changes.join("; ")
        };
        assert_eq!(told(|steps| drop(steps.remove(0))), "no longer: trader calls wallet_get_balance (token USDC, chain base)");
        assert_eq!(told(|steps| steps.push(Step::Ask("Sure?".into()))), "new: asks the user");
        assert_eq!(told(|steps| steps.swap(1, 2)), "in another order: calls swap_get_quote after calls token_transfer");
        assert_eq!(told(|steps| steps[3] = say("Sent 260 USDC on Base.")), "says 260 USDC, said 250 USDC");
        assert_eq!(told(|steps| steps[3] = say("Sent 250 USDC.")), "no longer says base");
        assert_eq!(told(|steps| steps[2] = call("swap_execute", json!({"token_in": "USDC"}))).matches("; ").count(), 1);
    }

    #[test]
    fn texts_that_came_or_went_are_shown_to_a_judge_as_a_whole() {
        let mut other = trade();
        other.insert(0, say("One moment."));
        other[4] = say("On Base 250 USDC went out.");
        let reworded = Reworded { before: "Sent 250 USDC on Base.".into(), after: "One moment.\nOn Base 250 USDC went out.".into() };
        assert_eq!(compared(other), Compared { changes: vec![], reworded: vec![reworded] });
        let mut chatty = trade();
        chatty.push(say("Mind the risk."));
        assert_eq!(compared(chatty).reworded, [Reworded { before: String::new(), after: "Mind the risk.".into() }]);
    }

    #[test]
    fn numbers_may_differ_by_rounding_only() {
        let mut other = trade();
        let Step::Call { args, .. } = &mut other[1] else { panic!("a call") };
        args["amount"] = json!("250.01");
        assert!(compared(other.clone()).changes.is_empty());
        let Step::Call { args, .. } = &mut other[1] else { panic!("a call") };
        args["amount"] = json!("250.1");
        assert_eq!(compared(other).changes.len(), 1);
    }
}
