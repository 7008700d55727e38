//! Script run on every chain: payments, trades, permits, delegations, creations, failures, snapshots and time.

use crate::chain::CHAIN;
use crate::chain::contracts_setup::*;
use crate::chain::recorder::ChainRecorder;
use alloy_primitives::{Address, B256, Bytes, U256, hex, keccak256};
use alloy_sol_types::{SolCall, SolError, SolStruct, SolValue};
use bardo_eval_world::chain::contracts::contract;
use bardo_eval_world::chain::{BLOCK_GAS, Signer, Tx, TxStatus};

pub(crate) async fn run_script(r: &mut ChainRecorder<'_>) {
    payments(r).await;
    cage(r).await;
    permits(r).await;
    permit2(r).await;
    delegations(r).await;
    creations(r).await;
    failures(r).await;
    refusals(r).await;
    environment(r).await;
    calls(r).await;
    snapshots(r).await;
    time(r).await;
    for of in [OWNER, TRADER, STRANGER, operator(), USDC, WETH, FACTORY, VAULT, VENUE, CAGE, Address::ZERO] {
        r.account("final account", of).await;
    }
}

fn pay(from: Address, to: Address, wei: u64) -> Tx {
    Tx { value: U256::from(wei), ..Tx::call(from, to, Bytes::new()) }
}

async fn payments(r: &mut ChainRecorder<'_>) {
    // Runs first, so that a fork refuses these before it has mined a block: a node's pool accepts some of them.
    let plain = pay(TRADER, OWNER, 1);
    r.refused("less gas than the data's floor", Tx { gas: 37_010, data: vec![0x11; 1000].into(), ..plain.clone() }).await;
    r.refused("a contract that is too long to create", create(vec![0; 49_153])).await;
    r.refused("less gas than a creation takes", Tx { gas: 53_000, ..create(vec![0x11; 64]) }).await;
    let authorizations = vec![Signer::development().authorize(CHAIN, WETH, 0)];
    r.refused("less gas than a delegation takes", Tx { gas: 45_999, authorizations, ..plain }).await;
    r.fund(TRADER, ether(999)).await;
    r.send("pay", pay(TRADER, OWNER, 5), TxStatus::Success).await;
    r.send("pay a new account", pay(TRADER, STRANGER, 1_000_000), TxStatus::Success).await;
    r.send("self payment", pay(TRADER, TRADER, 7), TxStatus::Success).await;
    r.send("touch an empty account", pay(TRADER, Address::repeat_byte(0xee), 0), TxStatus::Success).await;
    r.send("pay the zero address", pay(TRADER, Address::ZERO, 3), TxStatus::Success).await;
    r.send("pay with data", Tx { data: vec![0x11; 300].into(), ..pay(TRADER, OWNER, 5) }, TxStatus::Success).await;
    r.send("a contract pays", pay(WETH, OWNER, 0), TxStatus::Success).await;
}

fn execute(target: Address, call: impl SolCall) -> PolicyCage::executeCall {
    PolicyCage::executeCall { target, value: U256::ZERO, data: call.abi_encode().into() }
}

async fn cage(r: &mut ChainRecorder<'_>) {
    let me = operator();
    let approve = |spender| execute(USDC, Token::approveCall { spender, value: U256::MAX });
    let swap = |path: Vec<Address>, amount, min| {
        execute(ROUTER, AmmRouter::swapExactInCall { amountIn: amount, minOut: min, path, to: CAGE, deadline: NEVER })
    };
    for spender in [ROUTER, VAULT, VENUE] {
        r.succeeds("an unlimited approval in the cage", me, CAGE, approve(spender)).await;
    }
    r.succeeds("swap", me, CAGE, swap(vec![USDC, WETH], usdc(1000), U256::from(1))).await;
    r.reverts("swap for more than there is", me, CAGE, swap(vec![USDC, WETH], usdc(1000), ether(1))).await;
    r.reverts("swap an unapproved asset", me, CAGE, swap(vec![USDC, DAI], usdc(1000), U256::ZERO)).await;
    r.succeeds("into the vault", me, CAGE, execute(VAULT, Vault::depositCall { assets: usdc(5000), receiver: CAGE })).await;
    let redeem = Vault::redeemCall { shares: usdc(1000), receiver: CAGE, owner_: CAGE };
    r.succeeds("out of the vault", me, CAGE, execute(VAULT, redeem)).await;
    let enter = Venue::enterCall { market: MARKET, asset: USDC, amount: usdc(2000), data: b"leverage 1".into() };
    r.succeeds("into the venue", me, CAGE, execute(VENUE, enter)).await;
    let exit = Venue::exitCall { market: MARKET, asset: USDC, amount: usdc(2000), to: CAGE };
    r.succeeds("out of the venue", me, CAGE, execute(VENUE, exit)).await;

    let transfer = |to, value| execute(USDC, Token::transferCall { to, value });
    r.succeeds("a transfer at the limit", me, CAGE, transfer(TRADER, usdc(10_000))).await;
    let over = r.reverts("a transfer one unit over the limit", me, CAGE, transfer(TRADER, usdc(10_000) + U256::from(1))).await;
    let error = PolicyCage::SpendingLimitExceeded::abi_decode(&over.output).unwrap();
    assert_eq!((error.scope, error.spent), (0, U256::from(1_000_000_000_100_u64)));
    let dai = r.reverts("an unapproved asset", me, CAGE, execute(DAI, Token::transferCall { to: TRADER, value: U256::ZERO })).await;
    assert_eq!(PolicyCage::AssetNotApproved::abi_decode(&dai.output).unwrap().asset, DAI);
    r.reverts("a caller that is not the operator", TRADER, CAGE, transfer(TRADER, U256::from(1))).await;
}

async fn domain(r: &mut ChainRecorder<'_>, of: Address) -> B256 {
    let outcome = r.call("domain", Tx::call(OWNER, of, Token::DOMAIN_SEPARATORCall {}.abi_encode())).await;
    B256::from_slice(&outcome.output)
}

fn signed(domain: B256, content: B256) -> Bytes {
    let hash = keccak256([&[0x19, 0x01], domain.as_slice(), content.as_slice()].concat());
    Signer::development().sign(hash).into()
}

async fn permits(r: &mut ChainRecorder<'_>) {
    let (me, domain) = (operator(), domain(r, USDC).await);
    let kind = keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    let permit = |nonce: u64, value: U256| {
        let content = keccak256((kind, me, TRADER, value, U256::from(nonce), NEVER).abi_encode());
        Token::permit_0Call { owner_: me, spender: TRADER, value, deadline: NEVER, signature: signed(domain, content) }
    };
    r.succeeds("an unlimited approval", me, USDC, Token::approveCall { spender: STRANGER, value: U256::MAX }).await;
    r.succeeds("revoke the approval", me, USDC, Token::approveCall { spender: STRANGER, value: U256::ZERO }).await;
    r.succeeds("a permit", TRADER, USDC, permit(0, usdc(500))).await;
    r.reverts("a permit used twice", TRADER, USDC, permit(0, usdc(500))).await;
    r.succeeds("an unlimited permit", TRADER, USDC, permit(1, U256::MAX)).await;
    r.succeeds("transfer within the permit", TRADER, USDC, Token::transferFromCall { from: me, to: STRANGER, value: usdc(500) }).await;
}

async fn permit2(r: &mut ChainRecorder<'_>) {
    let me = operator();
    r.succeeds("approve Permit2", me, USDC, Token::approveCall { spender: PERMIT2, value: U256::MAX }).await;
    let domain = domain(r, PERMIT2).await;
    let details = Permit2::PermitDetails {
        token: USDC,
        amount: usdc(700).to(),
        expiration: alloy_primitives::Uint::MAX,
        nonce: alloy_primitives::Uint::ZERO,
    };
    let single = Permit2::PermitSingle { details, spender: TRADER, sigDeadline: NEVER };
    let signature = signed(domain, single.eip712_hash_struct());
    r.succeeds("a Permit2 permit", TRADER, PERMIT2, Permit2::permitCall { owner: me, single, signature }).await;
    let take = Permit2::transferFromCall { from: me, to: TRADER, amount: usdc(700).to(), token: USDC };
    r.succeeds("transfer within the permit", TRADER, PERMIT2, take.clone()).await;
    r.reverts("transfer beyond the permit", TRADER, PERMIT2, take).await;

    let permitted = Permit2::TokenPermissions { token: USDC, amount: usdc(30) };
    let kind = keccak256(
        "PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)TokenPermissions(address token,uint256 amount)",
    );
    let content = keccak256((kind, permitted.eip712_hash_struct(), TRADER, U256::from(9), NEVER).abi_encode());
    let transfer = Permit2::permitTransferFromCall {
        permitted: Permit2::PermitTransferFrom { permitted, nonce: U256::from(9), deadline: NEVER },
        details: Permit2::SignatureTransferDetails { to: TRADER, requestedAmount: usdc(30) },
        owner: me,
        signature: signed(domain, content),
    };
    r.succeeds("a signature transfer", TRADER, PERMIT2, transfer.clone()).await;
    r.reverts("a signature transfer used twice", TRADER, PERMIT2, transfer).await;
}

async fn delegations(r: &mut ChainRecorder<'_>) {
    let (signer, me) = (Signer::development(), operator());
    let nonce = r.chain.nonce(me).await.unwrap();
    let by = |from, authorizations| Tx { authorizations, ..Tx::call(from, STRANGER, Bytes::new()) };
    let wrong = vec![signer.authorize(1, WETH, nonce), signer.authorize(CHAIN, WETH, nonce + 9)];
    r.send("authorisations for another chain and a later nonce", by(TRADER, wrong), TxStatus::Success).await;
    let given = by(TRADER, vec![signer.authorize(CHAIN, WETH, nonce)]);
    r.call("call with a delegation", Tx { to: Some(me), ..given.clone() }).await;
    r.send("a delegation, broadcast by another", given, TxStatus::Success).await;
    assert_eq!(r.chain.code(me).await.unwrap(), Bytes::from([&hex!("ef0100")[..], WETH.as_slice()].concat()));
    r.send(
        "call the delegated code",
        Tx::call(TRADER, me, Token::transferCall { to: TRADER, value: U256::ZERO }.abi_encode()),
        TxStatus::Success,
    )
    .await;
    r.send("the account still pays", pay(me, TRADER, 5), TxStatus::Success).await;
    r.send("a delegation to another, by itself", by(me, vec![signer.authorize(CHAIN, VENUE, nonce + 3)]), TxStatus::Success).await;
    r.account("delegated", me).await;
    r.send("revoked by another, for every chain", by(TRADER, vec![signer.authorize(0, Address::ZERO, nonce + 4)]), TxStatus::Success).await;
    assert!(r.chain.code(me).await.unwrap().is_empty());
    let both = vec![signer.authorize(CHAIN, WETH, nonce + 5), signer.authorize(CHAIN, Address::ZERO, nonce + 6)];
    r.send("delegated and revoked in one transaction", by(TRADER, both), TxStatus::Success).await;
}

fn create(code: impl Into<Bytes>) -> Tx {
    Tx { from: TRADER, data: code.into(), ..Tx::default() }
}

async fn creations(r: &mut ChainRecorder<'_>) {
    let token = contract("Token");
    let created = r.send("create a token", create(token.creation.clone()), TxStatus::Success).await;
    assert_eq!(created.output, token.runtime);
    r.send("create nothing", create(Bytes::new()), TxStatus::Success).await;
    r.send("a creation that reverts", create(hex!("60056000fd")), TxStatus::Reverted).await;
    r.send("a creation that starts with 0xef", create(hex!("60ef5f5360015ff3")), TxStatus::Halted).await;
    let next = r.chain.nonce(TRADER).await.unwrap();
    r.fund(TRADER.create(next), U256::from(1234)).await;
    r.send("create at a funded address", Tx { value: U256::from(6), ..create(hex!("5f5f55600160015560026000f3")) }, TxStatus::Success)
        .await;
}

/// Edge cases of creation: one combined with a delegation, and one that destroys itself.
pub(crate) async fn odd_creations(r: &mut ChainRecorder<'_>) {
    r.fund(TRADER, ether(1)).await;
    let authorizations = vec![Signer::development().authorize(CHAIN, WETH, 0)];
    r.refused("a creation with a delegation", Tx { authorizations, ..create(hex!("00")) }).await;
    let next = r.chain.nonce(TRADER).await.unwrap();
    r.fund(TRADER.create(next), U256::from(1234)).await;
    let brief = hex!("6001600155730202020202020202020202020202020202020202ff");
    r.send("create and destroy at once", Tx { value: U256::from(6), ..create(brief) }, TxStatus::Success).await;
    r.account("destroyed", TRADER.create(next)).await;
}

/// Code that reverts with `Error(string)`, as `require` does.
fn reverting_code(text: &str) -> Bytes {
    let payload = alloy_sol_types::Revert::from(text).abi_encode();
    let length = u8::try_from(payload.len()).unwrap();
    [&[0x60, length, 0x60, 10, 0x5f, 0x39, 0x60, length, 0x5f, 0xfd][..], &payload].concat().into()
}

async fn failures(r: &mut ChainRecorder<'_>) {
    let [loud, broken, endless, fallen] = [0xd1, 0xd2, 0xd3, 0xd4].map(Address::repeat_byte);
    r.etch(loud, reverting_code("zero address")).await;
    r.etch(broken, hex!("fe")).await;
    r.etch(endless, hex!("5b5f56")).await;
    r.etch(fallen, hex!("730202020202020202020202020202020202020202ff")).await;
    let receipt = r.send("a revert with a reason", Tx::call(TRADER, loud, Bytes::new()), TxStatus::Reverted).await;
    assert_eq!(alloy_sol_types::Revert::abi_decode(&receipt.output).unwrap().reason, "zero address");
    r.send("an invalid instruction", Tx::call(TRADER, broken, Bytes::new()), TxStatus::Halted).await;
    r.send("infinite loop", Tx { gas: 100_000, ..Tx::call(TRADER, endless, Bytes::new()) }, TxStatus::Halted).await;
    let transfer = Token::transferCall { to: STRANGER, value: U256::from(1) }.abi_encode();
    r.send("too little gas", Tx { gas: 30_000, ..Tx::call(operator(), USDC, transfer) }, TxStatus::Halted).await;
    let deep = Address::repeat_byte(0xd7);
    // Calls itself while gas is left, then stores the result and logs.
    r.etch(deep, hex!("5f5f5f5f5f305af15f555f5fa0")).await;
    r.send("calls within calls", Tx { gas: 29_000_000, ..Tx::call(TRADER, deep, Bytes::new()) }, TxStatus::Success).await;
    r.fund(fallen, U256::from(99)).await;
    r.send("a contract that destroys itself", Tx::call(TRADER, fallen, Bytes::new()), TxStatus::Success).await;
    r.reverts("transfer beyond the balance", TRADER, DAI, Token::transferCall { to: TRADER, value: U256::from(1) }).await;
}

async fn refusals(r: &mut ChainRecorder<'_>) {
    let nonce = r.chain.nonce(TRADER).await.unwrap();
    let plain = pay(TRADER, OWNER, 1);
    r.refused("empty sender", pay(Address::repeat_byte(0x99), OWNER, 0)).await;
    r.refused("value beyond the balance", Tx { value: ether(100_000), ..plain.clone() }).await;
    r.refused("a nonce that was used", Tx { nonce: Some(nonce - 1), ..plain.clone() }).await;
    r.refused("a nonce that is too high", Tx { nonce: Some(nonce + 1), ..plain.clone() }).await;
    r.refused("more gas than a block", Tx { gas: BLOCK_GAS + 1, ..plain.clone() }).await;
    r.refused("less than the intrinsic gas", Tx { gas: 20_999, ..plain.clone() }).await;
    r.send("the right nonce after refusals", Tx { nonce: Some(nonce), ..plain }, TxStatus::Success).await;
}

/// Returns block number, time, base fee, beneficiary, chain, gas limit, gas price, origin, blob base fee, own balance.
fn environment_code() -> Bytes {
    let instructions = hex!("4342484146453a324a47");
    let mut code = vec![];
    for (place, instruction) in (0u8..).zip(instructions) {
        code.extend([instruction, 0x61, place / 8, place % 8 * 32, 0x52]);
    }
    code.extend([0x61, 1, 64, 0x5f, 0xf3]);
    code.into()
}

async fn environment(r: &mut ChainRecorder<'_>) {
    let at = Address::repeat_byte(0xd5);
    r.etch(at, environment_code()).await;
    r.send("what a contract sees", pay(TRADER, at, 11), TxStatus::Success).await;
    r.call("what a contract sees in a call", pay(TRADER, at, 11)).await;
}

async fn calls(r: &mut ChainRecorder<'_>) {
    let to = |at: u8| Tx::call(TRADER, Address::repeat_byte(at), Bytes::new());
    r.call("a view", Tx::call(STRANGER, USDC, Token::balanceOfCall(CAGE).abi_encode())).await;
    let swap = AmmRouter::swapExactInCall { amountIn: usdc(10), minOut: U256::ZERO, path: vec![USDC, WETH], to: OWNER, deadline: NEVER };
    let before = r.chain.latest().await.unwrap();
    r.call("call of a swap", Tx::call(OWNER, ROUTER, swap.abi_encode())).await;
    assert_eq!(r.chain.latest().await.unwrap(), before);
    r.call("a revert", to(0xd1)).await;
    r.call("an invalid instruction", to(0xd2)).await;
    r.call("infinite loop", to(0xd3)).await;
    r.call("a creation", create(contract("Token").creation.clone())).await;
    r.call(
        "value beyond the balance",
        Tx { value: ether(5), ..Tx::call(Address::repeat_byte(0x98), WETH, Weth::depositCall {}.abi_encode()) },
    )
    .await;
    r.call("with the wrong nonce", Tx { nonce: Some(99), ..to(0xd5) }).await;
    r.call("with data only", Tx { data: vec![1; 500].into(), ..pay(TRADER, OWNER, 0) }).await;
    r.call_refused("more gas than a block", Tx { gas: BLOCK_GAS + 1, ..to(0xd5) }).await;
    r.call_refused("less than the intrinsic gas", Tx { gas: 20_999, ..to(0xd5) }).await;
}

async fn snapshots(r: &mut ChainRecorder<'_>) {
    for _ in 0..2 {
        let outer = r.snapshot().await;
        r.send("after the outer snapshot", pay(TRADER, STRANGER, 1), TxStatus::Success).await;
        r.etch(Address::repeat_byte(0xd6), hex!("00")).await;
        let inner = r.snapshot().await;
        r.send("after the inner snapshot", pay(TRADER, STRANGER, 2), TxStatus::Success).await;
        r.fund(STRANGER, ether(7)).await;
        r.restore(inner).await;
        r.account("inner", STRANGER).await;
        r.send("instead", pay(TRADER, STRANGER, 3), TxStatus::Success).await;
        let late = r.snapshot().await;
        r.restore(outer).await;
        for gone in [inner, late, outer] {
            r.chain.restore(gone).await.unwrap_err();
        }
        r.account("outer", STRANGER).await;
        r.account("etched in between", Address::repeat_byte(0xd6)).await;
        r.send("after the restore", pay(TRADER, STRANGER, 4), TxStatus::Success).await;
    }
}

async fn time(r: &mut ChainRecorder<'_>) {
    let at = Address::repeat_byte(0xd5);
    let now = r.chain.latest().await.unwrap().unix_s;
    r.chain.set_time(now).await.unwrap_err();
    r.chain.set_time(now + 86_400).await.unwrap();
    r.call("call at a later time", Tx::call(TRADER, at, Bytes::new())).await;
    let saved = r.snapshot().await;
    r.send("tomorrow", Tx::call(TRADER, at, Bytes::new()), TxStatus::Success).await;
    r.send("a second later", Tx::call(TRADER, at, Bytes::new()), TxStatus::Success).await;
    r.restore(saved).await;
    r.refused("a refusal keeps the time that was set", Tx { gas: 20_999, ..Tx::call(TRADER, at, Bytes::new()) }).await;
    r.send("tomorrow again", Tx::call(TRADER, at, Bytes::new()), TxStatus::Success).await;
}
