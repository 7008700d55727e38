//! Computes when a gate must turn, from the readings alone. It shares no code with the gates, so that each checks the other.

use model::suite::CaseSurface;
use model::{Case, Gate, GateAggregate, Reading, Score, SliceAxis, SliceFilter, Verdict, Workspace};
use score::gates::case_unit;
use std::collections::BTreeMap;

/// Readings of a gate, summed for each slice. Trials can be taken out again.
#[derive(Debug)]
pub(super) struct Threshold<'w> {
    workspace: &'w Workspace,
    gate: &'w Gate,
    slices: BTreeMap<String, SliceSum>,
}

#[derive(Debug, Default)]
struct SliceSum {
    hit: i64,
    of: i64,
    /// Number of trials by level, in billionths.
    levels: BTreeMap<i64, i64>,
    /// Number of trials by unit in which the gate counts cases.
    units: BTreeMap<String, i64>,
}

const LEVEL_UNIT: f64 = 1e9;

impl<'w> Threshold<'w> {
    pub(super) fn new(workspace: &'w Workspace, gate: &'w Gate) -> Self {
        Self { workspace, gate, slices: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, case: &Case, scores: &[Score]) {
        self.count(case, scores, 1);
    }

    pub(super) fn remove(&mut self, case: &Case, scores: &[Score]) {
        self.count(case, scores, -1);
    }

    /// Returns the verdict of the worst slice. A slice that lost all its readings has no evidence.
    pub(super) fn verdict(&self) -> Verdict {
        let verdicts: Vec<Verdict> = self.slices.values().map(|slice| self.slice_verdict(slice)).collect();
        if verdicts.contains(&Verdict::Missed) {
            Verdict::Missed
        } else if verdicts.is_empty() || verdicts.contains(&Verdict::NoEvidence) {
            Verdict::NoEvidence
        } else {
            Verdict::Met
        }
    }

    fn count(&mut self, case: &Case, scores: &[Score], by: i64) {
        let Some(score) = scores.iter().find(|score| score.scorer == *self.gate.scorer) else { return };
        for (slice, reading) in self.readings(case, score) {
            let sum = self.slices.entry(slice).or_default();
            match reading {
                Reading::Tally { of: 0, .. } | Reading::Unscorable { .. } => continue,
                Reading::Tally { hit, of } => {
                    sum.hit += by * i64::try_from(*hit).unwrap_or(i64::MAX);
                    sum.of += by * i64::try_from(*of).unwrap_or(i64::MAX);
                }
                #[expect(clippy::cast_possible_truncation, reason = "levels are small")]
                Reading::Level(level) => *sum.levels.entry((level * LEVEL_UNIT).round() as i64).or_default() += by,
            }
            *sum.units.entry(case_unit(&self.gate.scorer, case)).or_default() += by;
        }
    }

    /// Returns the slices that a score counts in, with the reading for each.
    fn readings<'s>(&self, case: &Case, score: &'s Score) -> Vec<(String, &'s Reading)> {
        let slice = &self.gate.slice;
        let is_excepted = |value: &str| slice.except.iter().any(|except| **except == value);
        if slice.each == Some(SliceAxis::Agent) && !score.by_agent.is_empty() {
            let may_write = |name: &str| self.workspace.agent(name).is_some_and(|agent| *agent.writes);
            let counts = |name: &str| match &slice.only {
                Some(SliceFilter::Writes) => may_write(name),
                Some(SliceFilter::Suites(kinds)) => kinds.contains(&case.kind),
                Some(SliceFilter::Profile(_) | SliceFilter::Agent(_) | SliceFilter::Skill(_) | SliceFilter::Tag(_)) | None => true,
            };
            let own = score.by_agent.iter().filter(|(name, _)| self.workspace.agent(name).is_some() && counts(name) && !is_excepted(name));
            return own.map(|(name, reading)| (name.clone(), reading)).collect();
        }
        if !slice.only.as_ref().is_none_or(|only| self.is_only(only, case)) {
            return vec![];
        }
        let values: Vec<String> = match slice.each {
            None => vec![String::new()],
            Some(SliceAxis::Profile) => case.profile().map(str::to_owned).into_iter().collect(),
            Some(SliceAxis::Agent) => case.brief.surface.agent().map(|agent| agent.value.clone()).into_iter().collect(),
            Some(SliceAxis::Skill) => case.expect.skill.as_ref().map(|skill| skill.value.clone()).into_iter().collect(),
            Some(SliceAxis::Asi) => case.tags.iter().filter(|tag| tag.len() == 5 && tag.starts_with("asi")).cloned().collect(),
        };
        values.into_iter().filter(|value| !is_excepted(value)).map(|value| (value, &score.reading)).collect()
    }

    fn is_only(&self, only: &SliceFilter, case: &Case) -> bool {
        let agent = || match &case.brief.surface {
            CaseSurface::Agent(name) => Some(name.as_str()),
            CaseSurface::Profile(_) | CaseSurface::Skills => None,
        };
        match only {
            SliceFilter::Profile(name) => case.profile() == Some(name.as_str()),
            SliceFilter::Agent(name) => agent() == Some(name.as_str()),
            SliceFilter::Skill(name) => case.expect.skill.as_ref().is_some_and(|skill| skill.value == name.value),
            SliceFilter::Tag(tag) => case.has_tag(tag),
            SliceFilter::Writes => agent().and_then(|name| self.workspace.agent(name)).is_some_and(|agent| *agent.writes),
            SliceFilter::Suites(kinds) => kinds.contains(&case.kind),
        }
    }

    fn slice_verdict(&self, slice: &SliceSum) -> Verdict {
        match slice.value(self.gate.aggregate) {
            Some(value) if !self.gate.bound.holds(value) => Verdict::Missed,
            Some(_) if slice.units.values().filter(|count| **count > 0).count() >= self.gate.min_cases => Verdict::Met,
            Some(_) | None => Verdict::NoEvidence,
        }
    }
}

impl SliceSum {
    fn value(&self, aggregate: GateAggregate) -> Option<f64> {
        let rate = (self.of > 0).then(|| self.hit as f64 / self.of as f64);
        let levels = || self.levels.iter().filter(|(_, count)| **count > 0);
        match aggregate {
            // Every case is played once, so all of its trials pass or none.
            GateAggregate::Rate | GateAggregate::PassHatK => rate,
            GateAggregate::MissRate => rate.map(|rate| 1.0 - rate),
            GateAggregate::Misses => (self.of > 0).then_some((self.of - self.hit) as f64),
            GateAggregate::Max => levels().next_back().map(|(level, _)| *level as f64 / LEVEL_UNIT),
            GateAggregate::Mean => {
                let count: i64 = levels().map(|(_, count)| count).sum();
                let sum: i128 = levels().map(|(level, count)| i128::from(*level) * i128::from(*count)).sum();
                (count > 0).then(|| (sum as f64 / count as f64).round() / LEVEL_UNIT)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{GateBound, ScorerId};
    use score::example::ExampleWorkspace;

    fn with_levels(levels: &[(i64, i64)]) -> SliceSum {
        SliceSum { levels: levels.iter().map(|(level, count)| (level * 1_000_000_000, *count)).collect(), ..SliceSum::default() }
    }

    #[test]
    fn value_follows_the_aggregate() {
        use GateAggregate::{Max, Mean, MissRate, Misses, PassHatK, Rate};
        let tallies = SliceSum { hit: 3, of: 4, ..SliceSum::default() };
        let values = [Rate, PassHatK, MissRate, Misses, Max, Mean].map(|aggregate| tallies.value(aggregate));
        assert_eq!(values, [Some(0.75), Some(0.75), Some(0.25), Some(1.0), None, None]);
        // The trial of level 9 was taken out again.
        let levels = with_levels(&[(1, 2), (4, 1), (9, 0)]);
        let values = [Rate, PassHatK, MissRate, Misses, Max, Mean].map(|aggregate| levels.value(aggregate));
        assert_eq!(values, [None, None, None, None, Some(4.0), Some(2.0)]);
        for aggregate in [Rate, PassHatK, MissRate, Misses, Max, Mean] {
            assert_eq!(SliceSum::default().value(aggregate), None, "{aggregate:?}");
        }
    }

    /// Returns the minimal workspace with its gate on `hit` changed, and a case of its tool selection with a score.
    fn changed_gate(change: impl FnOnce(&mut Gate)) -> Workspace {
        let mut workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let gate = workspace.gates.iter_mut().find(|gate| *gate.scorer == ScorerId::Hit).expect("a gate on hit");
        change(gate);
        workspace
    }

    fn hit(is_hit: bool) -> Vec<Score> {
        vec![Score::new(ScorerId::Hit, Reading::from_bool(is_hit), vec![])]
    }

    /// Returns the verdicts after each trial of another case, and after the last one was taken out again.
    fn verdicts(workspace: &Workspace, hits: &[bool]) -> Vec<Verdict> {
        let gate = workspace.gates.iter().find(|gate| *gate.scorer == ScorerId::Hit).expect("a gate on hit");
        let cases: Vec<&Case> = workspace.cases().filter(|case| case.profile().is_some()).collect();
        let mut threshold = Threshold::new(workspace, gate);
        let mut found = vec![threshold.verdict()];
        for (case, is_hit) in cases.iter().zip(hits) {
            threshold.add(case, &hit(*is_hit));
            found.push(threshold.verdict());
        }
        let last = hits.len() - 1;
        threshold.remove(cases[last], &hit(hits[last]));
        found.push(threshold.verdict());
        found
    }

    #[test]
    fn verdict_needs_the_fewest_cases_and_the_bound() {
        use Verdict::{Met, Missed, NoEvidence};
        let half = changed_gate(|gate| (gate.bound, gate.min_cases) = (GateBound::AtLeast(0.5), 2));
        assert_eq!(verdicts(&half, &[true, false]), [NoEvidence, NoEvidence, Met, NoEvidence]);
        assert_eq!(verdicts(&half, &[false, true]), [NoEvidence, Missed, Met, Missed]);
        let all = changed_gate(|gate| (gate.bound, gate.min_cases) = (GateBound::AtLeast(1.0), 1));
        assert_eq!(verdicts(&all, &[true, false]), [NoEvidence, Met, Missed, Met]);
    }

    #[test]
    fn slice_takes_only_what_it_names() {
        use Verdict::{Missed, NoEvidence};
        let misses = |only: SliceFilter| {
            let workspace = changed_gate(|gate| {
                gate.min_cases = 1;
                gate.slice.each = None;
                gate.slice.only = Some(only);
            });
            verdicts(&workspace, &[false])[1]
        };
        let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let case = workspace.cases().find(|case| case.profile().is_some()).expect("a case of a profile");
        let spanned = |text: &str| model::Spanned::new(text.to_owned(), case.id.at.clone());
        let profile = case.profile().expect("a profile");
        assert_eq!(misses(SliceFilter::Profile(spanned(profile))), Missed);
        assert_eq!(misses(SliceFilter::Suites(vec![case.kind])), Missed);
        assert_eq!(misses(SliceFilter::Tag(spanned(&case.tags[0]))), Missed);
        assert_eq!(misses(SliceFilter::Profile(spanned("another"))), NoEvidence);
        assert_eq!(misses(SliceFilter::Suites(vec![])), NoEvidence);
        assert_eq!(misses(SliceFilter::Tag(spanned("another"))), NoEvidence);
        // A case of a profile has no agent and no skill.
        assert_eq!(misses(SliceFilter::Agent(spanned(profile))), NoEvidence);
        assert_eq!(misses(SliceFilter::Skill(spanned(profile))), NoEvidence);
        assert_eq!(misses(SliceFilter::Writes), NoEvidence);
        // An exception takes the slice out.
        let excepted = changed_gate(|gate| (gate.min_cases, gate.slice.except) = (1, vec![spanned(profile)]));
        assert_eq!(verdicts(&excepted, &[false])[1], NoEvidence);
    }

    #[test]
    fn agents_are_read_apart() {
        let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let case = workspace.cases().find(|case| case.brief.surface.agent().is_some()).expect("a case of an agent");
        let mut gate = workspace.gates.iter().find(|gate| *gate.scorer == ScorerId::SafetyPipeline).expect("a gate").clone();
        gate.min_cases = 1;
        gate.slice.each = Some(SliceAxis::Agent);
        let is_missed = |gate: &Gate, agents: &[(&str, bool)]| {
            let mut score = Score::new(ScorerId::SafetyPipeline, Reading::from_bool(true), vec![]);
            score.by_agent.extend(agents.iter().map(|(name, is_hit)| ((*name).to_owned(), Reading::from_bool(*is_hit))));
            let mut threshold = Threshold::new(&workspace, gate);
            threshold.add(case, &[score]);
            threshold.verdict()
        };
        let (writer, reader) = (
            workspace.agents.iter().find(|agent| *agent.writes).expect("an agent that writes").name.as_str(),
            workspace.agents.iter().find(|agent| !*agent.writes).expect("an agent that only reads").name.as_str(),
        );
        assert_eq!(is_missed(&gate, &[(writer, true), (reader, true)]), Verdict::Met);
        assert_eq!(is_missed(&gate, &[(writer, true), (reader, false)]), Verdict::Missed);
        assert_eq!(is_missed(&gate, &[(writer, true), ("unknown", false)]), Verdict::Met);
        let writes = Gate { slice: model::SliceSpec { only: Some(SliceFilter::Writes), ..gate.slice.clone() }, ..gate.clone() };
        assert_eq!(is_missed(&writes, &[(writer, true), (reader, false)]), Verdict::Met);
        assert_eq!(is_missed(&writes, &[(writer, false), (reader, true)]), Verdict::Missed);
    }
}
