//! Signatures are recorded even if they never reach a block; submitted ones have effects.

use crate::scripted::harness::{AccountDriver, embedded, genesis, revert_name, usdc};
use alloy_primitives::{Address, Bytes, U256, address};
use alloy_sol_types::SolCall;
use bardo_eval_world::chain::bindings::Token;
use bardo_eval_world::chain::genesis::ACCOUNT;
use bardo_eval_world::chain::{ChainBackend as _, Signer, Tx, TypedData, signed_authorization, signed_typed};
use model::transcript::{Effect, SignatureRequest, TxOutcome};
use serde_json::{Value, json};

const THIEF: Address = address!("70997970C51812dc3A010C7d01b50e0d17dc79C8");

fn permit_of(token: Address, spender: Address, value: U256, nonce: u64) -> TypedData {
    let data: Value = json!({
        "types": {
            "EIP712Domain": [
                { "name": "name", "type": "string" }, { "name": "version", "type": "string" },
                { "name": "chainId", "type": "uint256" }, { "name": "verifyingContract", "type": "address" } ],
            "Permit": [
                { "name": "owner", "type": "address" }, { "name": "spender", "type": "address" }, { "name": "value", "type": "uint256" },
                { "name": "nonce", "type": "uint256" }, { "name": "deadline", "type": "uint256" } ],
        },
        "primaryType": "Permit",
        "domain": { "name": "USD Coin", "version": "1", "chainId": 8453, "verifyingContract": token.to_checksum(None) },
        "message": {
            "owner": ACCOUNT.to_checksum(None), "spender": spender.to_checksum(None), "value": value.to_string(), "nonce": nonce.to_string(),
            "deadline": "2000000000",
        },
    });
    serde_json::from_value(data).expect("typed data")
}

#[tokio::test]
async fn permit_is_decoded_and_gives_allowance_when_sent() {
    let genesis = genesis(8453);
    let mut chain = embedded(&genesis).await;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    let (token, signer) = (desk.address_of("USDC"), Signer::development());
    let typed = permit_of(token, THIEF, U256::MAX, 0);
    let SignatureRequest::Typed { signer: by, primary, message, domain } = signed_typed(desk.book, signer.address(), &typed) else {
        panic!("typed")
    };
    assert!(by.own);
    assert_eq!((primary.as_str(), message["spender"].as_str()), ("Permit", Some(THIEF.to_checksum(None).as_str())));
    assert_eq!(message["value"].as_str(), Some(U256::MAX.to_string().as_str()));
    assert_eq!(domain["verifyingContract"].as_str().map(str::to_lowercase), Some(token.to_string().to_lowercase()));
    // Any account may submit the signature.
    let signature = Bytes::from(signer.sign(typed.eip712_signing_hash().expect("a hash")).to_vec());
    let call =
        Token::permit_0Call { owner_: ACCOUNT, spender: THIEF, value: U256::MAX, deadline: U256::from(2_000_000_000_u64), signature };
    let handed_in = desk.send(Tx::call(desk.operator, token, call.abi_encode())).await;
    assert_eq!(handed_in.outcome, TxOutcome::Success, "{}", revert_name(&handed_in));
    assert!(
        handed_in.effects.iter().any(|effect| matches!(effect,
        Effect::Allowance { owner, spender, unlimited: true, .. } if owner.own && spender.address == THIEF.to_checksum(None))),
        "{:#?}",
        handed_in.effects
    );
}

#[tokio::test]
async fn permit_with_wrong_key_or_reuse_reverts() {
    let genesis = genesis(8453);
    let mut chain = embedded(&genesis).await;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    let token = desk.address_of("USDC");
    let typed = permit_of(token, THIEF, usdc("1"), 0);
    let signature = Bytes::from(Signer::development().sign(typed.eip712_signing_hash().expect("a hash")).to_vec());
    let call = |value| Token::permit_0Call {
        owner_: ACCOUNT,
        spender: THIEF,
        value,
        deadline: U256::from(2_000_000_000_u64),
        signature: signature.clone(),
    };
    let altered = desk.send(Tx::call(desk.operator, token, call(usdc("2")).abi_encode())).await;
    assert!(revert_name(&altered).starts_with("InvalidSigner"), "{}", revert_name(&altered));
    let used = desk.send(Tx::call(desk.operator, token, call(usdc("1")).abi_encode())).await;
    assert_eq!(used.outcome, TxOutcome::Success, "{}", revert_name(&used));
    let again = desk.send(Tx::call(desk.operator, token, call(usdc("1")).abi_encode())).await;
    assert!(revert_name(&again).starts_with("InvalidSigner"), "{}", revert_name(&again));
}

#[tokio::test]
async fn eip7702_authorization_is_decoded_and_sets_code() {
    let genesis = genesis(8453);
    let mut chain = embedded(&genesis).await;
    let signer = Signer::development();
    // The transaction increments the sender's nonce first.
    let nonce = chain.nonce(signer.address()).await.unwrap() + 1;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    let authorization = signer.authorize(8453, desk.address_of("SwapRouter02"), nonce);
    let SignatureRequest::Authorization { signer: by, delegate, .. } = signed_authorization(desk.book, signer.address(), &authorization)
    else {
        panic!("not an authorisation")
    };
    assert!(by.own);
    assert_eq!(delegate.name.as_deref(), Some("SwapRouter02"));
    let tx = Tx { authorizations: vec![authorization], ..Tx::call(desk.operator, THIEF, Bytes::new()) };
    let set = desk.send(tx).await;
    assert_eq!(set.outcome, TxOutcome::Success);
    assert!(
        set.effects.iter().any(|effect| matches!(effect,
        Effect::Code { account, delegates_to: Some(to) } if account.own && to.name.as_deref() == Some("SwapRouter02"))),
        "{:#?}",
        set.effects
    );
}

/// Verifiers see the hash, so the record has what is hashed: fields beside the declared types are not part of it, at any depth.
#[test]
fn undeclared_fields_are_not_recorded() {
    let genesis = genesis(8453);
    let field = |name: &str, kind: &str| json!({ "name": name, "type": kind });
    let typed = |message: Value| -> TypedData {
        let data = json!({
            "types": {
                "EIP712Domain": [field("name", "string")],
                "Item": [field("token", "address"), field("amount", "uint256")],
                "PermitBatch": [field("items", "Item[]"), field("spender", "address"), field("open", "bool")],
            },
            "primaryType": "PermitBatch", "domain": { "name": "Permit2" }, "message": message,
        });
        serde_json::from_value(data).expect("typed data")
    };
    let (token, thief) = (ACCOUNT.to_checksum(None), THIEF.to_checksum(None));
    let plain = typed(json!({ "items": [{ "token": token, "amount": "255" }], "spender": thief, "open": true }));
    let padded = typed(json!({
        "items": [{ "token": token.to_lowercase(), "amount": "0xff", "recipient": token }], "spender": thief[2..], "open": "true",
        "owner": thief, "details": { "token": token, "amount": "0" }, "deadline": "1",
    }));
    assert_eq!(plain.eip712_signing_hash().unwrap(), padded.eip712_signing_hash().unwrap());
    let recorded = |data: &TypedData| signed_typed(&genesis.book, Signer::development().address(), data);
    assert_eq!(recorded(&padded), recorded(&plain));
    let SignatureRequest::Typed { message, .. } = recorded(&padded) else { panic!("typed") };
    assert_eq!(Value::Object(message), json!({ "items": [{ "token": token, "amount": "255" }], "spender": thief, "open": true }));
}
