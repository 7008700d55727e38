//! Summary of the attacks of a run as it is kept beside the store, and the texts of attacks.

use model::suite::{Case, UserScript};
use model::{AttackChannel, EffectLevel, OwaspCategory, Workspace, WorldFault};
use serde::{Deserialize, Serialize};

/// Cell of the heat map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeatEntry {
    #[serde(with = "category_word")]
    pub asi: OwaspCategory,
    #[serde(with = "channel_word")]
    pub channel: AttackChannel,
    pub exercised: usize,
    pub breaches: usize,
    pub near_misses: usize,
}

/// Severity of a finding, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttackSeverity {
    Critical,
    High,
    Medium,
    /// An unsafe call that did not get through.
    Stopped,
}

impl AttackSeverity {
    pub fn word(self) -> &'static str {
        match self {
            AttackSeverity::Critical => "critical",
            AttackSeverity::High => "high",
            AttackSeverity::Medium => "medium",
            AttackSeverity::Stopped => "stopped",
        }
    }
}

/// Attack that reached more than nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingEntry {
    pub case: String,
    pub probe: String,
    pub asi: Vec<String>,
    #[serde(with = "channel_word")]
    pub channel: AttackChannel,
    pub strategy: String,
    #[serde(with = "effect_word")]
    pub effect: EffectLevel,
    pub severity: AttackSeverity,
    pub oracles: Vec<String>,
    pub what: String,
    pub stopped_by: Option<String>,
    pub exposure_usd: f64,
    /// Texts with which the attack reached the subject.
    pub texts: Vec<String>,
}

/// Attacks on one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttackSummary {
    pub subject: String,
    pub attacked: usize,
    pub exercised: usize,
    pub breaches: usize,
    pub near_misses: usize,
    pub flagged: usize,
    pub exposure_usd: f64,
    pub worst_usd: f64,
    pub twins: usize,
    pub twins_served: usize,
    pub not_exercised: usize,
    /// Success rate that a run without successes rules out, at a confidence of 95 %.
    pub ruled_out: Option<f64>,
    pub heat: Vec<HeatEntry>,
    /// Worst first.
    pub findings: Vec<FindingEntry>,
    pub more_findings: usize,
}

/// Reproducer of a workspace: its case and its texts.
pub(super) type ShrunkAttack = (String, Vec<String>);

/// Returns the smallest attacked case in the files of a workspace with the probe and channel of a finding.
pub(super) fn shrunk_attack(workspace: &Workspace, finding: &FindingEntry) -> Option<ShrunkAttack> {
    let is_same = |case: &&Case| {
        case.id.value != finding.case
            && case.attack.as_deref().is_some_and(|attack| attack.probe == finding.probe && attack.channel == finding.channel)
    };
    let shrunk = workspace.cases().filter(is_same).min_by_key(|case| attack_texts(case).iter().map(String::len).sum::<usize>());
    shrunk.map(|case| (case.id.value.clone(), attack_texts(case)))
}

/// Returns the texts that the attack put into the case: filled holes, added answers and descriptions, and the turns before the scenario.
pub fn attack_texts(case: &Case) -> Vec<String> {
    let turns: Vec<String> = match &case.brief.user_script {
        UserScript::Turns(turns) => turns.iter().map(|turn| turn.value.clone()).collect(),
        UserScript::Persona(persona) => vec![persona.opening.clone()],
    };
    let marker = case.attack.as_deref().map(|attack| attack.marker.as_str()).unwrap_or_default();
    let marked = turns.into_iter().filter(|turn| !marker.is_empty() && turn.contains(marker));
    let faults = case.brief.faults.iter().filter_map(fault_text);
    case.brief.fills.values().cloned().chain(marked).chain(faults).collect()
}

fn fault_text(fault: &WorldFault) -> Option<String> {
    match fault {
        WorldFault::ChangeTool { description: text, .. }
        | WorldFault::ShadowTool { description: text, .. }
        | WorldFault::LateAnswer { message: text, .. }
        | WorldFault::ReplayMessage { text, .. }
        | WorldFault::AddToAnswer { text, .. }
        | WorldFault::AddToolNote { text, .. } => Some(text.clone()),
        WorldFault::TamperHandOver { key, value } => Some(format!("{key} = {value}")),
    }
}

/// Declares how a value with a word is kept: as the word.
macro_rules! kept_as_word {
    ($module:ident, $kind:ty) => {
        mod $module {
            use serde::de::Error;
            use serde::{Deserialize, Deserializer, Serializer};

            pub(super) fn serialize<S: Serializer>(value: &$kind, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(value.word())
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$kind, D::Error> {
                let word = String::deserialize(deserializer)?;
                <$kind>::parse(&word).ok_or_else(|| D::Error::custom(format!("unknown word \"{word}\"")))
            }
        }
    };
}

kept_as_word!(category_word, model::OwaspCategory);
kept_as_word!(channel_word, model::AttackChannel);
kept_as_word!(effect_word, model::EffectLevel);
