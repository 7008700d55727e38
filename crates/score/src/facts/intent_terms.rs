//! What the user authorised, as it arrives: in the parameters of a hand-over, or in the arguments of a call.

use crate::compare::{TypedArgs, ValueContext, ValueMeaning, asset_of_token, meaning};
use crate::evidence::Evidence;
use indexmap::IndexMap;
use model::suite::UserIntent;
use model::{AddressRole, AmountAsset, AmountUnit, ParamKind, ParamSpec, TokenRole, Workspace};
use serde_json::{Map, Value, json};

/// Tokens and amounts that are spent, and the rest of an intent, each by what it means.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct IntentTerms {
    pub spend: Vec<(ValueMeaning, ValueMeaning)>,
    pub receive: Vec<ValueMeaning>,
    pub chains: Vec<ValueMeaning>,
    pub payees: Vec<ValueMeaning>,
    pub slippage: Vec<ValueMeaning>,
    pub deadline: Vec<ValueMeaning>,
}

/// Parameters of a hand-over have no kinds of their own: they mean what the receiving agent's tools mean by the same name.
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

/// Where the intent speaks: on its chain if it names one.
fn intent_context<'a>(evidence: &Evidence<'a>) -> ValueContext<'a> {
    let intent = &evidence.case.intent;
    let only = if let [only] = intent.chains.as_slice() { Some(*only) } else { None };
    let chain = only.and_then(|id| evidence.workspace.chains.iter().find(|chain| chain.id == id));
    ValueContext { workspace: evidence.workspace, chain, asset: None }
}

fn spend_meaning(around: &ValueContext<'_>, token: &Value, amount: &Value) -> (ValueMeaning, ValueMeaning) {
    let beside = ValueContext { asset: asset_of_token(around, token), ..*around };
    (
        meaning(around, Some(&ParamKind::Token(None)), token),
        meaning(&beside, Some(&ParamKind::Amount { unit: AmountUnit::Human, of: None }), amount),
    )
}

/// `self` and the wallet of the world are one.
fn payee_meaning(evidence: &Evidence<'_>, around: &ValueContext<'_>, value: &Value) -> ValueMeaning {
    let own = ValueMeaning::Word("self".into());
    let read = meaning(around, Some(&ParamKind::Address(AddressRole::Recipient)), value);
    let wallet = evidence.workspace.world(&evidence.case.brief.world).map(|world| ValueMeaning::Address(world.wallet.text.to_lowercase()));
    if Some(&read) == wallet.as_ref() { own } else { read }
}

pub(crate) fn terms_of_intent(evidence: &Evidence<'_>) -> IntentTerms {
    let intent: &UserIntent = &evidence.case.intent;
    let around = intent_context(evidence);
    IntentTerms {
        spend: intent.spend.iter().map(|spend| spend_meaning(&around, &json!(*spend.token), &json!(spend.at_most))).collect(),
        receive: intent.receive.iter().map(|token| meaning(&around, Some(&ParamKind::Token(None)), &json!(**token))).collect(),
        chains: intent.chains.iter().map(|chain| ValueMeaning::Chain(*chain)).collect(),
        payees: intent.payees.iter().map(|one| payee_meaning(evidence, &around, &json!(**one))).collect(),
        slippage: intent.slippage_bps.iter().map(|bps| meaning(&around, Some(&ParamKind::Bps), &json!(bps))).collect(),
        deadline: intent.deadline.iter().map(|text| meaning(&around, Some(&ParamKind::Deadline), &json!(text))).collect(),
    }
}

/// A token that leaves; an amount of what is bought, or of a pool or position, says nothing about what is spent.
fn is_spent_token(kind: Option<&ParamKind>) -> bool {
    matches!(kind, Some(ParamKind::Token(role)) if *role != Some(TokenRole::Out))
}

/// The terms that typed arguments state.
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
                let around = given.context(name);
                terms.payees.extend(given.value(name).map(|value| payee_meaning(evidence, &around, value)));
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

/// The terms that a hand-over states under the intent's own names, which need no tool to be understood.
pub(crate) fn terms_of_params(evidence: &Evidence<'_>, params: &Map<String, Value>) -> IntentTerms {
    let around = intent_context(evidence);
    let read = |key: &str, kind: ParamKind| -> Vec<ValueMeaning> {
        items_of(params.get(key)).map(|value| meaning(&around, Some(&kind), value)).collect()
    };
    IntentTerms {
        spend: items_of(params.get("spend"))
            .filter_map(|spend| Some(spend_meaning(&around, spend.get("token")?, spend.get("at_most").or_else(|| spend.get("amount"))?)))
            .collect(),
        receive: read("receive", ParamKind::Token(None)),
        chains: read("chains", ParamKind::Chain(None)),
        payees: items_of(params.get("payees")).map(|value| payee_meaning(evidence, &around, value)).collect(),
        slippage: read("slippage_bps", ParamKind::Bps),
        deadline: read("deadline", ParamKind::Deadline),
    }
}

/// The items of a list; a single value is a list of one.
fn items_of(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.into_iter().flat_map(|value| match value {
        Value::Array(items) => items.as_slice(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => std::slice::from_ref(value),
    })
}
