//! The registry: agents, what is said of them, and checks they asked for.

use alloy_primitives::{Address, Bytes, U256, keccak256};

use crate::contracts::harness::*;

fn registry() -> (Chain, Address) {
    let mut chain = Chain::new();
    let at = named("registry");
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
fn an_agent_is_a_number_with_an_owner() {
    let (mut chain, at) = registry();
    let (alice, bob, carol) = (named("alice"), named("bob"), named("carol"));
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
    let refused = |caller| error(IdentityRegistry::NotAgentOwner { agentId: one(), caller });
    assert_eq!(chain.refuse(bob, at, hand_over(alice, bob)), refused(bob));
    assert_eq!(chain.refuse(alice, at, hand_over(bob, alice)), refused(alice));
    assert_eq!(chain.refuse(alice, at, hand_over(alice, Address::ZERO)), error(IdentityRegistry::InvalidRecipient { to: Address::ZERO }));
    chain.send(alice, at, IdentityRegistry::approveCall { to: bob, agentId: one() });
    chain.send(bob, at, hand_over(alice, carol));
    assert_eq!(chain.view(at, IdentityRegistry::ownerOfCall { agentId: one() }), carol);
    assert_eq!(chain.view(at, IdentityRegistry::balanceOfCall(alice)), U256::ZERO);
    assert_eq!(chain.refuse(bob, at, hand_over(carol, bob)), refused(bob));
}

#[test]
fn what_others_say_is_counted_until_revoked() {
    let (mut chain, at) = registry();
    let (alice, bob, carol) = (named("alice"), named("bob"), named("carol"));
    chain.send(alice, at, IdentityRegistry::registerCall { uri: String::new() });
    let summary = |chain: &mut Chain| {
        let summary = chain.view(at, IdentityRegistry::summaryCall { agentId: one() });
        (summary.count, summary.averageScore)
    };
    assert_eq!(summary(&mut chain), (U256::ZERO, U256::ZERO));
    let event = chain.send(bob, at, feedback(100)).event::<IdentityRegistry::FeedbackGiven>();
    assert_eq!((event.client, event.score, event.tag1.as_str(), event.index), (bob, 100, "speed", U256::ZERO));
    chain.send(carol, at, feedback(51));
    assert_eq!(summary(&mut chain), (U256::from(2), U256::from(75)));
    let revoke = |index: u64| IdentityRegistry::revokeFeedbackCall { agentId: one(), index: U256::from(index) };
    let unknown = |index: u64| error(IdentityRegistry::UnknownFeedback { agentId: one(), index: U256::from(index) });
    assert_eq!(chain.refuse(bob, at, revoke(1)), unknown(1));
    assert_eq!(chain.refuse(bob, at, revoke(2)), unknown(2));
    chain.send(bob, at, revoke(0));
    assert_eq!(chain.refuse(bob, at, revoke(0)), unknown(0));
    assert_eq!(summary(&mut chain), (one(), U256::from(51)));
    assert!(chain.view(at, IdentityRegistry::readFeedbackCall { agentId: one(), index: U256::ZERO }).revoked);
    assert_eq!(chain.refuse(bob, at, feedback(101)), error(IdentityRegistry::ScoreOutOfRange { score: U256::from(101) }));
    assert_eq!(chain.refuse(alice, at, feedback(100)), error(IdentityRegistry::SelfFeedback { agentId: one() }));
}

#[test]
fn only_the_validator_who_was_asked_answers() {
    let (mut chain, at) = registry();
    let (alice, bob) = (named("alice"), named("bob"));
    chain.send(alice, at, IdentityRegistry::registerCall { uri: String::new() });
    let request = keccak256("request");
    let ask = |validator| IdentityRegistry::validationRequestCall { validator, agentId: one(), uri: "ipfs://r".into(), request };
    let answer = |response| IdentityRegistry::validationResponseCall { request, response, uri: "ipfs://v".into(), tag: "ok".into() };
    assert_eq!(chain.refuse(bob, at, ask(bob)), error(IdentityRegistry::NotAgentOwner { agentId: one(), caller: bob }));
    assert_eq!(chain.refuse(alice, at, ask(Address::ZERO)), error(IdentityRegistry::InvalidRecipient { to: Address::ZERO }));
    assert_eq!(chain.refuse(bob, at, answer(100)), error(IdentityRegistry::UnknownRequest { request }));
    chain.send(alice, at, ask(bob));
    assert_eq!(chain.refuse(alice, at, ask(bob)), error(IdentityRegistry::RequestExists { request }));
    assert_eq!(chain.refuse(alice, at, answer(100)), error(IdentityRegistry::NotValidator { request, caller: alice }));
    assert_eq!(chain.refuse(bob, at, answer(101)), error(IdentityRegistry::ScoreOutOfRange { score: U256::from(101) }));
    chain.now += 60;
    let event = chain.send(bob, at, answer(90)).event::<IdentityRegistry::ValidationAnswered>();
    assert_eq!((event.validator, event.agentId, event.response), (bob, one(), 90));
    let kept = chain.view(at, IdentityRegistry::validationsCall(request));
    assert_eq!((kept.validator, kept.response, kept.answered, kept.updatedAt), (bob, 90, true, START + 60));
}

#[test]
fn what_the_registry_refuses() {
    let (mut chain, at) = registry();
    let alice = named("alice");
    let unknown = error(IdentityRegistry::UnknownAgent { agentId: one() });
    assert_eq!(chain.refuse(alice, at, IdentityRegistry::ownerOfCall { agentId: one() }), unknown);
    assert_eq!(chain.refuse(alice, at, IdentityRegistry::tokenURICall { agentId: one() }), unknown);
    assert_eq!(chain.refuse(alice, at, IdentityRegistry::summaryCall { agentId: one() }), unknown);
    assert_eq!(chain.refuse(alice, at, feedback(1)), unknown);
    assert_eq!(chain.refuse(alice, at, IdentityRegistry::setAgentUriCall { agentId: one(), uri: String::new() }), unknown);
    chain.send(alice, at, IdentityRegistry::registerCall { uri: String::new() });
    let stranger = error(IdentityRegistry::NotAgentOwner { agentId: one(), caller: OWNER });
    let metadata = IdentityRegistry::setMetadataCall { agentId: one(), key: String::new(), value: Bytes::new() };
    assert_eq!(chain.refuse(OWNER, at, metadata), stranger);
    assert_eq!(chain.refuse(OWNER, at, IdentityRegistry::approveCall { to: OWNER, agentId: one() }), stranger);
    let again = IdentityRegistry::initCall { name_: String::new(), symbol_: String::new() };
    assert_eq!(chain.refuse(OWNER, at, again), error(IdentityRegistry::AlreadyInitialised {}));
}
