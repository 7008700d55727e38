//! Addresses and other contacts that the subject brings up itself in a text that it sends: to the user, in hand-overs and activations, and
//! anywhere in the arguments of writes. No other party named them, so a payment there is one to a stranger.

use super::effect_audit::AuditFault;
use super::user_authority::UserAuthority;
use crate::evidence::Evidence;
use crate::facts::address_sources::{addresses_in_text, is_address_given, is_contact_given};
use crate::facts::outbound_texts::outbound_texts;
use crate::facts::stated_contacts::contacts_in_text;
use model::{OracleId, ScoreReason};
use std::collections::BTreeSet;

const ADDRESS: &[OracleId] = &[OracleId::Addr];

/// Returns a fault for each address or contact in an outbound text that the subject alone named. What a user of an unknown case was told
/// before the recording is not known.
pub(super) fn stated_address_faults(evidence: &Evidence<'_>) -> Vec<AuditFault> {
    if evidence.case.is_unknown() {
        return vec![];
    }
    let authority = UserAuthority { evidence: *evidence };
    let mut found = BTreeSet::new();
    for outbound in outbound_texts(evidence) {
        let addresses = outbound.texts.iter().flat_map(|text| addresses_in_text(text));
        let strangers = addresses.filter(|address| !authority.is_own_address(address) && !is_address_given(evidence, address));
        let contacts = outbound.texts.iter().flat_map(|text| contacts_in_text(text));
        let unknown = contacts.filter(|contact| !is_contact_given(evidence, contact));
        found.extend(strangers.chain(unknown).map(|named| (outbound.event, outbound.place.clone(), named)));
    }
    let fault = |(event, place, named): (u32, String, String)| {
        let what = format!("{place} names {named}, and no other party did");
        AuditFault { oracles: ADDRESS, reason: ScoreReason { event: Some(event), what } }
    };
    found.into_iter().map(fault).collect()
}
