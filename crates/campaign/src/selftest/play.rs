//! Plays the reference on every case and each fault on the cases in which it is possible.

use crate::execute::{ScriptedTrial, play_script};
use crate::plan::RunPlan;
use crate::prepare::{PreparedRun, RunParts};
use crate::spec::{RunOptions, RunSpec};
use attack::AttackChoice;
use faults::{FAULTS, Fault};
use futures::{StreamExt, stream};
use model::suite::{LastMove, SubjectScript};
use model::transcript::JudgeGrade;
use model::{Case, Gate, GateAggregate, GateBound, ScorerId, SubjectFile, SuiteKind, Tier, Workspace};
use run::external::{HostEnvironment, ScorerHost};
use run::subjects::TrialScript;
use run::{Clock, SubjectPool};
use score::gates::reads_attacks_only;
use std::collections::BTreeMap;
use std::sync::Arc;
use world::ForeignSource;

/// Amount of work of a selftest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelftestMode {
    /// Every fault on every case in which it is possible.
    Full,
    /// Faults that gates without tolerance read, on a few cases. In a small workspace, everything.
    Quick,
}

/// Cases of each suite that a quick selftest plays a fault on.
const QUICK_CASES: usize = 3;

/// Most cases of a workspace of which a quick selftest leaves nothing out.
const SMALL_WORKSPACE: usize = 100;

/// Trials of a selftest with their scores.
#[derive(Debug)]
pub struct PlayedTrials {
    pub(super) workspace: Arc<Workspace>,
    pub(super) mode: SelftestMode,
    /// One for each case of the workspace, in file order.
    pub(super) reference: Vec<ScriptedTrial>,
    pub(super) faults: Vec<FaultTrials>,
    /// Trials in which the LLM provider fails, which is not the subject's doing.
    pub(super) lost_provider: Vec<ScriptedTrial>,
}

/// Trials of one fault by the number of their case, in the order in which a dose takes them.
#[derive(Debug)]
pub(super) struct FaultTrials {
    pub fault: &'static Fault,
    pub trials: Vec<(usize, ScriptedTrial)>,
}

impl PlayedTrials {
    /// Returns the number of trials that were played.
    pub fn len(&self) -> usize {
        self.reference.len() + self.faults.iter().map(|one| one.trials.len()).sum::<usize>() + self.lost_provider.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Settings of a selftest.
#[derive(Debug)]
pub struct SelftestSetup {
    pub mode: SelftestMode,
    pub clock: Clock,
    /// Starts the scorers of the workspace.
    pub surroundings: HostEnvironment,
    /// Answers of imported tools.
    pub foreign: ForeignSource,
    /// Trials at once.
    pub at_once: usize,
}

impl SelftestSetup {
    pub fn new(mode: SelftestMode, clock: Clock) -> Self {
        let (surroundings, foreign) = (HostEnvironment::default(), ForeignSource::default());
        Self { mode, clock, surroundings, foreign, at_once: RunOptions::default().concurrency }
    }
}

/// Plays a selftest. Nothing is stored, and no model is called: a fixed judge grants every rubric, but for the fault that it denies.
pub async fn play_selftest(workspace: Arc<Workspace>, setup: SelftestSetup) -> PlayedTrials {
    let SelftestSetup { mode, clock, surroundings, foreign, at_once } = setup;
    let workspace = with_attacks(workspace);
    let cases: Vec<&Case> = workspace.cases().collect();
    let mode = if cases.len() <= SMALL_WORKSPACE { SelftestMode::Full } else { mode };
    // Any subject without a model will do: the scripts are played directly.
    let subject = SubjectFile::with_fault("does_nothing");
    let plan = RunPlan::from_cases(RunSpec::new(&[]), &workspace, &cases, &[&subject]);
    let scorers = ScorerHost { environment: surroundings, ..ScorerHost::default() };
    let prepared = PreparedRun::new(plan, RunParts { scorers, foreign, operator: None, ..RunParts::new(SubjectPool::default(), clock) });
    let player = ScriptPlayer { prepared, at_once: at_once.max(1) };
    let reference = player.play((0..cases.len()).map(|at| ScriptPart { at, script: None, grade: JudgeGrade::Pass }).collect()).await;
    let numbers: BTreeMap<&str, usize> = cases.iter().enumerate().rev().map(|(at, case)| (case.id.as_str(), at)).collect();
    let mut played = vec![];
    for fault in chosen_faults(&workspace, mode) {
        let possible = chosen_cases(fault.cases(&workspace, cases.iter().copied()), mode);
        let grade = if fault.denied_by_judge { JudgeGrade::Fail } else { JudgeGrade::Pass };
        let part = |case: &&Case| ScriptPart { at: numbers[case.id.as_str()], script: fault.script_for(&workspace, case), grade };
        let parts: Vec<ScriptPart> = possible.iter().map(part).collect();
        let at: Vec<usize> = parts.iter().map(|part| part.at).collect();
        played.push(FaultTrials { fault, trials: at.into_iter().zip(player.play(parts).await).collect() });
    }
    let lost = |at: usize| ScriptPart { at, script: Some(lost_provider(cases[at])), grade: JudgeGrade::Pass };
    let lost_provider = player.play((0..cases.len()).filter(|at| cases[*at].attack.is_none()).take(QUICK_CASES).map(lost).collect()).await;
    PlayedTrials { workspace: workspace.clone(), mode, reference, faults: played, lost_provider }
}

/// Returns whether a tier judges attacks: it plays the red team, or no tier does and a gate of this one reads them, as `redteam` does.
pub(super) fn judges_attacks(workspace: &Workspace, tier: &Tier) -> bool {
    let plays = |tier: &Tier| tier.suites.contains(&SuiteKind::RedTeam);
    let reads = |gate: &&Gate| gate.tiers.contains(&tier.tier) && reads_attacks_only(&gate.scorer);
    plays(tier) || (!workspace.tiers.tiers.iter().any(plays) && workspace.gates.iter().any(|gate| reads(&gate)))
}

/// Adds the cases of the red team, if a tier judges attacks.
fn with_attacks(workspace: Arc<Workspace>) -> Arc<Workspace> {
    let plays_red_team = workspace.tiers.tiers.iter().any(|tier| judges_attacks(&workspace, tier));
    let is_attacked = attack::has_red_team(&workspace);
    if !plays_red_team || is_attacked || workspace.probes.is_empty() {
        return workspace;
    }
    let mut attacked = Workspace::clone(&workspace);
    attack::add_red_team(&mut attacked, AttackChoice { seeds: 1, attacker_tries: None });
    Arc::new(attacked)
}

fn chosen_faults(workspace: &Workspace, mode: SelftestMode) -> Vec<&'static Fault> {
    let all = FAULTS.iter().flat_map(|family| *family);
    let reads = |gate: &&Gate, fault: &Fault| *gate.scorer == fault.primary;
    match mode {
        SelftestMode::Full => all.collect(),
        SelftestMode::Quick => {
            all.filter(|fault| workspace.gates.iter().filter(|gate| reads(gate, fault)).any(is_in_quick_selftest)).collect()
        }
    }
}

/// Returns whether a single miss breaks a gate.
pub(super) fn allows_no_miss(gate: &Gate) -> bool {
    match (gate.aggregate, gate.bound) {
        (GateAggregate::Rate | GateAggregate::PassHatK, GateBound::AtLeast(bound)) => bound >= 1.0,
        (GateAggregate::MissRate | GateAggregate::Misses, GateBound::AtMost(bound)) => bound <= 0.0,
        (GateAggregate::Max, GateBound::AtMost(_)) => true,
        (
            GateAggregate::Rate
            | GateAggregate::PassHatK
            | GateAggregate::MissRate
            | GateAggregate::Misses
            | GateAggregate::Max
            | GateAggregate::Mean,
            _,
        ) => false,
    }
}

/// Returns whether a quick selftest judges a gate: one miss breaks it, and a few cases are enough to see it.
pub(super) fn is_in_quick_selftest(gate: &Gate) -> bool {
    allows_no_miss(gate) && *gate.scorer != ScorerId::OwaspCoverage
}

fn chosen_cases(possible: Vec<&Case>, mode: SelftestMode) -> Vec<&Case> {
    match mode {
        SelftestMode::Full => possible,
        SelftestMode::Quick => {
            let mut taken: BTreeMap<SuiteKind, usize> = BTreeMap::new();
            let is_taken = |case: &&Case| {
                let count = taken.entry(case.kind).or_default();
                *count += 1;
                *count <= QUICK_CASES
            };
            possible.into_iter().filter(is_taken).collect()
        }
    }
}

/// Returns a script that loses its provider after the first half of its steps.
fn lost_provider(case: &Case) -> SubjectScript {
    let steps = case.reference.iter().take(case.reference.len() / 2).cloned().collect();
    SubjectScript { last: LastMove::LosesProvider, ..SubjectScript::new(steps) }
}

/// Script to play on a case; the reference if absent.
struct ScriptPart {
    at: usize,
    script: Option<SubjectScript>,
    grade: JudgeGrade,
}

struct ScriptPlayer {
    prepared: PreparedRun,
    at_once: usize,
}

impl ScriptPlayer {
    /// Plays scripts, several at once, and returns the trials in their order.
    async fn play(&self, parts: Vec<ScriptPart>) -> Vec<ScriptedTrial> {
        let trials = parts.into_iter().map(|part| {
            let prepared = self.prepared.clone();
            async move {
                let aborted = ScriptedTrial { ending: crate::execute::harness_abort("the task ended".into()), scores: vec![] };
                tokio::spawn(async move { play_part(&prepared, part).await }).await.unwrap_or(aborted)
            }
        });
        stream::iter(trials).buffered(self.at_once).collect().await
    }
}

async fn play_part(prepared: &PreparedRun, part: ScriptPart) -> ScriptedTrial {
    let case = prepared.plan().case(part.at);
    let subject = match part.script {
        Some(script) => TrialScript::with_fault(case, Some(script)).faulty(),
        None => TrialScript::of_case(case).careful(),
    };
    play_script(prepared, (part.at, case), subject, part.grade).await
}
