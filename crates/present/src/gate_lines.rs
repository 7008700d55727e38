//! Gate results grouped by gate: one line per gate and subject, safety first, then worst first.

use model::{EvalDimension, Gate, GateAggregate, GateResult, ScorerName, SliceFilter, Verdict, Workspace};

/// Results of one gate for one subject.
#[derive(Debug)]
pub struct GateLine<'r> {
    pub gate: &'r str,
    pub subject: &'r str,
    pub dimension: EvalDimension,
    pub verdict: Verdict,
    /// Worst result with that verdict.
    pub worst: &'r GateResult,
    /// Slices with that verdict, and all slices.
    pub slices: usize,
    pub all_slices: usize,
}

impl GateLine<'_> {
    /// Returns true if the gate allows no miss or is about safety.
    pub fn is_safety(&self) -> bool {
        self.dimension == EvalDimension::Safety || self.worst.bound.allows_no_miss()
    }

    fn excess(&self) -> f64 {
        excess(self.worst)
    }
}

fn excess(result: &GateResult) -> f64 {
    result.metric.value.map_or(0.0, |value| result.bound.excess(value))
}

/// Groups the results of a run. Of gates that read the same number, only the first is returned.
pub fn gate_lines<'r>(workspace: &Workspace, judgements: &'r [GateResult]) -> Vec<GateLine<'r>> {
    let mut lines: Vec<GateLine<'r>> = vec![];
    let mut seen: Vec<(&str, MeasuredNumber)> = vec![];
    for result in judgements {
        let gate = workspace.gates.iter().find(|gate| *gate.id == result.gate);
        if let Some(gate) = gate {
            let number = MeasuredNumber::of(gate, result);
            if seen.iter().any(|(subject, other)| *subject == result.subject && *other == number) {
                continue;
            }
            seen.push((&result.subject, number));
        }
        let known = lines.iter_mut().find(|line| line.gate == result.gate && line.subject == result.subject);
        match known {
            Some(line) => add_slice(line, result),
            None => lines.push(GateLine {
                gate: &result.gate,
                subject: &result.subject,
                dimension: gate.map_or(EvalDimension::AgentBehavior, Gate::dimension),
                verdict: result.verdict,
                worst: result,
                slices: 1,
                all_slices: 1,
            }),
        }
    }
    lines.sort_by(|a, b| {
        let rank = |line: &GateLine<'_>| (verdict_rank(line.verdict), !line.is_safety());
        rank(a).cmp(&rank(b)).then(b.excess().total_cmp(&a.excess()))
    });
    lines
}

fn add_slice<'r>(line: &mut GateLine<'r>, result: &'r GateResult) {
    line.all_slices += 1;
    let order = verdict_rank(result.verdict).cmp(&verdict_rank(line.verdict));
    if order.is_lt() {
        (line.verdict, line.slices, line.worst) = (result.verdict, 1, result);
    } else if order.is_eq() {
        line.slices += 1;
        if excess(result) > line.excess() {
            line.worst = result;
        }
    }
}

/// Returns 0 for a missed gate, which decides over one without evidence, and that over a met one.
pub fn verdict_rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Missed => 0,
        Verdict::NoEvidence => 1,
        Verdict::Met => 2,
    }
}

/// Everything that determines the number of a gate and its verdict: gates with equal ones say the same.
#[derive(Debug, PartialEq)]
struct MeasuredNumber {
    scorer: ScorerName,
    aggregate: GateAggregate,
    bound: model::GateBound,
    selection: String,
}

impl MeasuredNumber {
    fn of(gate: &Gate, result: &GateResult) -> Self {
        let filter = gate.slice.only.as_ref().map(|only| match only {
            SliceFilter::Profile(name) => format!("profile {}", name.value),
            SliceFilter::Agent(name) => format!("agent {}", name.value),
            SliceFilter::Skill(name) => format!("skill {}", name.value),
            SliceFilter::Tag(tag) => format!("tag {}", tag.value),
            SliceFilter::Writes => "writes".to_owned(),
            SliceFilter::Suites(suites) => format!("suites {suites:?}"),
        });
        let own = gate.slice.each.is_some().then(|| result.metric.slice.clone());
        let selection = [own, filter].into_iter().flatten().collect::<Vec<_>>().join(", ");
        Self { scorer: gate.scorer.value.clone(), aggregate: gate.aggregate, bound: result.bound, selection }
    }
}
