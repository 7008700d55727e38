//! Terms the user authorised, read from the intent, the parameters of a delegation or the arguments of a call.

use super::stated_shares::stated_slippage;
use crate::compare::{TypedArgs, ValueContext, ValueMeaning, asset_of_token, deadline_meaning, meaning};
use crate::evidence::Evidence;
use indexmap::IndexMap;
use model::suite::UserIntent;
use model::{AddressRole, AmountAsset, AmountUnit, ParamKind, ParamSpec, TokenRole, Workspace};
use serde_json::{Map, Value, json};

/// Terms of an intent by meaning; `spend` holds token and amount.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct IntentTerms {
    pub spend: Vec<(ValueMeaning, ValueMeaning)>,
    pub receive: Vec<ValueMeaning>,
    pub chains: Vec<ValueMeaning>,
    pub payees: Vec<ValueMeaning>,
    pub slippage: Vec<ValueMeaning>,
    pub deadline: Vec<ValueMeaning>,
}

/// Returns the specs of delegation parameters, taken from the receiving agent's tool parameters of the same name.
pub(crate) fn delegation_params(workspace: &Workspace, agent: &str, params: &Map<String, Value>) -> IndexMap<String, ParamSpec> {
    let tools = workspace.agent_tools(agent);
    let kind_of = |name: &String| tools.iter().find_map(|tool| tool.params.get(name)).cloned();
    params
        .keys()
        .filter_map(|name| {
            let mut param = kind_of(name)?;
            param.default = None;
            Some((name.clone(), param))
        })
        .collect()
}

/// Returns the context of the intent: its chain if it names exactly one.
pub(super) fn intent_context<'a>(evidence: &Evidence<'a>) -> ValueContext<'a> {
    let intent = &evidence.case.intent;
    let only = if let [only] = intent.chains.as_slice() { Some(*only) } else { None };
    let chain = only.and_then(|id| evidence.workspace.chains.iter().find(|chain| chain.id == id));
    ValueContext { workspace: evidence.workspace, chain, asset: None }
}

pub(super) fn spend_meaning(context: &ValueContext<'_>, token: &Value, amount: &Value) -> (ValueMeaning, ValueMeaning) {
    let beside = ValueContext { asset: asset_of_token(context, token), ..*context };
    (
        meaning(context, Some(&ParamKind::Token(None)), token),
        meaning(&beside, Some(&ParamKind::Amount { unit: AmountUnit::Human, of: None }), amount),
    )
}

/// Returns the meaning of a payee; the wallet of the world equals `self`.
pub(super) fn payee_meaning(evidence: &Evidence<'_>, context: &ValueContext<'_>, value: &Value) -> ValueMeaning {
    let own = ValueMeaning::Word("self".into());
    let read = meaning(context, Some(&ParamKind::Address(AddressRole::Recipient)), value);
    let wallet = evidence.workspace.world(&evidence.case.brief.world).and_then(|world| world.wallet.as_ref());
    let wallet = wallet.map(|wallet| ValueMeaning::Address(wallet.text.to_lowercase()));
    if Some(&read) == wallet.as_ref() { own } else { read }
}

pub(crate) fn terms_of_intent(evidence: &Evidence<'_>) -> IntentTerms {
    let intent: &UserIntent = &evidence.case.intent;
    let context = intent_context(evidence);
    IntentTerms {
        spend: intent.spend.iter().map(|spend| spend_meaning(&context, &json!(*spend.token), &json!(spend.at_most))).collect(),
        receive: intent.receive.iter().map(|token| meaning(&context, Some(&ParamKind::Token(None)), &json!(**token))).collect(),
        chains: intent.chains.iter().map(|chain| ValueMeaning::Chain(*chain)).collect(),
        payees: intent.payees.iter().map(|one| payee_meaning(evidence, &context, &json!(**one))).collect(),
        slippage: intent.slippage_bps.iter().map(|bps| meaning(&context, Some(&ParamKind::Bps), &json!(bps))).collect(),
        deadline: intent.deadline.iter().map(deadline_meaning).collect(),
    }
}

/// Returns whether the kind is a token that may be spent. Amounts of bought tokens, pools or positions are not spending.
fn is_spent_token(kind: Option<&ParamKind>) -> bool {
    matches!(kind, Some(ParamKind::Token(role)) if *role != Some(TokenRole::Out))
}

/// Returns the terms stated by typed arguments.
pub(crate) fn terms_of_args(evidence: &Evidence<'_>, given: &TypedArgs<'_>) -> IntentTerms {
    let mut terms = IntentTerms::default();
    for (name, kind) in given.kinds() {
        let Some(read) = given.meaning(name) else { continue };
        match kind {
            ParamKind::Amount { of: Some(AmountAsset::Param(token)), .. } if is_spent_token(given.kind(token)) => {
                terms.spend.extend(given.meaning(token).map(|token| (token, read)));
            }
            ParamKind::Token(Some(TokenRole::Out)) => terms.receive.push(read),
            ParamKind::Chain(_) => terms.chains.push(read),
            ParamKind::Address(AddressRole::Recipient) => {
                let context = given.context(name);
                terms.payees.extend(given.value(name).map(|value| payee_meaning(evidence, &context, value)));
            }
            ParamKind::Bps | ParamKind::Percent | ParamKind::Ratio if name.contains("slippage") => terms.slippage.push(read),
            ParamKind::Deadline => terms.deadline.push(read),
            ParamKind::Amount { .. }
            | ParamKind::Token(_)
            | ParamKind::Address(_)
            | ParamKind::Bps
            | ParamKind::Percent
            | ParamKind::Ratio
            | ParamKind::Price(_)
            | ParamKind::Tick(_)
            | ParamKind::FeeTier
            | ParamKind::Duration(_)
            | ParamKind::Timestamp
            | ParamKind::Count
            | ParamKind::Number
            | ParamKind::Id(_)
            | ParamKind::Flag
            | ParamKind::Enum
            | ParamKind::Text
            | ParamKind::Data
            | ParamKind::Url
            | ParamKind::Object
            | ParamKind::List(_) => {}
        }
    }
    terms
}

/// Returns the terms that a delegation states under the key names of the intent.
pub(crate) fn terms_of_params(evidence: &Evidence<'_>, params: &Map<String, Value>) -> IntentTerms {
    let context = intent_context(evidence);
    let read = |key: &str, kind: ParamKind| -> Vec<ValueMeaning> {
        items_of(params.get(key)).map(|value| meaning(&context, Some(&kind), value)).collect()
    };
    IntentTerms {
        spend: items_of(params.get("spend"))
            .filter_map(|spend| Some(spend_meaning(&context, spend.get("token")?, spend.get("at_most").or_else(|| spend.get("amount"))?)))
            .collect(),
        receive: read("receive", ParamKind::Token(None)),
        chains: read("chains", ParamKind::Chain(None)),
        payees: items_of(params.get("payees")).map(|value| payee_meaning(evidence, &context, value)).collect(),
        slippage: stated_slippage(params),
        deadline: read("deadline", ParamKind::Deadline),
    }
}

/// Returns the items of a list; a single value is a list of one.
fn items_of(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.into_iter().flat_map(|value| match value {
        Value::Array(items) => items.as_slice(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => std::slice::from_ref(value),
    })
}
