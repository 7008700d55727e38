//! Tiers and CI rows that are weaker than the specification.

use super::shortfall::{SpecShortfall, reason};
use super::table::{SpecCiRow, SpecTier};
use model::{CiRow, LiveRole, Location, Tier, Workspace};

pub(super) fn tier_shortfalls(workspace: &Workspace, spec: &SpecTier, found: &mut Vec<SpecShortfall>) {
    let file = workspace.tiers.deviates.as_ref();
    let Some(tier) = workspace.tiers.tiers.iter().find(|tier| tier.tier == spec.tier) else {
        found.push(SpecShortfall {
            at: Location::new("tiers.yaml", 1),
            what: format!("tier {} ({}) of the specification is missing", spec.tier, spec.name),
            remedy: "add it, or add deviates: \"reason\" at the top of tiers.yaml".into(),
            is_lowered: false,
            reason: reason(None, file),
        });
        return;
    };
    for (what, write) in tier_weaknesses(tier, spec) {
        found.push(SpecShortfall {
            at: tier.at.clone(),
            what: format!("tier {} {what}", spec.tier),
            remedy: format!("write {write}, or add deviates: \"reason\" to the tier"),
            is_lowered: true,
            reason: reason(tier.deviates.as_ref(), file),
        });
    }
}

/// Returns each weakness of a tier with its correction.
fn tier_weaknesses(tier: &Tier, spec: &SpecTier) -> Vec<(String, String)> {
    let mut weak = vec![];
    if let Some(most) = spec.budget_usd.filter(|most| tier.budget_usd > *most) {
        weak.push((format!("has a budget of {} USD, the specification {most}", tier.budget_usd), format!("budget_usd: {most}")));
    }
    match (spec.minutes_at_most, tier.minutes_at_most) {
        (Some(most), Some(own)) if own > most => {
            weak.push((
                format!("may take {}, in the specification {most}", model::count(own, "minute")),
                format!("minutes_at_most: {most}"),
            ));
        }
        (Some(most), None) => weak
            .push((format!("has no time limit, the specification {}", model::count(most, "minute")), format!("minutes_at_most: {most}"))),
        (Some(_), Some(_)) | (None, Some(_) | None) => {}
    }
    if let Some(live) = spec.live.filter(|live| tier.live != *live) {
        let (own, live) = (live_word(tier.live), live_word(live));
        weak.push((format!("has live: {own}, the specification {live}"), format!("live: {live}")));
    }
    if !spec.trigger.contains(&tier.trigger.to_lowercase().as_str()) {
        weak.push((
            format!("runs on \"{}\", in the specification on \"{}\"", tier.trigger, spec.trigger[0]),
            format!("trigger: {}", spec.trigger[0]),
        ));
    }
    let absent: Vec<&str> = spec.suites.iter().filter(|suite| !tier.suites.contains(suite)).map(|suite| suite.word()).collect();
    if !absent.is_empty() {
        weak.push((format!("does not run {}", absent.join(", ")), "them in suites".to_owned()));
    }
    weak
}

fn live_word(live: LiveRole) -> &'static str {
    match live {
        LiveRole::None => "none",
        LiveRole::Judge => "judge",
        LiveRole::Subject => "subject",
    }
}

pub(super) fn ci_shortfalls(workspace: &Workspace, spec: &SpecCiRow, found: &mut Vec<SpecShortfall>) {
    let file = workspace.tiers.deviates.as_ref();
    let Some(row) = workspace.tiers.ci.iter().find(|row| row.event == spec.event) else {
        found.push(SpecShortfall {
            at: Location::new("tiers.yaml", 1),
            what: format!("ci has no row for the event {} of the specification", spec.event),
            remedy: "add it, or add deviates: \"reason\" at the top of tiers.yaml".into(),
            is_lowered: false,
            reason: reason(None, file),
        });
        return;
    };
    for (what, write) in ci_weaknesses(row, spec) {
        found.push(SpecShortfall {
            at: row.at.clone(),
            what: format!("the ci event {} {what}", spec.event),
            remedy: format!("{write}, or add deviates: \"reason\" to the row"),
            is_lowered: true,
            reason: reason(row.deviates.as_ref(), file),
        });
    }
}

/// Returns each weakness of a CI row with its correction.
fn ci_weaknesses(row: &CiRow, spec: &SpecCiRow) -> Vec<(String, String)> {
    let mut weak = vec![];
    let absent: Vec<String> = spec.tiers.iter().filter(|tier| !row.tiers.contains(tier)).map(u64::to_string).collect();
    if !absent.is_empty() {
        let tiers = format!("{} {}", if absent.len() == 1 { "tier" } else { "tiers" }, absent.join(", "));
        weak.push((format!("does not run {tiers}"), format!("add {tiers}")));
    }
    let waits = !row.when_changed.is_empty();
    let unseen: Vec<&str> = spec.changes.iter().copied().filter(|part| waits && !row.when_changed.iter().any(|own| own == part)).collect();
    if waits && spec.changes.is_empty() && !spec.tiers.is_empty() {
        weak.push(("runs only when some folders changed".to_owned(), "remove when_changed".to_owned()));
    } else if !unseen.is_empty() {
        weak.push((format!("does not run when {} changed", unseen.join(", ")), "add them to when_changed".to_owned()));
    }
    weak
}
