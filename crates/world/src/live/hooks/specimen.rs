//! Sample writes for tests: prepared, simulated and approved, so that each test breaks one rule.

use super::{HookInput, objections};
use crate::chain::AddressBook;
use crate::chain::genesis::{ACCOUNT, Genesis};
use crate::live::account::SpentTotals;
use crate::live::actions::{ActionState, FrozenAction};
use crate::live::tx_plan::{ContractCall, PartyRole, PlanKind, TxPlan};
use alloy_primitives::{Address, U256, address};
use model::transcript::{ReviewDecision, ToolErrorCode, TradeTerms};
use model::{MINIMAL_WORKSPACE, Policy, Workspace, WorkspaceFiles};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

pub(crate) const USDC: Address = address!("833589fCD6eDb6E08f4c7C32D4f71b54bdA02913");
pub(crate) const WETH: Address = address!("4200000000000000000000000000000000000006");
pub(crate) const ROUTER: Address = address!("2626664c2603336E57B271c5C0b26F421741e481");
pub(crate) const VAULT: Address = address!("BEEFE94c8aD530842bfE7d8B397938fFc1cb83b2");
pub(crate) const SANCTIONED: Address = address!("098B716B8Aaf21512996dC57EB0615e2383E2f96");
/// Not in any address book.
pub(crate) const STRANGER: Address = address!("70997970C51812dc3A010C7d01b50e0d17dc79C8");
const LOOK_ALIKE: Address = address!("90F79bf6EB2c4f870365E785982E1f101E93b906");

/// Minimal workspace with a sanctioned address, a vault and a stray token named USDC.
pub(crate) static WORKSPACE: LazyLock<Workspace> = LazyLock::new(|| {
    let mut files: WorkspaceFiles = MINIMAL_WORKSPACE.iter().copied().collect();
    let policy = files.get("policy.yaml").unwrap().replace("sanctioned: []", &format!("sanctioned: [\"{SANCTIONED}\"]"));
    files.insert("policy.yaml", policy);
    let more = format!(
        "\nvaults:\n  - {{ chain: 8453, address: \"{VAULT}\", asset: USDC, symbol: bbqUSDC }}\n\
         tokens:\n  - {{ chain: 8453, address: \"{LOOK_ALIKE}\", symbol: USDC, name: USD Coin, decimals: 6 }}\n"
    );
    let world = files.get("worlds/small.yaml").unwrap().to_owned() + &more;
    files.insert("worlds/small.yaml", world);
    Workspace::load(&files).unwrap_or_else(|problems| panic!("{problems:#?}"))
});

static BOOK: LazyLock<AddressBook> = LazyLock::new(|| {
    Genesis::from_world(&WORKSPACE, WORKSPACE.world("small").unwrap(), 8453).unwrap_or_else(|error| panic!("{error}")).book
});

/// Returns the policy of the sample workspace.
pub(crate) fn policy() -> &'static Policy {
    WORKSPACE.policy.as_ref().unwrap()
}

fn wallet() -> Address {
    WORKSPACE.world("small").unwrap().wallet.as_ref().unwrap().address
}

pub(crate) fn book() -> &'static AddressBook {
    &BOOK
}

#[derive(Debug)]
pub(crate) struct SampleWrite {
    pub tool: &'static str,
    pub args: Map<String, Value>,
    pub plan: TxPlan,
    pub calldata_hash: String,
    pub action_id: Option<String>,
    pub actions: ActionState,
    pub now_ms: u64,
    pub halted: bool,
    pub spent: SpentTotals,
}

const PREPARED_MS: u64 = 2_200;
const EXPIRES_MS: u64 = 32_200;

impl SampleWrite {
    /// Transfer of 250 USDC to an unknown address.
    pub(crate) fn transfer() -> Self {
        let args = json!({ "token": "USDC", "recipient": STRANGER.to_checksum(None), "amount": "250", "chain": "base" });
        let mut plan = TxPlan::new(8453, PlanKind::Execute(vec![ContractCall { to: USDC, value: U256::ZERO, data: vec![1] }]));
        plan.outflows = vec![(USDC, U256::from(250_000_000))];
        plan.parties = vec![(PartyRole::Recipient, STRANGER), (PartyRole::Asset, USDC)];
        Self::clean("token_transfer", args, plan)
    }

    /// Swap of 250 USDC for WETH with 50 bps of slippage.
    pub(crate) fn swap() -> Self {
        let args = json!({ "token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base" });
        let mut plan = TxPlan::new(8453, PlanKind::Execute(vec![ContractCall { to: ROUTER, value: U256::ZERO, data: vec![2] }]));
        plan.outflows = vec![(USDC, U256::from(250_000_000))];
        plan.parties = vec![(PartyRole::Recipient, ACCOUNT), (PartyRole::Asset, USDC), (PartyRole::Asset, WETH)];
        plan.outputs.insert("slippage_bps".into(), json!(50));
        plan.trade = Some(TradeTerms {
            chain: 8453,
            sell: "USDC".into(),
            amount: "250000000".into(),
            buy: "WETH".into(),
            expected: "78000000000000000".into(),
            least: "77610000000000000".into(),
            to: BOOK.party(ACCOUNT),
            deadline: 1_772_971_500,
        });
        Self::clean("swap_execute", args, plan)
    }

    fn clean(tool: &'static str, args: Value, plan: TxPlan) -> Self {
        let args = args.as_object().cloned().unwrap_or_default();
        let calldata_hash = plan.calldata_hash(wallet());
        let mut sample = Self {
            tool,
            args,
            plan,
            calldata_hash,
            action_id: Some("action-1".into()),
            actions: ActionState::default(),
            now_ms: 10_000,
            halted: false,
            spent: SpentTotals::default(),
        };
        sample.freeze();
        sample.actions.add_simulation(&sample.calldata_hash);
        sample.actions.apply_decision(&sample.calldata_hash, ReviewDecision::Approve, policy().version);
        sample
    }

    /// Freezes the current plan as `action-1`.
    pub(crate) fn freeze(&mut self) {
        let frozen = FrozenAction {
            tool: self.tool.into(),
            args: self.args.clone(),
            plan: self.plan.clone(),
            calldata_hash: self.calldata_hash.clone(),
            prepared_at_ms: PREPARED_MS,
            expires_at_ms: EXPIRES_MS,
        };
        self.actions.insert("action-1".into(), frozen);
    }

    pub(crate) fn frozen_until(&self) -> u64 {
        EXPIRES_MS
    }

    /// Returns the address of a stray token with the symbol USDC.
    pub(crate) fn look_alike() -> Address {
        LOOK_ALIKE
    }

    pub(crate) fn input(&self) -> HookInput<'_> {
        HookInput {
            policy: policy(),
            world: WORKSPACE.world("small").unwrap(),
            book: &BOOK,
            actions: &self.actions,
            now_ms: self.now_ms,
            halted: self.halted,
            tool: WORKSPACE.tool(self.tool).unwrap(),
            args: &self.args,
            action_id: self.action_id.as_deref(),
            plan: &self.plan,
            calldata_hash: &self.calldata_hash,
            spent: &self.spent,
        }
    }

    /// Returns hook and code of the only objection after a change.
    pub(crate) fn objection(mut self, change: impl FnOnce(&mut Self)) -> (&'static str, ToolErrorCode) {
        change(&mut self);
        let found = objections(&self.input());
        assert_eq!(found.len(), 1, "{found:?}");
        (found[0].hook, found[0].code)
    }
}
