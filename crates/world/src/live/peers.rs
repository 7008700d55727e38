//! Review decisions on actions, by the stubbed guardian and assessor or by an agent under test.

use super::actions::ActionGrant;
use super::guardian;
use super::hooks::worth_usd8;
use super::review_terms::{outflows, request_key};
use super::simulate::dry_run;
use super::trial_state::TrialState;
use super::tx_plan::PlanKind;
use super::world_template::WorldTemplate;
use crate::{ActingAgent, PeerAnswer};
use model::transcript::ReviewDecision;
use model::{EventKind, Policy, ReviewRole};
use serde_json::{Map, Value};

/// Review request to a stubbed peer.
#[derive(Debug, Clone, Copy)]
pub(super) struct PeerRequest<'a> {
    pub who: &'a ActingAgent,
    pub to: &'a str,
    pub role: ReviewRole,
    pub params: &'a Map<String, Value>,
}

/// Returns and records the policy-based decision of a stubbed peer.
pub(super) async fn ask(template: &WorldTemplate, state: &mut TrialState, request: PeerRequest<'_>) -> PeerAnswer {
    let action_id = guardian::action_id(request.params).map(str::to_owned);
    let frozen = action_id.as_deref().and_then(|id| state.actions.get(id)).cloned();
    let (mut reverted, mut chain) = (None, None);
    if let Some(frozen) = &frozen {
        reverted = match dry_run(state, &frozen.plan, template.operator()).await {
            Ok(dry_run) => dry_run.error,
            Err(error) => Some(error.message),
        };
        chain = state.chain(frozen.plan.chain).await.ok().map(|chain| chain.template().clone());
    }
    let spent = frozen.as_ref().map_or(*state.account.spent(), |frozen| {
        let signs = matches!(frozen.plan.kind, PlanKind::Sign(_));
        let pending = state.actions.pending_usd8(signs, action_id.as_deref().unwrap_or_default(), state.now_ms());
        state.account.spent_before(&frozen.plan.kind).plus(pending)
    });
    let decide = |policy: &Policy| {
        let input = guardian::ReviewInput {
            workspace: template.workspace(),
            policy,
            world: template.file(),
            book: chain.as_ref().map(|chain| chain.address_book()),
            actions: &state.actions,
            now_ms: state.now_ms(),
            halted: state.account.is_halted(),
            spent: &spent,
            params: request.params,
            reverted: reverted.as_deref(),
        };
        guardian::decide(request.role, &input)
    };
    let no_policy = || (ReviewDecision::Veto, "there is no policy to decide by".to_owned());
    let (decision, reason) = template.workspace().policy.as_ref().map_or_else(no_policy, decide);
    if let (ReviewRole::Guardian, ReviewDecision::Approve, Some(frozen), Some(chain)) = (request.role, decision, &frozen, &chain) {
        let spends = outflows(chain.address_book(), &frozen.plan).into_iter().map(|(symbol, _, amount)| (symbol, amount)).collect();
        state.actions.add_grant(ActionGrant {
            action_id: action_id.clone().unwrap_or_default(),
            calldata_hash: frozen.calldata_hash.clone(),
            request: request_key(template.workspace(), request.params),
            spends,
            worth_usd8: worth_usd8(template.file(), chain.address_book(), &frozen.plan.outflows).unwrap_or_default(),
            signs: matches!(frozen.plan.kind, PlanKind::Sign(_)),
            expires_at_ms: frozen.expires_at_ms,
            sent: false,
        });
    }
    let by = ActingAgent::new(request.to, request.who.depth + 1);
    let answer = PeerAnswer { action_id, decision, reason };
    record_decision(template, state, &by, Some(request.role), answer.clone());
    answer
}

/// Records a decision with its calldata hash and policy version. Only a guardian's decision is binding.
pub(super) fn record_decision(
    template: &WorldTemplate,
    state: &mut TrialState,
    by: &ActingAgent,
    role: Option<ReviewRole>,
    answer: PeerAnswer,
) {
    let PeerAnswer { action_id, decision, reason } = answer;
    let policy = template.workspace().policy.as_ref().map(|policy| policy.version);
    let calldata_hash = action_id.as_deref().and_then(|id| state.actions.get(id)).map(|frozen| frozen.calldata_hash.clone());
    if let (Some(ReviewRole::Guardian), Some(calldata_hash), Some(policy)) = (role, &calldata_hash, policy) {
        state.actions.apply_decision(calldata_hash, decision, policy);
    }
    state.record.note(by, EventKind::Decided { action_id, decision, reason, calldata_hash, policy });
}
