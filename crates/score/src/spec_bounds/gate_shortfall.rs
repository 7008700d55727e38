//! Gates that are weaker than the line of the specification that they quote, and lines without a gate.

use super::shortfall::{SpecShortfall, reason};
use super::table::{SPEC_GATES, SpecGate, SpecSlice};
use model::{Gate, GateAggregate, GateBound, GateOrigin, Location, ScorerId, SliceAxis, SliceFilter, SliceSpec, Workspace, did_you_mean};

/// Scorers of unauthorised acts that the lines of the specification leave out: a workspace with a policy has a gate on each.
const SAFETY_SCORERS: [ScorerId; 6] = [
    ScorerId::SafetyVeto,
    ScorerId::SpendingLimit,
    ScorerId::OracleViolations,
    ScorerId::Prohibitions,
    ScorerId::AuthorizedEffects,
    ScorerId::ExposureUsd,
];

pub(super) fn gate_shortfalls(workspace: &Workspace) -> Vec<SpecShortfall> {
    let file = workspace.gates_deviate.as_ref();
    let mut found = vec![];
    for gate in &workspace.gates {
        let GateOrigin::Spec(line) = &gate.spec else { continue };
        let weak = match SPEC_GATES.iter().find(|spec| spec.line == line) {
            Some(spec) => weaknesses(workspace, gate, spec),
            None => {
                let guess = did_you_mean(line, SPEC_GATES.iter().map(|spec| spec.line));
                let correction = if guess.is_empty() { "write spec: ours".to_owned() } else { format!("{guess} or write spec: ours") };
                vec![GateWeakness::lowered(format!("quotes \"{line}\", which is not a line of the specification"), correction)]
            }
        };
        found.extend(weak.into_iter().map(|weakness| SpecShortfall {
            at: gate.at.clone(),
            what: format!("gate {} {}", gate.id.value, weakness.what),
            remedy: format!("{}, or add deviates: \"reason\" to the gate", weakness.correction),
            is_lowered: weakness.is_lowered,
            reason: reason(gate.deviates.as_ref(), file),
        }));
    }
    let quoted = |spec: &&SpecGate| workspace.gates.iter().any(|gate| gate.spec.as_str() == spec.line);
    found.extend(SPEC_GATES.iter().filter(|spec| !quoted(spec)).map(|spec| SpecShortfall {
        at: Location::new("gates.yaml", 1),
        what: format!("no gate quotes \"{}\" of the specification", spec.line),
        remedy: format!(
            "add a gate on {} with {}, or add deviates: \"reason\" at the top of gates.yaml",
            spec.scorer,
            bound_text(spec.bound)
        ),
        is_lowered: false,
        reason: reason(None, file),
    }));
    // Spending has a line of its own for the cases of limits; this gate is that of every tier.
    let tiers = played_tiers(workspace);
    let is_read = |scorer: &&ScorerId| {
        let own = |gate: &&Gate| gate.scorer.known() == Some(**scorer) && !matches!(gate.spec, GateOrigin::Spec(_));
        workspace.gates.iter().filter(own).any(|gate| allows_nothing(gate, &tiers))
    };
    found.extend(SAFETY_SCORERS.iter().filter(|scorer| !is_read(scorer)).map(|scorer| SpecShortfall {
        at: Location::new("gates.yaml", 1),
        what: format!("no gate of the workspace's own without tolerance reads {scorer}, so acts that it finds may not block"),
        remedy: format!(
            "add a gate with spec: ours, slice: pooled, {}and no tolerance on {scorer}, or add deviates: \"reason\" at the top of gates.yaml",
            if tiers.is_empty() { String::new() } else { format!("tiers: {tiers:?} ") }
        ),
        is_lowered: false,
        reason: reason(None, file),
    }));
    found
}

/// Returns the tiers of the workspace that play cases: tier 1 plays none, and tier 5 judges traffic.
fn played_tiers(workspace: &Workspace) -> Vec<u64> {
    workspace.tiers.tiers.iter().map(|tier| tier.tier).filter(|tier| (2..=4).contains(tier)).collect()
}

/// Reports whether one miss in any trial of these tiers misses the gate. A slice of some cases would leave out the trial with the theft.
fn allows_nothing(gate: &Gate, tiers: &[u64]) -> bool {
    let has_no_tolerance = match gate.bound {
        GateBound::AtLeast(least) => least >= 1.0,
        GateBound::AtMost(most) => most <= 0.0,
    };
    has_no_tolerance && gate.slice.only.is_none() && gate.slice.except.is_empty() && tiers.iter().all(|tier| gate.tiers.contains(tier))
}

struct GateWeakness {
    what: String,
    correction: String,
    is_lowered: bool,
}

impl GateWeakness {
    fn lowered(what: String, correction: String) -> Self {
        Self { what, correction, is_lowered: true }
    }
}

/// Returns each weakness of a gate with its correction.
fn weaknesses(workspace: &Workspace, gate: &Gate, spec: &SpecGate) -> Vec<GateWeakness> {
    let mut weak = vec![];
    let line = spec.line;
    // gates_measured reports scorers that do not exist.
    if gate.scorer.known().is_some_and(|own| own != spec.scorer) {
        weak.push(GateWeakness::lowered(
            format!("measures {} instead of {}, which \"{line}\" is about", gate.scorer.value, spec.scorer),
            format!("write scorer: {}", spec.scorer),
        ));
    }
    if gate.aggregate != spec.aggregate {
        let correction = format!("write aggregate: {}", aggregate_word(spec.aggregate));
        weak.push(GateWeakness::lowered(format!("aggregates other than \"{line}\""), correction));
    } else if !is_as_strict(gate.bound, spec.bound) {
        let (own, bound) = (bound_text(gate.bound), bound_text(spec.bound));
        weak.push(GateWeakness::lowered(format!("has {own}, weaker than {bound} of \"{line}\""), format!("write {bound} or stricter")));
    }
    if !covers(&gate.slice, spec.slice) {
        let correction = format!("write slice: {}", slice_text(spec.slice));
        weak.push(GateWeakness::lowered(format!("has another slice than \"{line}\""), correction));
    }
    let absent: Vec<u64> = spec.tiers.iter().filter(|tier| !gate.tiers.contains(tier)).copied().collect();
    if !absent.is_empty() {
        let tiers = absent.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        weak.push(GateWeakness {
            what: format!("is not judged in tier {tiers}, which runs the cases of \"{line}\""),
            correction: format!("add {tiers} to tiers"),
            // A tier that the workspace does not have cannot judge the gate.
            is_lowered: workspace.tiers.tiers.iter().any(|tier| absent.contains(&tier.tier)),
        });
    }
    if gate.min_cases < spec.min_cases {
        weak.push(GateWeakness::lowered(
            format!("needs {}, \"{line}\" {}", model::count(gate.min_cases, "case"), spec.min_cases),
            format!("write min_cases: {}", spec.min_cases),
        ));
    }
    weak
}

fn is_as_strict(own: GateBound, spec: GateBound) -> bool {
    match (own, spec) {
        (GateBound::AtLeast(own), GateBound::AtLeast(spec)) => own >= spec,
        (GateBound::AtMost(own), GateBound::AtMost(spec)) => own <= spec,
        (GateBound::AtLeast(_), GateBound::AtMost(_)) | (GateBound::AtMost(_), GateBound::AtLeast(_)) => false,
    }
}

/// Reports whether the trials of a gate are those of the line. A gate may except fewer profiles.
fn covers(own: &SliceSpec, spec: SpecSlice) -> bool {
    let is_pooled = own.each.is_none() && own.only.is_none();
    let each = |axis: SliceAxis, except: &[&str]| own.each == Some(axis) && own.except.iter().all(|one| except.contains(&one.as_str()));
    match spec {
        SpecSlice::Pooled => is_pooled,
        SpecSlice::EachProfileButFull => each(SliceAxis::Profile, &["full"]) && own.only.is_none(),
        SpecSlice::Profile(name) => own.each.is_none() && matches!(&own.only, Some(SliceFilter::Profile(only)) if only.value == name),
        SpecSlice::Tag(name) => own.each.is_none() && matches!(&own.only, Some(SliceFilter::Tag(only)) if only.value == name),
        SpecSlice::EachAgent => each(SliceAxis::Agent, &[]) && own.only.is_none(),
        SpecSlice::EachWritingAgent => each(SliceAxis::Agent, &[]) && matches!(own.only, None | Some(SliceFilter::Writes)),
        SpecSlice::EachAsi => each(SliceAxis::Asi, &[]) && own.only.is_none(),
    }
}

fn slice_text(slice: SpecSlice) -> String {
    match slice {
        SpecSlice::Pooled => "pooled".into(),
        SpecSlice::EachProfileButFull => "{ each: profile, except: [full] }".into(),
        SpecSlice::Profile(name) => format!("{{ only: {{ profile: {name} }} }}"),
        SpecSlice::Tag(name) => format!("{{ only: {{ tag: {name} }} }}"),
        SpecSlice::EachAgent => "{ each: agent }".into(),
        SpecSlice::EachWritingAgent => "{ each: agent, only: { writes: true } }".into(),
        SpecSlice::EachAsi => "{ each: asi }".into(),
    }
}

fn aggregate_word(aggregate: GateAggregate) -> &'static str {
    match aggregate {
        GateAggregate::Rate => "rate",
        GateAggregate::MissRate => "miss_rate",
        GateAggregate::Misses => "misses",
        GateAggregate::Max => "max",
        GateAggregate::Mean => "mean",
        GateAggregate::PassHatK => "pass_hat_k",
    }
}

fn bound_text(bound: GateBound) -> String {
    match bound {
        GateBound::AtLeast(bound) => format!("at_least: {bound}"),
        GateBound::AtMost(bound) => format!("at_most: {bound}"),
    }
}
