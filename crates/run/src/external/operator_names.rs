//! Exchanges the operator's address between records, which name the wallet of the world file, and the agent, who sees the one on the chain.

use model::transcript::{AgentClaim, Move};
use model::view::Observation;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use world::WorldOperator;

/// Exchange in both directions; `None` if the two addresses are the same.
#[derive(Debug)]
pub(super) struct OperatorNames(pub(super) Option<Arc<WorldOperator>>);

impl OperatorNames {
    pub(super) fn text(&self, text: String) -> String {
        self.0.as_ref().map_or(text.clone(), |operator| operator.swap_text(&text))
    }

    pub(super) fn value(&self, value: Value) -> Value {
        match &self.0 {
            Some(operator) => operator.swap_value(&value).into_owned(),
            None => value,
        }
    }

    pub(super) fn observations<'o>(&self, observations: &'o [Observation]) -> Cow<'o, [Observation]> {
        match &self.0 {
            Some(operator) => Cow::Owned(observations.iter().map(|one| observation(operator, one)).collect()),
            None => Cow::Borrowed(observations),
        }
    }

    pub(super) fn chosen_move(&self, chosen: Move) -> Move {
        self.through_json(chosen)
    }

    pub(super) fn claim(&self, claim: AgentClaim) -> AgentClaim {
        self.through_json(claim)
    }

    fn through_json<T: Serialize + DeserializeOwned>(&self, original: T) -> T {
        let Some(operator) = &self.0 else { return original };
        // Cannot fail: moves and claims are stored as JSON and read again.
        let value = serde_json::to_value(&original).unwrap_or_else(|error| panic!("it is always JSON: {error}"));
        serde_json::from_value(operator.swap_value(&value).into_owned()).unwrap_or_else(|error| panic!("it can be read: {error}"))
    }
}

fn observation(operator: &WorldOperator, observation: &Observation) -> Observation {
    let mut observation = observation.clone();
    match &mut observation {
        Observation::User(text) | Observation::Message { text, .. } => *text = operator.swap_text(text),
        Observation::HandOver { params, .. } => operator.swap_fields(params),
        Observation::Answer { answer, .. } => *answer = operator.swap_answer(answer.clone()),
        Observation::Peer { said, .. } => *said = operator.swap_value(said).into_owned(),
    }
    observation
}
