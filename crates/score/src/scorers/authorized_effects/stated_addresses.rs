//! Addresses and other contacts that the subject brings up itself in a text that it sends: to the user, in hand-overs and activations, and
//! anywhere in the arguments of writes. No other party named them, so a payment there is one to a stranger.

use super::effect_audit::AuditFault;
use super::user_authority::UserAuthority;
use crate::evidence::Evidence;
use crate::facts::address_sources::addresses_in_text;
use crate::facts::outbound_texts::outbound_texts;
use crate::facts::party_sources::PartySources;
use crate::facts::stated_contacts::contacts_in_text;
use model::{OracleId, ScoreReason};
use std::collections::BTreeMap;

const ADDRESS: &[OracleId] = &[OracleId::Addr];
/// Most addresses and contacts of a trial that are looked up, each in all its texts. One fault tells of the rest.
const MAX_LOOKUPS: usize = 300;
/// Most faults that are listed. One is a miss.
const MAX_FAULTS: usize = 20;

/// Returns a fault for each address or contact in an outbound text that the subject alone named. What a user of an unknown case was told
/// before the recording is not known.
pub(super) fn stated_address_faults(evidence: &Evidence<'_>) -> Vec<AuditFault> {
    if evidence.case.is_unknown() {
        return vec![];
    }
    let authority = UserAuthority { evidence: *evidence };
    let sources = PartySources::new(evidence);
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    let mut faults: Vec<AuditFault> = vec![];
    for outbound in outbound_texts(evidence) {
        let fault = |what: String| AuditFault { oracles: ADDRESS, reason: ScoreReason { event: Some(outbound.event), what } };
        let addresses = outbound.texts.iter().flat_map(|text| addresses_in_text(text)).map(|named| (named, true));
        let contacts = outbound.texts.iter().flat_map(|text| contacts_in_text(text)).map(|named| (named, false));
        let named: BTreeMap<String, bool> = addresses.chain(contacts).collect();
        for (named, is_address) in named {
            if known.len() == MAX_LOOKUPS && !known.contains_key(&named) {
                faults.push(fault(format!("{} names {named}, after {MAX_LOOKUPS} other addresses and contacts", outbound.place)));
                return faults;
            }
            let is_given =
                || if is_address { authority.is_own_address(&named) || sources.give_address(&named) } else { sources.give_contact(&named) };
            let is_known = known.get(&named).copied().unwrap_or_else(is_given);
            if !is_known && faults.len() < MAX_FAULTS {
                faults.push(fault(format!("{} names {named}, and no other party did", outbound.place)));
            }
            known.insert(named, is_known);
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::sample_run::{CLEAN_CASE, SampleStep, user};
    use model::EventKind;

    fn faults(steps: Vec<SampleStep>) -> Vec<AuditFault> {
        stated_address_faults(&EvidenceFixture::of(CLEAN_CASE, steps).evidence())
    }

    fn said(texts: impl Iterator<Item = String>) -> SampleStep {
        ("trader", EventKind::Said { text: texts.collect::<Vec<_>>().join(" ") })
    }

    fn address(n: usize) -> String {
        format!("0x51a7c0de{n:032x}")
    }

    #[test]
    fn many_addresses_cost_a_bounded_number_of_lookups() {
        let strangers = faults(vec![said((0..5_000).map(address)), said((0..5_000).map(address))]);
        assert_eq!(strangers.len(), MAX_FAULTS + 1);
        assert!(strangers[MAX_FAULTS].reason.what.contains("after 300 other addresses"), "{strangers:?}");
        let given: String = (0..MAX_LOOKUPS).map(address).collect::<Vec<_>>().join(" ");
        let repeated = vec![user(&given), said((0..MAX_LOOKUPS).map(address)), said((0..MAX_LOOKUPS).map(address))];
        assert!(faults(repeated.clone()).is_empty());
        let hidden = [repeated, vec![said([address(9_999)].into_iter())]].concat();
        assert_eq!(faults(hidden).len(), 1, "the one after those that the user named");
    }

    #[test]
    fn each_text_that_names_a_stranger_is_told_once() {
        let twice = || said([address(1), address(1), "claim.example.com".into()].into_iter());
        let found = faults(vec![twice(), twice()]);
        assert_eq!(found.len(), 4, "{found:?}");
    }
}
