//! Tiers are numbered without gaps, and CI and gates name only those that exist. Tier 1, configuration.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::{Location, Tier, Workspace, did_you_mean};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct TiersComplete;

impl Check for TiersComplete {
    fn id(&self) -> &'static str {
        "tiers_complete"
    }

    fn manual(&self) -> &'static str {
        "Tiers are numbered from 1 without gaps or repetitions, every event of ci occurs once, and ci and gates name existing tiers only. \
         The judge of a tier is a subject with a model. \
         A gate in a tier that does not exist would silently never be judged."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        check_numbers(workspace, found);
        let known: BTreeSet<u64> = workspace.tiers.tiers.iter().map(|tier| tier.tier).collect();
        // Rows of ci have no location.
        let file = Location::new("tiers.yaml", 1);
        for tier in &workspace.tiers.tiers {
            check_judge(workspace, tier, found);
        }
        let mut events = BTreeSet::new();
        for row in &workspace.tiers.ci {
            found.record_examined();
            if !events.insert(row.event.as_str()) {
                found.error(&file, format!("ci has the event {} twice", row.event), "merge the two rows");
            }
            check_named(&format!("the ci event {}", row.event), &row.tiers, &known, &file, found);
        }
        for gate in &workspace.gates {
            found.record_examined();
            check_named(&format!("gate {}", *gate.id), &gate.tiers, &known, &gate.at, found);
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("gates.yaml", "tiers: [2]", "tiers: [2, 4]")
    }
}

fn check_judge(workspace: &Workspace, tier: &Tier, found: &mut FindingCollector) {
    let Some(judge) = &tier.judge else { return };
    match workspace.subject(judge) {
        Some(file) if file.provider.is_llm() => {}
        Some(_) => found.error(&judge.at, format!("{} cannot judge: it is not a model", judge.value), "name a subject with a model"),
        None => {
            let known = did_you_mean(judge, workspace.subjects.iter().map(|subject| subject.name.as_str()));
            let remedy = if known.is_empty() { "add it to subjects/ or remove judge".to_owned() } else { known };
            found.error(&judge.at, format!("the judge {} of tier {} is not a subject", judge.value, tier.tier), remedy);
        }
    }
}

fn check_numbers(workspace: &Workspace, found: &mut FindingCollector) {
    let mut first: BTreeMap<u64, &Location> = BTreeMap::new();
    for tier in &workspace.tiers.tiers {
        found.record_examined();
        if let Some(earlier) = first.get(&tier.tier) {
            let what = format!("duplicate tier {} ({})", tier.tier, tier.name);
            found.error(&tier.at, what, format!("the first is at {earlier}; give one another number"));
        } else {
            first.insert(tier.tier, &tier.at);
        }
    }
    if first.is_empty() {
        found.error(&Location::new("tiers.yaml", 1), "no tiers are defined", "add tier 1, which needs no model");
    }
    let mut before = 0;
    for (number, at) in first {
        if number == 0 {
            found.error(at, "a tier has the number 0", "count from 1");
        } else if number != before + 1 {
            found.error(at, format!("tier {number} follows tier {before}"), format!("number it {} or add the missing tier", before + 1));
        }
        before = number;
    }
}

fn check_named(who: &str, named: &[u64], known: &BTreeSet<u64>, at: &Location, found: &mut FindingCollector) {
    for tier in named.iter().filter(|tier| !known.contains(tier)) {
        let all: Vec<_> = known.iter().map(u64::to_string).collect();
        found.error(at, format!("{who} names tier {tier}, which does not exist"), format!("existing tiers: {}", all.join(", ")));
    }
}
