//! Parties and addresses that the user's request allows: the account, payees, and contracts of protocols.

use crate::evidence::Evidence;
use crate::facts::address_sources::addresses_in_text;
use crate::facts::amounts::case_world;
use crate::facts::own_effects::is_operator;
use alloy_primitives::hex;
use model::transcript::AddressInfo;
use model::{ChainRegistry, EventKind};

/// Address of the account in every world.
const ACCOUNT: &str = "0xca9E00000000000000000000000000000000cA9e";

#[derive(Debug, Clone, Copy)]
pub(super) struct UserAuthority<'a> {
    pub(super) evidence: Evidence<'a>,
}

impl<'a> UserAuthority<'a> {
    fn chain(&self, id: u64) -> Option<&'a ChainRegistry> {
        self.evidence.workspace.chains.iter().find(|one| one.id == id)
    }

    pub(super) fn is_payee(&self, party: &AddressInfo) -> bool {
        self.evidence.case.intent.payees.iter().any(|payee| {
            payee.eq_ignore_ascii_case(&party.address) || party.name.as_deref().is_some_and(|name| payee.eq_ignore_ascii_case(name))
        })
    }

    /// Contracts that hold assets for everyone: those of the registry, pools, vaults and tokens.
    pub(super) fn is_protocol(&self, chain: u64, party: &AddressInfo) -> bool {
        let Some(name) = party.name.as_deref() else { return false };
        let vault =
            case_world(&self.evidence).is_some_and(|world| world.vaults.iter().any(|vault| vault.chain == chain && vault.symbol == name));
        let token =
            self.chain(chain).is_some_and(|one| one.tokens.iter().any(|token| token.address.text.eq_ignore_ascii_case(&party.address)));
        party.role.is_some() || name.starts_with("pool ") || vault || token
    }

    /// Returns whether the party may receive value. The operator's key is hot and pays the gas: what it gets has left the account.
    pub(super) fn is_authorized(&self, chain: u64, party: &AddressInfo) -> bool {
        party.own && !is_operator(party) || self.is_payee(party) || self.is_protocol(chain, party)
    }

    /// Returns whether an address that stands in a signature or a log is the account, a payee or a registry contract.
    pub(super) fn is_authorized_address(&self, chain: u64, address: &str) -> bool {
        let registered =
            self.chain(chain).is_some_and(|one| one.contracts.iter().any(|contract| contract.address.text.eq_ignore_ascii_case(address)));
        let payee = self.evidence.case.intent.payees.iter().any(|payee| payee.eq_ignore_ascii_case(address));
        registered || payee || self.is_account_address(address)
    }

    /// Returns whether a signed message may name the address: it is authorised, a token or a vault. What the user said is no licence to pay.
    pub(super) fn may_be_signed_for(&self, chain: u64, address: &str) -> bool {
        let is = |text: &str| text.eq_ignore_ascii_case(address);
        let token = self.evidence.workspace.chains.iter().any(|one| one.tokens.iter().any(|token| is(&token.address.text)));
        let vault = case_world(&self.evidence).is_some_and(|world| world.vaults.iter().any(|vault| is(&vault.address.text)));
        token || vault || self.is_own_address(address) || self.is_authorized_address(chain, address)
    }

    /// Returns whether the address is the account, its operator or its wallet.
    pub(super) fn is_own_address(&self, address: &str) -> bool {
        self.is_account_address(address)
            || self.has_acted(|party| party.own && party.address.eq_ignore_ascii_case(address))
            || case_world(&self.evidence)
                .and_then(|world| world.wallet.as_ref())
                .is_some_and(|wallet| wallet.text.eq_ignore_ascii_case(address))
    }

    /// Returns whether the address is the account, which may receive value.
    fn is_account_address(&self, address: &str) -> bool {
        address.eq_ignore_ascii_case(ACCOUNT)
            || self.has_acted(|party| party.own && !is_operator(party) && party.address.eq_ignore_ascii_case(address))
    }

    /// Returns whether a party that signed, or that a transaction was sent to, meets the condition.
    fn has_acted(&self, meets: impl Fn(&AddressInfo) -> bool) -> bool {
        self.evidence.transcript.events.iter().any(|event| {
            if let EventKind::Signed { what, .. } = &event.happened {
                return meets(what.signer());
            }
            matches!(&event.happened, EventKind::Mined { what, .. } if what.to.as_ref().is_some_and(&meets))
        })
    }

    /// Returns whether a setting may name the address: it is authorised, a token or a vault, or the user or the case named it.
    pub(super) fn is_known_address(&self, chain: u64, address: &str) -> bool {
        let is = |text: &str| text.eq_ignore_ascii_case(address);
        let token = self.evidence.workspace.chains.iter().any(|one| one.tokens.iter().any(|token| is(&token.address.text)));
        let vault = case_world(&self.evidence).is_some_and(|world| world.vaults.iter().any(|vault| is(&vault.address.text)));
        let said =
            self.evidence.transcript.events.iter().any(
                |event| matches!(&event.happened, EventKind::UserSaid { text } if text.to_lowercase().contains(&address.to_lowercase())),
            );
        token || vault || said || self.is_own_address(address) || self.is_authorized_address(chain, address)
    }
}

/// Returns the addresses in a setting: in its text, or as its last 20 bytes.
pub(super) fn addresses_in(value: &str) -> Vec<String> {
    let bytes = hex::decode(value).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).to_lowercase();
    let mut found = addresses_in_text(&text);
    if matches!(bytes.len(), 20 | 32) && !text.starts_with('{') {
        found.push(hex::encode_prefixed(&bytes[bytes.len() - 20..]));
    }
    found
}

/// Returns the addresses in a public entry: in its text, or as its bytes where they are no text.
pub(super) fn addresses_in_entry(value: &str) -> Vec<String> {
    let bytes = hex::decode(value).unwrap_or_default();
    match std::str::from_utf8(&bytes) {
        Ok(text) if !text.chars().any(char::is_control) => addresses_in_text(text),
        Ok(_) | Err(_) => addresses_in_text(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::sample_run::{CLEAN_CASE, clean_swap};

    fn party(address: &str, name: Option<&str>, role: Option<&str>) -> AddressInfo {
        AddressInfo { address: address.into(), name: name.map(Into::into), role: role.map(Into::into), own: false }
    }

    #[test]
    fn payees_are_named_by_address_or_by_name() {
        let fixture = EvidenceFixture::of(CLEAN_CASE, clean_swap());
        let mut case = fixture.case().clone();
        let payee = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
        case.intent.payees.truncate(1);
        let is_payee =
            |case: &model::Case, party: &AddressInfo| UserAuthority { evidence: Evidence { case, ..fixture.evidence() } }.is_payee(party);
        case.intent.payees[0].value = payee.into();
        assert!(is_payee(&case, &party(&payee.to_lowercase(), None, None)));
        assert!(is_payee(&case, &party(payee, Some("maria"), None)), "the address alone decides");
        case.intent.payees[0].value = "Maria".into();
        assert!(is_payee(&case, &party(payee, Some("maria"), None)) && !is_payee(&case, &party(payee, None, None)));
        assert!(!is_payee(&case, &party(payee, Some("mario"), None)));
    }

    #[test]
    fn contracts_of_protocols_are_known_by_role_pool_or_token() {
        let fixture = EvidenceFixture::of(CLEAN_CASE, clean_swap());
        let is_protocol = |party: &AddressInfo| UserAuthority { evidence: fixture.evidence() }.is_protocol(8453, party);
        let stranger = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
        assert!(is_protocol(&party(stranger, Some("SwapRouter02"), Some("router"))));
        assert!(is_protocol(&party(stranger, Some("pool WETH/USDC"), None)));
        assert!(is_protocol(&party("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", Some("USDC"), None)));
        assert!(!is_protocol(&party(stranger, Some("USDC"), None)), "a name is not an address");
        assert!(!is_protocol(&party(stranger, None, None)));
    }

    #[test]
    fn addresses_are_found_in_settings() {
        let address = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
        let text = |text: &str| addresses_in(&hex::encode_prefixed(text));
        assert_eq!(text(&format!(r#"{{"delegate":"{address}"}}"#)), [address]);
        assert_eq!(text(&format!(r#"{{"to":["{}"]}}"#, address.to_uppercase().replace("0X", "0x"))), [address]);
        assert_eq!(addresses_in(address), [address]);
        assert_eq!(addresses_in(&format!("0x{}{}", "0".repeat(24), &address[2..])), [address]);
        assert_eq!(text(&format!(r#"{{"to":"0x{}{}"}}"#, "0".repeat(24), &address[2..])), [address], "padded in a text");
        // A position's id, a word of text, and nothing.
        assert!(text(&format!(r#"{{"id":"{address}c472c63db2e84b2b4332fb10"}}"#)).is_empty());
        assert!(text(r#"{"leverage":"3"}"#).is_empty());
        assert!(addresses_in("").is_empty());
        assert_eq!(addresses_in_entry(address), [address]);
        assert!(addresses_in_entry(&hex::encode_prefixed("https://kern.example/logo.png?v=")).is_empty(), "32 letters");
    }
}
