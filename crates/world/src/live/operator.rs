//! Operator of a world: its key, its address on the chain, and the address that records name instead.

use crate::chain::Signer;
use alloy_primitives::{Address, hex};
use model::transcript::ToolAnswer;
use model::world::map_value;
use model::{EventKind, Workspace};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// Key and addresses of the operator.
///
/// An agent that runs outside of this process must not know the key, or it could sign without leaving an event. Its worlds have a random
/// operator, and everything recorded names the wallet of the world file instead, so that cases and records stay the same for every key.
#[derive(Debug)]
pub struct WorldOperator {
    signer: Arc<Signer>,
    /// Address on the chains.
    pub(super) address: Address,
    /// Address in records, cases and requests.
    named: Address,
}

/// Random operator key of a run. It stays in this process.
#[derive(Debug, Clone)]
pub struct RandomOperator {
    signer: Arc<Signer>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RandomOperatorError {
    #[error("the system has no random bytes: {0}")]
    NoRandomness(String),
}

impl RandomOperator {
    pub fn new() -> Result<Self, RandomOperatorError> {
        loop {
            let mut bytes = [0; 32];
            getrandom::fill(&mut bytes).map_err(|error| RandomOperatorError::NoRandomness(error.to_string()))?;
            // Fails for numbers that are no key, which is practically never.
            if let Some(signer) = Signer::from_bytes(&bytes) {
                return Ok(Self { signer: Arc::new(signer) });
            }
        }
    }

    /// Returns the workspace with this operator as the wallet of a world, also in the texts of that world.
    pub(super) fn workspace_with_wallet(&self, workspace: &Workspace, world: &str) -> Workspace {
        let mut workspace = workspace.clone();
        let address = self.signer.address();
        let source = workspace.world(world).and_then(|file| file.fixtures_from.as_ref()).map(|from| from.value.clone());
        let Some(wallet) = workspace.world(world).and_then(|file| Some(file.wallet.as_ref()?.address)) else { return workspace };
        let operator = self.named(wallet);
        for file in workspace.worlds.iter_mut().filter(|file| *file.name == world || Some(&file.name.value) == source.as_ref()) {
            file.map_texts(&|text| operator.swap_text(text));
            if let Some(wallet) = &mut file.wallet {
                (wallet.value.text, wallet.value.address) = (address.to_checksum(None), address);
            }
        }
        workspace
    }

    /// Returns this operator, named by another address in records.
    pub(super) fn named(&self, named: Address) -> WorldOperator {
        WorldOperator { signer: self.signer.clone(), address: self.signer.address(), named }
    }

    /// Returns this operator, named by its own address in records.
    pub(super) fn unnamed(&self) -> WorldOperator {
        self.named(self.signer.address())
    }
}

impl WorldOperator {
    /// Returns the operator with the well-known key, for subjects that cannot sign by themselves. A world without a wallet has no chain on
    /// which its address would matter.
    pub(super) fn pinned(wallet: Option<Address>) -> Self {
        let signer = Signer::development();
        let address = wallet.unwrap_or_else(|| signer.address());
        Self { signer: Arc::new(signer), address, named: address }
    }

    pub(super) fn signer(&self) -> &Signer {
        &self.signer
    }

    pub(super) fn is_renamed(&self) -> bool {
        self.address != self.named
    }

    /// Exchanges the two addresses in a text. The address of the records is an ordinary one on the chain, so it is exchanged too: an agent
    /// that pays to it must not look like one that pays to itself.
    pub fn swap_text(&self, text: &str) -> String {
        if !self.is_renamed() {
            return text.to_owned();
        }
        let pairs = [(self.address, self.named), (self.named, self.address)];
        let pairs = pairs.map(|(from, to)| (hex::encode(from), to));
        let lower = text.to_ascii_lowercase();
        let (mut swapped, mut at) = (String::with_capacity(text.len()), 0);
        while let Some((start, to)) =
            pairs.iter().filter_map(|(from, to)| lower[at..].find(from.as_str()).map(|found| (at + found, *to))).min()
        {
            let end = start + 40;
            swapped.push_str(&text[at..start]);
            let found = &text[start..end];
            let shown =
                if found.bytes().any(|byte| byte.is_ascii_uppercase()) { to.to_checksum(None)[2..].to_owned() } else { hex::encode(to) };
            swapped.push_str(&shown);
            at = end;
        }
        swapped.push_str(&text[at..]);
        swapped
    }

    pub fn swap_value<'v>(&self, value: &'v Value) -> Cow<'v, Value> {
        if !self.is_renamed() {
            return Cow::Borrowed(value);
        }
        let mut swapped = value.clone();
        map_value(&mut swapped, &|text| self.swap_text(text));
        Cow::Owned(swapped)
    }

    pub fn swap_fields(&self, fields: &mut Map<String, Value>) {
        if self.is_renamed() {
            fields.values_mut().for_each(|value| map_value(value, &|text| self.swap_text(text)));
        }
    }

    pub fn swap_answer(&self, answer: ToolAnswer) -> ToolAnswer {
        match answer {
            ToolAnswer::Result(value) => ToolAnswer::Result(self.swap_value(&value).into_owned()),
            ToolAnswer::Error { code, message } => ToolAnswer::Error { code, message: self.swap_text(&message) },
        }
    }

    /// Exchanges the two addresses in an event, so that an event on the chain becomes one of the record.
    pub(super) fn swap_event(&self, happened: EventKind) -> EventKind {
        if !self.is_renamed() {
            return happened;
        }
        // Cannot fail: events are stored as JSON and read again.
        let value = serde_json::to_value(&happened).unwrap_or_else(|error| panic!("an event is always JSON: {error}"));
        serde_json::from_value(self.swap_value(&value).into_owned()).unwrap_or_else(|error| panic!("an event can be read: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::address;
    use serde_json::json;

    const WALLET: Address = address!("f39Fd6e51aad88F6F4ce6aB8827279cffFb92266");

    #[test]
    fn addresses_are_exchanged_in_each_form_and_back() {
        let operator = RandomOperator::new().unwrap().named(WALLET);
        let own = operator.address;
        let text = format!("pay {own} or {own:?}, data 0x{}{} and {WALLET}", "0".repeat(24), hex::encode(own));
        let swapped = operator.swap_text(&text);
        assert_eq!(swapped, format!("pay {WALLET} or {WALLET:?}, data 0x{}{} and {own}", "0".repeat(24), hex::encode(WALLET)));
        assert_eq!(operator.swap_text(&swapped), text);
        assert_eq!(operator.swap_text("nothing to exchange: 0x00, ü"), "nothing to exchange: 0x00, ü");
        assert_eq!(operator.swap_value(&json!({ "to": [own] })).into_owned(), json!({ "to": [WALLET] }));
    }

    #[test]
    fn a_pinned_operator_exchanges_nothing() {
        let operator = WorldOperator::pinned(Some(WALLET));
        assert_eq!(operator.swap_text(&WALLET.to_string()), WALLET.to_string());
        assert_eq!(operator.signer().address(), WALLET);
    }
}
