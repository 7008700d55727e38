//! Freezing an action under an id, rehearsing it, and having it judged.

use super::actions::Frozen;
use super::args::{Args, word};
use super::guardian;
use super::operations;
use super::tool_error::{ToolError, shown};
use super::tx_plan::{PlanKind, TxPlan};
use super::world::LiveWorld;
use crate::chain::{Status, effects, revert_name};
use crate::{PeerAnswer, Who};
use alloy_primitives::{Address, U256, hex};
use model::transcript::{Effect, Prepared, ToolAnswer, ToolErrorCode};
use model::{AddressText, ChainRole, Happened, Kind, Prepares, ReviewRole, Tool};
use serde_json::{Map, Value, json};

/// What a transaction would have done.
#[derive(Debug, Clone)]
pub(super) struct Rehearsal {
    /// The name of the error where it failed.
    pub error: Option<String>,
    gas_used: u64,
    changes: Value,
}

impl LiveWorld {
    /// The chain a call is about: the one it names, that of the thing it names, or the first that has the contract.
    pub(super) fn chain_of(&self, tool: &Tool, args: &Args<'_>) -> Result<u64, ToolError> {
        let named = |text: String| {
            let chain = self.stage.workspace.chain(&text).filter(|chain| self.facts().chains.contains(&chain.id));
            chain
                .map(|chain| chain.id)
                .ok_or_else(|| ToolError::new(ToolErrorCode::ChainNotSupported, format!("{} is no chain of this world", shown(&text))))
        };
        let stated = args.first(|kind| matches!(kind, Kind::Chain(None | Some(ChainRole::Source))));
        if let Some((_, value)) = stated.filter(|(name, _)| args.given().contains_key(*name)) {
            return named(word(value));
        }
        for (_, _, value) in args.of_kind(|kind| matches!(kind, Kind::Id(_) | Kind::Address(_))) {
            let text = word(value);
            if let Some(thing) = self.things.iter().find(|thing| thing.id.eq_ignore_ascii_case(&text)) {
                return Ok(thing.chain);
            }
        }
        // Only a default: what the call names itself says more.
        if let Some((_, value)) = stated {
            return named(word(value));
        }
        let has_role = |id: &&u64| {
            let chain = self.stage.workspace.chains.iter().find(|chain| chain.id == **id);
            tool.via.role.is_none_or(|role| chain.is_some_and(|chain| chain.contracts.iter().any(|contract| contract.role == role)))
        };
        let chains = &self.facts().chains;
        chains
            .iter()
            .find(has_role)
            .or(chains.first())
            .copied()
            .ok_or_else(|| ToolError::new(ToolErrorCode::NoChain, "this world has no chain"))
    }

    /// A quote, a preview or a dry run.
    pub(super) async fn prepare(&mut self, who: &Who, call: u32, tool: &Tool, args: &Map<String, Value>) -> Result<ToolAnswer, ToolError> {
        let workspace = self.stage.workspace.clone();
        let (target, inner) = match &tool.prepares {
            None => (tool, None),
            Some(Prepares::Tool(name)) => (known(workspace.tool(name), name)?, None),
            Some(Prepares::ByWord { word: param, args: inside, tools }) => {
                let chosen = Args::new(tool, args).text(param).unwrap_or_default();
                let name = tools.get(&chosen).ok_or_else(|| unknown_word(param, &chosen))?;
                let inner = if inside == "all" { None } else { args.get(inside).and_then(Value::as_object).cloned().or(Some(Map::new())) };
                (known(workspace.tool(name), name)?, inner)
            }
        };
        if let Some(inner) = &inner {
            super::reads::fits(target, inner)?;
        }
        let typed = match &inner {
            Some(inner) => Args::new(target, inner),
            None => Args::new(tool, args),
        };
        let chain = self.chain_of(target, &typed)?;
        let plan = operations::build(&mut self.builder(chain).await?, target, &typed).await?;
        let mut answer = self.freeze(who, call, target, inner.as_ref().unwrap_or(args), plan).await?;
        if let Some((ToolAnswer::Result(Value::Object(fixture)), reads)) =
            super::fixtures::answer(&workspace, self.facts(), &self.setup.fills, tool, args)
        {
            self.read_holes(who, reads);
            for (key, value) in fixture {
                answer.entry(key).or_insert(value);
            }
        }
        Ok(ToolAnswer::Result(Value::Object(answer)))
    }

    async fn freeze(
        &mut self,
        who: &Who,
        call: u32,
        tool: &Tool,
        args: &Map<String, Value>,
        plan: TxPlan,
    ) -> Result<Map<String, Value>, ToolError> {
        let id = self.actions.next_id();
        let calldata_hash = plan.calldata_hash(self.operator());
        let block = self.here(plan.chain).await?.chain.latest().await?.number;
        let expires_at_ms = self.now_ms + self.stage.workspace.policy.quote_max_age_s * 1000;
        let mut answer = plan.outputs.clone();
        answer.insert("action_id".into(), json!(id));
        answer.insert("permit_id".into(), json!(id));
        answer.insert("chain_id".into(), json!(plan.chain));
        answer.insert("block".into(), json!(block));
        answer.insert("calldata_hash".into(), json!(calldata_hash));
        answer.insert("expires_at_ms".into(), json!(expires_at_ms));
        let action = Prepared {
            action_id: id.clone(),
            tool: tool.name.value.clone(),
            chain: plan.chain,
            block,
            calldata_hash: calldata_hash.clone(),
            expires_at_ms,
            trade: plan.trade.clone(),
        };
        self.record(who, Happened::Prepared { call, action: Box::new(action) });
        let mut args = args.clone();
        args.remove("dry_run");
        let frozen = Frozen { tool: tool.name.value.clone(), args, plan, calldata_hash, prepared_at_ms: self.now_ms, expires_at_ms };
        self.actions.freeze(id, frozen);
        Ok(answer)
    }

    /// Runs what an id stands for, or a raw call, and keeps nothing of it.
    pub(super) async fn simulate(&mut self, who: &Who, call: u32, tool: &Tool, args: &Map<String, Value>) -> Result<ToolAnswer, ToolError> {
        let typed = Args::new(tool, args);
        let action_id = args.get("action_id").and_then(Value::as_str).map(str::to_owned);
        let plan = match &action_id {
            Some(id) => self.actions.get(id).map(|frozen| frozen.plan.clone()).ok_or_else(|| never_prepared(id))?,
            None => self.raw(tool, &typed)?,
        };
        let calldata_hash = plan.calldata_hash(self.operator());
        let rehearsal = self.rehearse(&plan, &calldata_hash).await?;
        if rehearsal.error.is_none() {
            self.actions.simulated(&calldata_hash);
        }
        let happened = Happened::Simulated {
            call,
            action_id: action_id.clone(),
            calldata_hash: Some(calldata_hash.clone()),
            error: rehearsal.error.clone(),
        };
        self.record(who, happened);
        Ok(ToolAnswer::Result(json!({
            "success": rehearsal.error.is_none(),
            "error": rehearsal.error,
            "action_id": action_id,
            "calldata_hash": calldata_hash,
            "gas_used": rehearsal.gas_used,
            "changes": rehearsal.changes,
        })))
    }

    /// A call spelled out: an address, calldata and a value, or a list of operations.
    fn raw(&self, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
        let chain = self.chain_of(tool, args)?;
        if let Some(operations) = args.of_kind(|kind| matches!(kind, Kind::List(_))).find_map(|(_, _, value)| value.as_array()) {
            let calls = operations::raw_calls(operations)?;
            return Ok(TxPlan::new(chain, PlanKind::Execute(calls)));
        }
        let to = args.get("to").map(word).and_then(|text| AddressText::parse(&text)).map(|address| address.address);
        let to: Address =
            to.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "name an action_id, or to and data of the call to simulate"))?;
        let data = args.get("data").map(word).unwrap_or_default();
        let data = hex::decode(&data).map_err(|_| ToolError::new(ToolErrorCode::InvalidArguments, "data is not hex"))?;
        let value = args.get("value").map(|value| super::args::units("value", &word(value), 0)).transpose()?.unwrap_or(U256::ZERO);
        Ok(TxPlan::new(chain, PlanKind::Execute(vec![super::tx_plan::Call { to, value, data }])))
    }

    /// What the plan would do now; asked again in the same block it is not run again.
    pub(super) async fn rehearse(&mut self, plan: &TxPlan, calldata_hash: &str) -> Result<Rehearsal, ToolError> {
        let Some(tx) = plan.transaction(self.operator()) else {
            return Ok(Rehearsal { error: None, gas_used: 0, changes: json!([]) });
        };
        let here = self.here(plan.chain).await?;
        let key = (here.chain.latest().await?.number, calldata_hash.to_owned());
        if let Some(known) = here.rehearsed.get(&key) {
            return Ok(known.clone());
        }
        let before = here.chain.snapshot().await?;
        let receipt = here.chain.send(&tx).await;
        here.chain.restore(before).await?;
        let receipt = receipt?;
        let error = match receipt.status {
            Status::Success => None,
            Status::Reverted => Some(revert_name(&receipt.output)),
            Status::Halted => Some("halted".to_owned()),
        };
        let changes = effects(&here.site.genesis.book, &tx, &receipt).iter().filter_map(own_change).collect();
        let rehearsal = Rehearsal { error, gas_used: receipt.gas_used, changes: Value::Array(changes) };
        here.rehearsed.insert(key, rehearsal.clone());
        // A chain's clock stands where it stood before the rehearsal.
        self.here(plan.chain).await?;
        Ok(rehearsal)
    }

    /// Guardian and assessor, computed from policy.
    pub(super) async fn decide(&mut self, who: &Who, to: &str, role: ReviewRole, params: &Map<String, Value>) -> PeerAnswer {
        let stage = self.stage.clone();
        let policy = stage.workspace.policy.version;
        let action_id = guardian::action_id(params).map(str::to_owned);
        let frozen = action_id.as_deref().and_then(|id| self.actions.get(id)).cloned();
        let reverts = match &frozen {
            Some(frozen) => match self.rehearse(&frozen.plan, &frozen.calldata_hash).await {
                Ok(rehearsal) => rehearsal.error,
                Err(error) => Some(error.message),
            },
            None => None,
        };
        let site = match &frozen {
            Some(frozen) => self.here(frozen.plan.chain).await.ok().map(|here| here.site.clone()),
            None => None,
        };
        let matter = guardian::Case {
            workspace: &stage.workspace,
            world: stage.file(),
            book: site.as_ref().map(|site| &site.genesis.book),
            actions: &self.actions,
            now_ms: self.now_ms,
            halted: self.halted,
            spent: &self.spent,
            params,
            reverted: reverts.as_deref(),
        };
        let (decision, reason) = guardian::decide(role, &matter);
        let calldata_hash = frozen.map(|frozen| frozen.calldata_hash);
        if let (ReviewRole::Guardian, Some(calldata_hash)) = (role, &calldata_hash) {
            self.actions.decided(calldata_hash, decision, policy);
        }
        let by = Who::new(to, who.depth + 1);
        let happened =
            Happened::Decided { action_id: action_id.clone(), decision, reason: reason.clone(), calldata_hash, policy: Some(policy) };
        self.record(&by, happened);
        PeerAnswer { action_id, decision, reason }
    }
}

fn known<'t>(tool: Option<&'t Tool>, name: &str) -> Result<&'t Tool, ToolError> {
    tool.ok_or_else(|| ToolError::new(ToolErrorCode::UnknownPreparedTool, format!("there is no tool {name} to prepare")))
}

fn unknown_word(param: &str, word: &str) -> ToolError {
    ToolError::new(ToolErrorCode::InvalidArguments, format!("{param}: {} is nothing that can be prepared", shown(word)))
}

pub(super) fn never_prepared(id: &str) -> ToolError {
    ToolError::new(ToolErrorCode::UnknownAction, format!("no action {} was prepared", shown(id)))
}

/// A change of what is ours, for the answer.
pub(super) fn own_change(effect: &Effect) -> Option<Value> {
    match effect {
        Effect::Balance { holder, asset, before, after } if holder.own && asset != "ETH" || holder.name.as_deref() == Some("account") => {
            Some(json!({ "balance": asset, "before": before, "after": after }))
        }
        Effect::Allowance { owner, spender, asset, after, unlimited, .. } if owner.own => {
            Some(json!({ "allowance": asset, "spender": spender.address, "after": after, "unlimited": unlimited }))
        }
        Effect::Position { account, market, asset, side, before, after, .. } if account.own => {
            Some(json!({ "position": asset, "market": market, "side": side, "before": before, "after": after }))
        }
        Effect::Balance { .. } | Effect::Allowance { .. } | Effect::Position { .. } | Effect::Code { .. } | Effect::Unexplained { .. } => {
            None
        }
    }
}
