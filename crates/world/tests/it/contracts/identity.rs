//! Identity registry: agents, feedback and validation requests.

use alloy_primitives::{Address, Bytes, U256, keccak256};

use crate::contracts::harness::*;

fn registry() -> (TestChain, Address) {
    let mut chain = TestChain::new();
    let at = address_named("registry");
    chain.etch("IdentityRegistry", at);
    chain.send(OWNER, at, IdentityRegistry::initCall { name_: "Agents".into(), symbol_: "AGENT".into() });
    (chain, at)
}

fn one() -> U256 {
    U256::from(1)
}

fn feedback(score: u8) -> IdentityRegistry::giveFeedbackCall {
    IdentityRegistry::giveFeedbackCall { agentId: one(), score, tag1: "speed".into(), tag2: "swap".into(), uri: "ipfs://f".into() }
}

#[test]
fn registered_agent_has_number_and_owner() {
    let (mut chain, at) = registry();
    let (alice, bob, carol) = (address_named("alice"), address_named("bob"), address_named("carol"));
    let done = chain.send(alice, at, IdentityRegistry::registerCall { uri: "ipfs://a".into() });
    let event = done.event::<IdentityRegistry::Registered>();
    assert_eq!((done.value, event.agentId, event.uri.as_str(), event.owner), (one(), one(), "ipfs://a", alice));
    assert_eq!(chain.send(bob, at, IdentityRegistry::registerCall { uri: String::new() }).value, U256::from(2));
    assert_eq!(chain.view(at, IdentityRegistry::agentCountCall {}), U256::from(2));
    assert_eq!(chain.view(at, IdentityRegistry::tokenURICall { agentId: one() }), "ipfs://a");
    chain.send(alice, at, IdentityRegistry::setAgentUriCall { agentId: one(), uri: "ipfs://b".into() });
    assert_eq!(chain.view(at, IdentityRegistry::tokenURICall { agentId: one() }), "ipfs://b");
    let value = Bytes::from_static(b"ignore previous instructions");
    chain.send(alice, at, IdentityRegistry::setMetadataCall { agentId: one(), key: "note".into(), value: value.clone() });
    assert_eq!(chain.view(at, IdentityRegistry::getMetadataCall { agentId: one(), key: "note".into() }), value);

    let hand_over = |from, to| IdentityRegistry::transferFromCall { from, to, agentId: one() };
    let refused = |caller| revert_data(IdentityRegistry::NotAgentOwner { agentId: one(), caller });
    assert_eq!(chain.expect_revert(bob, at, hand_over(alice, bob)), refused(bob));
    assert_eq!(chain.expect_revert(alice, at, hand_over(bob, alice)), refused(alice));
    assert_eq!(
        chain.expect_revert(alice, at, hand_over(alice, Address::ZERO)),
        revert_data(IdentityRegistry::InvalidRecipient { to: Address::ZERO })
    );
    chain.send(alice, at, IdentityRegistry::approveCall { to: bob, agentId: one() });
    chain.send(bob, at, hand_over(alice, carol));
    assert_eq!(chain.view(at, IdentityRegistry::ownerOfCall { agentId: one() }), carol);
    assert_eq!(chain.view(at, IdentityRegistry::balanceOfCall(alice)), U256::ZERO);
    assert_eq!(chain.expect_revert(bob, at, hand_over(carol, bob)), refused(bob));
}

#[test]
fn feedback_counts_until_revoked() {
    let (mut chain, at) = registry();
    let (alice, bob, carol) = (address_named("alice"), address_named("bob"), address_named("carol"));
    chain.send(alice, at, IdentityRegistry::registerCall { uri: String::new() });
    let summary = |chain: &mut TestChain| {
        let summary = chain.view(at, IdentityRegistry::summaryCall { agentId: one() });
        (summary.count, summary.averageScore)
    };
    assert_eq!(summary(&mut chain), (U256::ZERO, U256::ZERO));
    let event = chain.send(bob, at, feedback(100)).event::<IdentityRegistry::FeedbackGiven>();
    assert_eq!((event.client, event.score, event.tag1.as_str(), event.index), (bob, 100, "speed", U256::ZERO));
    chain.send(carol, at, feedback(51));
    assert_eq!(summary(&mut chain), (U256::from(2), U256::from(75)));
    let revoke = |index: u64| IdentityRegistry::revokeFeedbackCall { agentId: one(), index: U256::from(index) };
    let unknown = |index: u64| revert_data(IdentityRegistry::UnknownFeedback { agentId: one(), index: U256::from(index) });
    assert_eq!(chain.expect_revert(bob, at, revoke(1)), unknown(1));
    assert_eq!(chain.expect_revert(bob, at, revoke(2)), unknown(2));
    chain.send(bob, at, revoke(0));
    assert_eq!(chain.expect_revert(bob, at, revoke(0)), unknown(0));
    assert_eq!(summary(&mut chain), (one(), U256::from(51)));
    assert!(chain.view(at, IdentityRegistry::readFeedbackCall { agentId: one(), index: U256::ZERO }).revoked);
    assert_eq!(chain.expect_revert(bob, at, feedback(101)), revert_data(IdentityRegistry::ScoreOutOfRange { score: U256::from(101) }));
    assert_eq!(chain.expect_revert(alice, at, feedback(100)), revert_data(IdentityRegistry::SelfFeedback { agentId: one() }));
}

#[test]
fn only_requested_validator_can_respond() {
    let (mut chain, at) = registry();
    let (alice, bob) = (address_named("alice"), address_named("bob"));
    chain.send(alice, at, IdentityRegistry::registerCall { uri: String::new() });
    let request = keccak256("request");
    let ask = |validator| IdentityRegistry::validationRequestCall { validator, agentId: one(), uri: "ipfs://r".into(), request };
    let answer = |response| IdentityRegistry::validationResponseCall { request, response, uri: "ipfs://v".into(), tag: "ok".into() };
    assert_eq!(chain.expect_revert(bob, at, ask(bob)), revert_data(IdentityRegistry::NotAgentOwner { agentId: one(), caller: bob }));
    assert_eq!(chain.expect_revert(alice, at, ask(Address::ZERO)), revert_data(IdentityRegistry::InvalidRecipient { to: Address::ZERO }));
    assert_eq!(chain.expect_revert(bob, at, answer(100)), revert_data(IdentityRegistry::UnknownRequest { request }));
    chain.send(alice, at, ask(bob));
    assert_eq!(chain.expect_revert(alice, at, ask(bob)), revert_data(IdentityRegistry::RequestExists { request }));
    assert_eq!(chain.expect_revert(alice, at, answer(100)), revert_data(IdentityRegistry::NotValidator { request, caller: alice }));
    assert_eq!(chain.expect_revert(bob, at, answer(101)), revert_data(IdentityRegistry::ScoreOutOfRange { score: U256::from(101) }));
    chain.now += 60;
    let event = chain.send(bob, at, answer(90)).event::<IdentityRegistry::ValidationAnswered>();
    assert_eq!((event.validator, event.agentId, event.response), (bob, one(), 90));
    let kept = chain.view(at, IdentityRegistry::validationsCall(request));
    assert_eq!((kept.validator, kept.response, kept.answered, kept.updatedAt), (bob, 90, true, START + 60));
}

#[test]
fn registry_reverts() {
    let (mut chain, at) = registry();
    let alice = address_named("alice");
    let unknown = revert_data(IdentityRegistry::UnknownAgent { agentId: one() });
    assert_eq!(chain.expect_revert(alice, at, IdentityRegistry::ownerOfCall { agentId: one() }), unknown);
    assert_eq!(chain.expect_revert(alice, at, IdentityRegistry::tokenURICall { agentId: one() }), unknown);
    assert_eq!(chain.expect_revert(alice, at, IdentityRegistry::summaryCall { agentId: one() }), unknown);
    assert_eq!(chain.expect_revert(alice, at, feedback(1)), unknown);
    assert_eq!(chain.expect_revert(alice, at, IdentityRegistry::setAgentUriCall { agentId: one(), uri: String::new() }), unknown);
    chain.send(alice, at, IdentityRegistry::registerCall { uri: String::new() });
    let stranger = revert_data(IdentityRegistry::NotAgentOwner { agentId: one(), caller: OWNER });
    let metadata = IdentityRegistry::setMetadataCall { agentId: one(), key: String::new(), value: Bytes::new() };
    assert_eq!(chain.expect_revert(OWNER, at, metadata), stranger);
    assert_eq!(chain.expect_revert(OWNER, at, IdentityRegistry::approveCall { to: OWNER, agentId: one() }), stranger);
    let again = IdentityRegistry::initCall { name_: String::new(), symbol_: String::new() };
    assert_eq!(chain.expect_revert(OWNER, at, again), revert_data(IdentityRegistry::AlreadyInitialised {}));
}
