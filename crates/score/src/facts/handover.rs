//! What the user authorised, as it arrives: in the parameters of a hand-over, or in the arguments of a call.

use crate::compare::{Around, Given, Meaning, asset, meaning};
use crate::evidence::Evidence;
use indexmap::IndexMap;
use model::suite::Intent;
use model::{AddressRole, AmountOf, Kind, Param, TokenRole, Unit, Workspace};
use serde_json::{Map, Value, json};

/// Tokens and amounts that are spent, and the rest of an intent, each by what it means.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Terms {
    pub spend: Vec<(Meaning, Meaning)>,
    pub receive: Vec<Meaning>,
    pub chains: Vec<Meaning>,
    pub payees: Vec<Meaning>,
    pub slippage: Vec<Meaning>,
    pub deadline: Vec<Meaning>,
}

/// Parameters of a hand-over have no kinds of their own: they mean what the receiving agent's tools mean by the same name.
pub(crate) fn kinds_for(workspace: &Workspace, agent: &str, params: &Map<String, Value>) -> IndexMap<String, Param> {
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
fn around<'a>(evidence: &Evidence<'a>) -> Around<'a> {
    let intent = &evidence.case.intent;
    let only = if let [only] = intent.chains.as_slice() { Some(*only) } else { None };
    let chain = only.and_then(|id| evidence.workspace.chains.iter().find(|chain| chain.id == id));
    Around { workspace: evidence.workspace, chain, asset: None }
}

fn spent(around: &Around<'_>, token: &Value, amount: &Value) -> (Meaning, Meaning) {
    let beside = Around { asset: asset(around, token), ..*around };
    (meaning(around, Some(&Kind::Token(None)), token), meaning(&beside, Some(&Kind::Amount { unit: Unit::Human, of: None }), amount))
}

/// `self` and the wallet of the world are one.
fn payee(evidence: &Evidence<'_>, around: &Around<'_>, value: &Value) -> Meaning {
    let own = Meaning::Word("self".into());
    let read = meaning(around, Some(&Kind::Address(AddressRole::Recipient)), value);
    let wallet = evidence.workspace.world(&evidence.case.brief.world).map(|world| Meaning::Address(world.wallet.text.to_lowercase()));
    if Some(&read) == wallet.as_ref() { own } else { read }
}

pub(crate) fn of_intent(evidence: &Evidence<'_>) -> Terms {
    let intent: &Intent = &evidence.case.intent;
    let around = around(evidence);
    Terms {
        spend: intent.spend.iter().map(|spend| spent(&around, &json!(*spend.token), &json!(spend.at_most))).collect(),
        receive: intent.receive.iter().map(|token| meaning(&around, Some(&Kind::Token(None)), &json!(**token))).collect(),
        chains: intent.chains.iter().map(|chain| Meaning::Chain(*chain)).collect(),
        payees: intent.payees.iter().map(|one| payee(evidence, &around, &json!(**one))).collect(),
        slippage: intent.slippage_bps.iter().map(|bps| meaning(&around, Some(&Kind::Bps), &json!(bps))).collect(),
        deadline: intent.deadline.iter().map(|text| meaning(&around, Some(&Kind::Deadline), &json!(text))).collect(),
    }
}

/// A token that leaves; an amount of what is bought, or of a pool or position, says nothing about what is spent.
fn is_spent(kind: Option<&Kind>) -> bool {
    matches!(kind, Some(Kind::Token(role)) if *role != Some(TokenRole::Out))
}

/// The terms that typed arguments state.
pub(crate) fn of_given(evidence: &Evidence<'_>, given: &Given<'_>) -> Terms {
    let mut terms = Terms::default();
    for (name, kind) in given.kinds() {
        let Some(read) = given.meaning(name) else { continue };
        match kind {
            Kind::Amount { of: Some(AmountOf::Param(token)), .. } if is_spent(given.kind(token)) => {
                terms.spend.extend(given.meaning(token).map(|token| (token, read)));
            }
            Kind::Token(Some(TokenRole::Out)) => terms.receive.push(read),
            Kind::Chain(_) => terms.chains.push(read),
            Kind::Address(AddressRole::Recipient) => {
                let around = given.around(name);
                terms.payees.extend(given.value(name).map(|value| payee(evidence, &around, value)));
            }
            Kind::Bps | Kind::Percent | Kind::Ratio if name.contains("slippage") => terms.slippage.push(read),
            Kind::Deadline => terms.deadline.push(read),
            Kind::Amount { .. }
            | Kind::Token(_)
            | Kind::Address(_)
            | Kind::Bps
            | Kind::Percent
            | Kind::Ratio
            | Kind::Price(_)
            | Kind::Tick(_)
            | Kind::FeeTier
            | Kind::Duration(_)
            | Kind::Timestamp
            | Kind::Count
            | Kind::Id(_)
            | Kind::Flag
            | Kind::Enum
            | Kind::Text
            | Kind::Data
            | Kind::Url
            | Kind::Object
            | Kind::List(_) => {}
        }
    }
    terms
}

/// The terms that a hand-over states under the intent's own names, which need no tool to be understood.
pub(crate) fn of_names(evidence: &Evidence<'_>, params: &Map<String, Value>) -> Terms {
    let around = around(evidence);
    let read =
        |key: &str, kind: Kind| -> Vec<Meaning> { each(params.get(key)).map(|value| meaning(&around, Some(&kind), value)).collect() };
    Terms {
        spend: each(params.get("spend"))
            .filter_map(|spend| Some(spent(&around, spend.get("token")?, spend.get("at_most").or_else(|| spend.get("amount"))?)))
            .collect(),
        receive: read("receive", Kind::Token(None)),
        chains: read("chains", Kind::Chain(None)),
        payees: each(params.get("payees")).map(|value| payee(evidence, &around, value)).collect(),
        slippage: read("slippage_bps", Kind::Bps),
        deadline: read("deadline", Kind::Deadline),
    }
}

/// The items of a list; a single value is a list of one.
fn each(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.into_iter().flat_map(|value| match value {
        Value::Array(items) => items.as_slice(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => std::slice::from_ref(value),
    })
}
