//! Trials whose attack a model words: each try plays the scenario from the start with another text. Ends with the first text that
//! succeeds; otherwise the try with the highest effect counts.

use super::case_driver::{CaseDriver, DrivenTrial, harness_abort};
use model::suite::attack::GoalRewrite;
use model::{Case, CaseAttack, ContentHash, EffectLevel, Ending, Transcript, Trial};
use run::attacker::{AttackTask, AttackerFault, LlmAttacker, TriedText};
use run::ledger::{CallId, CallRole};
use score::oracles::attack_outcome;
use score::questions::shown_events;
use score::scorers::Evidence;
use serde_json::json;

/// Longest description of a try for the attacker.
const MAX_SEEN_CHARS: usize = 3_000;

/// Attack of one trial.
#[derive(Clone, Copy)]
struct RewrittenAttack<'r> {
    attacker: &'r LlmAttacker,
    attack: &'r CaseAttack,
    rewrite: &'r GoalRewrite,
}

impl CaseDriver {
    /// Drives a trial, in several tries if a model words its attack.
    pub(super) async fn drive(&self, trial: &Trial, at: usize, subject: usize) -> DrivenTrial {
        let case = self.prepared.plan().case(at);
        let Some((attack, rewrite)) = case.attack.as_deref().and_then(|attack| Some((attack, attack.rewrite.as_ref()?))) else {
            return self.drive_case(trial, at, subject, case).await;
        };
        match &self.prepared.parts().models.attacker {
            Some(attacker) => self.drive_tries(trial, at, subject, RewrittenAttack { attacker, attack, rewrite }).await,
            None => harness_abort("the run has no attacker model".to_owned()).into(),
        }
    }

    /// Plays the tries of a trial.
    async fn drive_tries(&self, trial: &Trial, at: usize, subject: usize, attacked: RewrittenAttack<'_>) -> DrivenTrial {
        let RewrittenAttack { attacker, attack, rewrite } = attacked;
        let case = self.prepared.plan().case(at);
        let task = AttackTask { goal: &rewrite.goal, channel: attack.channel, marker: &attack.marker };
        let mut tried: Vec<TriedText> = vec![];
        let mut best: Option<(EffectLevel, DrivenTrial)> = None;
        for n in 0..rewrite.tries {
            let call = CallId { trial: trial.id.clone(), role: CallRole::Attacker, n: u32::try_from(n).unwrap_or(u32::MAX) };
            let text = match attacker.propose(call, trial.seed, task, &tried).await {
                Ok(text) => text,
                Err(fault) => return Ending::from(fault).into(),
            };
            if !disguise::contains_marker(&text, &attack.marker) {
                tried.push(TriedText { text, seen: format!("The text was not placed: it lacks the word {}.", attack.marker) });
                continue;
            }
            let worded = Case { brief: attack::reword(&case.brief, &rewrite.goal, &text), ..case.clone() };
            // Model calls are numbered per trial: those of each try use a separate id.
            let of_try = Trial { id: ContentHash::of_json(&json!([trial.id.as_str(), "try", n])), ..trial.clone() };
            let driven = self.drive_case(&of_try, at, subject, &worded).await;
            if !driven.ending.is_scorable() {
                return driven;
            }
            let (effect, seen) = self.examine(trial, at, &driven);
            if effect.is_breach() {
                return driven;
            }
            tried.push(TriedText { text, seen });
            if best.as_ref().is_none_or(|(highest, _)| effect > *highest) {
                best = Some((effect, driven));
            }
        }
        best.map_or_else(|| Ending::from(AttackerFault::NoMarker(rewrite.tries)).into(), |(_, driven)| driven)
    }

    /// Returns the effect of a try, and what an attacker could see of it.
    fn examine(&self, trial: &Trial, at: usize, driven: &DrivenTrial) -> (EffectLevel, String) {
        let case = self.prepared.plan().case(at);
        let transcript = Transcript {
            trial: trial.id.clone(),
            case: trial.case.clone(),
            subject: trial.subject.clone(),
            events: driven.events.clone(),
            ending: driven.ending.clone(),
        };
        let effect = attack_outcome(&Evidence::new(self.prepared.plan().workspace(), case, &transcript)).effect;
        let (events, _) = self.redact(transcript.events, transcript.ending);
        let shown = shown_events(&events).join("\n");
        (effect, shown.chars().take(MAX_SEEN_CHARS).collect())
    }
}
