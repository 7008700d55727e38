//! PolicyCage under random call sequences: outflows computed from balances alone never exceed the limits.

use alloy_primitives::aliases::{U48, U160};
use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolCall;
use proptest::prelude::*;

use crate::contracts::amm::exact_in;
use crate::contracts::cage::{CageFixture, DAY, HOUR, attacker, cage, call, execute, guardian, lending, one_ether, pay, usd};
use crate::contracts::harness::*;

#[derive(Debug, Clone)]
enum CageOp {
    Pay { token: u8, usd: u16, to: u8 },
    Ether { usd: u16, to: u8 },
    Approve { token: u8, spender: u8 },
    Swap { from: u8, into: u8, usd: u16, to: u8 },
    Deposit { usd: u16, to: u8 },
    Redeem { bps: u16, to: u8 },
    GiveShares { bps: u16, to: u8 },
    Enter { usd: u16 },
    Exit { bps: u16, to: u8 },
    Borrow { usd: u16, to: u8 },
    Bridge { usd: u16, to: u8 },
    Wrap { usd: u16 },
    Permit2 { usd: u16, to: u8 },
}

#[derive(Debug, Clone)]
enum CageStep {
    One(CageOp),
    Batch(Vec<CageOp>),
    Wait(u32),
    Session,
    Halt,
    Resume,
    Price { usdc: u16 },
    Gift { token: u8, usd: u16 },
}

fn any_op() -> impl Strategy<Value = CageOp> {
    let usd = || prop_oneof![4 => 1..4_000_u16, 2 => 4_000..10_000_u16, 1 => 10_000..14_000_u16];
    let to = || 0..4_u8;
    let bps = || 1..=10_000_u16;
    prop_oneof![
        4 => (0..4_u8, usd(), to()).prop_map(|(token, usd, to)| CageOp::Pay { token, usd, to }),
        1 => (usd(), to()).prop_map(|(usd, to)| CageOp::Ether { usd, to }),
        1 => (0..4_u8, 0..4_u8).prop_map(|(token, spender)| CageOp::Approve { token, spender }),
        4 => (0..4_u8, 0..4_u8, usd(), to()).prop_map(|(from, into, usd, to)| CageOp::Swap { from, into, usd, to }),
        2 => (usd(), to()).prop_map(|(usd, to)| CageOp::Deposit { usd, to }),
        2 => (bps(), to()).prop_map(|(bps, to)| CageOp::Redeem { bps, to }),
        1 => (bps(), to()).prop_map(|(bps, to)| CageOp::GiveShares { bps, to }),
        2 => usd().prop_map(|usd| CageOp::Enter { usd }),
        2 => (bps(), to()).prop_map(|(bps, to)| CageOp::Exit { bps, to }),
        2 => (usd(), to()).prop_map(|(usd, to)| CageOp::Borrow { usd, to }),
        1 => (usd(), to()).prop_map(|(usd, to)| CageOp::Bridge { usd, to }),
        1 => usd().prop_map(|usd| CageOp::Wrap { usd }),
        1 => (usd(), to()).prop_map(|(usd, to)| CageOp::Permit2 { usd, to }),
    ]
}

fn any_step() -> impl Strategy<Value = CageStep> {
    prop_oneof![
        10 => any_op().prop_map(CageStep::One),
        4 => prop::collection::vec(any_op(), 2..5).prop_map(CageStep::Batch),
        3 => prop_oneof![1..600_u32, 3_000..10_000_u32, 80_000..100_000_u32].prop_map(CageStep::Wait),
        1 => Just(CageStep::Session),
        1 => Just(CageStep::Halt),
        2 => Just(CageStep::Resume),
        1 => (1_000..30_000_u16).prop_map(|usdc| CageStep::Price { usdc }),
        2 => (0..5_u8, 1..20_000_u16).prop_map(|(token, usd)| CageStep::Gift { token, usd }),
    ]
}

/// Balances of the account, computed without the cage.
#[derive(Debug, Clone, PartialEq)]
struct BalanceSnapshot {
    plain: Vec<U256>, // native, weth, usdc, dai, hook
    worth: U256,      // USD with 18 more digits, to avoid rounding
    debt: U256,
    villain: Vec<U256>,
}

fn precise(amount: U256, price: u64, decimals: u8) -> U256 {
    amount * usd(price) * units(1, 18 - decimals)
}

impl CageFixture {
    fn plain_assets(&self) -> [(Address, u64, u8); 5] {
        [(NATIVE, 3_000, 18), (self.weth, 3_000, 18), (self.usdc, 1, 6), (self.dai, 1, 18), (self.hook, 1, 18)]
    }

    fn snapshot_balances(&mut self) -> BalanceSnapshot {
        let (at, vault, venue, usdc, dai) = (self.at, self.vault, self.venue, self.usdc, self.dai);
        let mut seen = BalanceSnapshot { plain: vec![], worth: U256::ZERO, debt: U256::ZERO, villain: vec![] };
        for (asset, price, decimals) in self.plain_assets() {
            let balance = self.chain.balance(asset, at);
            seen.plain.push(balance);
            seen.worth += precise(balance, price, decimals);
            seen.villain.push(self.chain.balance(asset, attacker()));
        }
        let shares = self.chain.balance(vault, at);
        seen.worth += precise(self.chain.view(vault, Vault::convertToAssetsCall { shares }), 1, 6);
        seen.villain.push(self.chain.balance(vault, attacker()));
        let supplied = self.chain.view(venue, Venue::suppliedCall { account: at, market: lending(), asset: usdc });
        seen.worth += precise(supplied, 1, 6);
        seen.debt = precise(self.chain.view(venue, Venue::borrowedCall { account: at, market: lending(), asset: dai }), 1, 18);
        seen
    }

    /// Returns the larger of the plain-asset outflow and the total loss between two snapshots, in USD rounded down.
    fn outflow_between(&self, before: &BalanceSnapshot, after: &BalanceSnapshot) -> U256 {
        let mut gross = U256::ZERO;
        for (i, (_, price, decimals)) in self.plain_assets().into_iter().enumerate() {
            gross += precise(before.plain[i].saturating_sub(after.plain[i]), price, decimals);
        }
        let net = (before.worth + after.debt).saturating_sub(after.worth + before.debt);
        gross.max(net) / units(1, 18)
    }

    fn gift(&mut self, n: u8, usd: u16) {
        let (asset, price, decimals) = self.plain_assets()[usize::from(n)];
        let (at, amount) = (self.at, units(u64::from(usd), decimals) / U256::from(price));
        if asset == NATIVE {
            self.chain.give_ether(at, amount);
        } else if asset == self.weth {
            self.chain.give_ether(OWNER, amount);
            self.chain.send_with_value(OWNER, asset, amount, Weth::depositCall {});
            self.chain.send(OWNER, asset, pay(at, amount));
        } else {
            self.chain.mint(asset, at, amount);
        }
    }

    fn recipient(&self, n: u8) -> Address {
        [self.at, self.at, address_named("bob"), attacker()][usize::from(n)]
    }

    fn token(&self, n: u8) -> (Address, u64, u8) {
        self.plain_assets()[1 + usize::from(n)]
    }

    fn call_for(&mut self, act: &CageOp) -> PolicyCage::Call {
        let amount = |usd: u16, (_, price, decimals): (Address, u64, u8)| units(u64::from(usd), decimals) / U256::from(price);
        let (usdc, dai) = (self.token(1), self.token(2));
        let part = |whole: U256, bps: u16| whole * U256::from(bps) / U256::from(10_000);
        let at = self.at;
        let none = U256::ZERO;
        match *act {
            CageOp::Pay { token, usd, to } => call(self.token(token).0, none, &pay(self.recipient(to), amount(usd, self.token(token)))),
            CageOp::Ether { usd, to } => {
                PolicyCage::Call { target: self.recipient(to), value: amount(usd, self.plain_assets()[0]), data: Bytes::new() }
            }
            CageOp::Approve { token, spender } => {
                let spender = [self.router, self.permit2, address_named("bob"), attacker()][usize::from(spender)];
                call(self.token(token).0, none, &Token::approveCall { spender, value: U256::MAX })
            }
            CageOp::Swap { from, into, usd, to } => {
                let path = [self.token(from).0, self.usdc, self.token(into).0];
                let path = if from == 1 || into == 1 { vec![path[0], path[2]] } else { path.to_vec() };
                call(self.router, none, &exact_in(amount(usd, self.token(from)), U256::ZERO, &path, self.recipient(to)))
            }
            CageOp::Deposit { usd, to } => {
                call(self.vault, none, &Vault::depositCall { assets: amount(usd, usdc), receiver: self.recipient(to) })
            }
            CageOp::Redeem { bps, to } => {
                let shares = part(self.chain.balance(self.vault, at), bps);
                call(self.vault, none, &Vault::redeemCall { shares, receiver: self.recipient(to), owner_: at })
            }
            CageOp::GiveShares { bps, to } => {
                let shares = part(self.chain.balance(self.vault, at), bps);
                call(self.vault, none, &pay(self.recipient(to), shares))
            }
            CageOp::Enter { usd } => {
                let enter = Venue::enterCall { market: lending(), asset: usdc.0, amount: amount(usd, usdc), data: Bytes::new() };
                call(self.venue, none, &enter)
            }
            CageOp::Exit { bps, to } => {
                let supplied = self.chain.view(self.venue, Venue::suppliedCall { account: at, market: lending(), asset: usdc.0 });
                call(
                    self.venue,
                    none,
                    &Venue::exitCall { market: lending(), asset: usdc.0, amount: part(supplied, bps), to: self.recipient(to) },
                )
            }
            CageOp::Borrow { usd, to } => call(
                self.venue,
                none,
                &Venue::borrowCall { market: lending(), asset: dai.0, amount: amount(usd, dai), to: self.recipient(to) },
            ),
            CageOp::Bridge { usd, to } => {
                let bridge =
                    Venue::bridgeOutCall { asset: usdc.0, amount: amount(usd, usdc), dstChain: one_ether(), to: self.recipient(to) };
                call(self.venue, none, &bridge)
            }
            CageOp::Wrap { usd } => call(self.weth, amount(usd, self.plain_assets()[0]), &Weth::depositCall {}),
            CageOp::Permit2 { usd, to } => {
                let amount = U160::from(amount(usd, usdc));
                call(self.permit2, none, &Permit2::transferFromCall { from: at, to: self.recipient(to), amount, token: usdc.0 })
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_spends_more_than_the_limits(
        steps in prop::collection::vec(any_step(), 1..48),
        strict in any::<bool>(),
        bare in any::<bool>(),
        per_session in prop::sample::select(vec![15_000_u64, 25_000, 1_000_000]),
        per_day in prop::sample::select(vec![20_000_u64, 40_000]),
    ) {
        let mut cage = cage();
        let at = cage.at;
        cage.set_limits(|limits| {
            limits.perSessionUsd8 = u128::from(per_session) * 100_000_000;
            limits.perDayUsd8 = u128::from(per_day) * 100_000_000;
            limits.maxWritesPerHour = 12;
            if !strict {
                (limits.maxPositionBps, limits.maxConcentrationBps) = (10_000, 10_000);
                (limits.maxSlippageBps, limits.maxDrawdownBps) = (10_000, 10_000);
            }
        });
        // The operator is a token that calls the cage again in every transfer, and Permit2 may pull the allowed USDC.
        let hook = cage.hook;
        let again = execute(call(cage.usdc, U256::ZERO, &pay(address_named("bob"), units(9_000, 6))));
        cage.chain.send(OWNER, hook, HookToken::setHookCall { target: at, data: again.abi_encode().into() });
        cage.chain.send(OWNER, at, PolicyCage::setOperatorCall { operator_: hook });
        cage.chain.send(OWNER, at, PolicyCage::setSanctionedCall { account: attacker(), sanctioned_: true });
        let (permit2, usdc) = (cage.permit2, cage.usdc);
        cage.chain.allow(at, usdc, permit2);
        cage.chain.send(at, permit2, Permit2::approveCall { token: usdc, spender: at, amount: U160::MAX, expiration: U48::MAX });
        let operator = hook;
        // With cash only, all other assets come from gifts and trades.
        for (asset, ..) in cage.plain_assets() {
            let amount = cage.chain.balance(asset, at);
            if bare && asset != usdc {
                cage.chain.send(OWNER, at, PolicyCage::withdrawCall { asset, amount, to: OWNER });
            }
        }

        let mut halted = false;
        let mut session = U256::ZERO;
        let mut writes: Vec<(u64, usize)> = vec![];
        let mut day: Vec<(u64, U256)> = vec![];
        for step in steps {
            let acts = match step {
                CageStep::One(act) => vec![act],
                CageStep::Batch(acts) => acts,
                CageStep::Wait(seconds) => {
                    cage.chain.now += u64::from(seconds);
                    continue;
                }
                CageStep::Session => {
                    cage.chain.send(OWNER, at, PolicyCage::startSessionCall {});
                    session = U256::ZERO;
                    continue;
                }
                CageStep::Halt => {
                    cage.chain.send(guardian(), at, PolicyCage::haltCall {});
                    halted = true;
                    continue;
                }
                CageStep::Resume => {
                    cage.chain.send(OWNER, at, PolicyCage::resumeCall {});
                    halted = false;
                    continue;
                }
                CageStep::Price { usdc } => {
                    cage.push_price(u64::from(usdc));
                    continue;
                }
                CageStep::Gift { token, usd } => {
                    cage.gift(token, usd);
                    continue;
                }
            };
            let calls: Vec<_> = acts.iter().map(|act| cage.call_for(act)).collect();
            let before = cage.snapshot_balances();
            let reported = if calls.len() == 1 {
                let call = execute(calls[0].clone());
                cage.chain.try_send(operator, at, U256::ZERO, &call).map(|done| done.events::<PolicyCage::Executed>())
            } else {
                let call = PolicyCage::executeBatchCall { calls: calls.clone() };
                cage.chain.try_send(operator, at, U256::ZERO, &call).map(|done| done.events::<PolicyCage::Executed>())
            };
            let after = cage.snapshot_balances();
            prop_assert_eq!(&before.villain, &after.villain, "a sanctioned address received something by {:?}", acts);
            let Ok(reported) = reported else {
                prop_assert_eq!(before, after, "a refused call changed something");
                continue;
            };
            prop_assert!(!halted, "{:?} while halted", acts);
            prop_assert_eq!(reported.len(), calls.len());
            let left = cage.outflow_between(&before, &after);
            let reported_usd = reported.iter().fold(U256::ZERO, |sum, (_, event)| sum + event.spentUsd);
            prop_assert!(left <= reported_usd, "{} left, {} was reported: {:?}", left, reported_usd, acts);
            let now = cage.chain.now;
            session += left;
            day.push((now, left));
            let approvals = acts.iter().filter(|act| matches!(act, CageOp::Approve { .. })).count();
            writes.push((now, (calls.len() - approvals).max(1)));
            let today = day.iter().filter(|(time, _)| time + DAY > now).fold(U256::ZERO, |sum, (_, left)| sum + left);
            let this_hour: usize = writes.iter().filter(|(time, _)| time + HOUR > now).map(|(_, n)| n).sum();
            prop_assert!(left <= usd(10_000), "{} in one transaction", left);
            prop_assert!(session <= usd(per_session), "{} in one session", session);
            prop_assert!(today <= usd(per_day), "{} in one day", today);
            prop_assert!(this_hour <= 12, "{} writes in one hour", this_hour);
            prop_assert!(cage.spent().0 >= session && cage.spent().1 >= today);
        }
    }
}
