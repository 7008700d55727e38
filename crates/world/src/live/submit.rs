//! Carrying a write out: hooks, consent, signature, broadcast, receipt.

use super::args::{Args, same};
use super::hooks::{Ask, objections};
use super::operations;
use super::prepare::{never_prepared, own_change};
use super::tool_error::ToolError;
use super::tx_plan::{FollowUp, PlanKind, TxPlan};
use super::views::SentFact;
use super::world::{Defence, LiveWorld};
use crate::chain::genesis::{ACCOUNT, KEEPER, opening};
use crate::chain::{Receipt, Status, Tx, revert_name, signed_transaction, signed_typed};
use crate::{ChainAccess, Who};
use alloy_primitives::{Address, U256, hex, keccak256};
use model::transcript::{Origin, Provenance, ToolAnswer, ToolErrorCode};
use model::world::Consent;
use model::{Capability, Happened, OpTarget, Place, Role, Spot, Thing, Tool};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A write that is about to be signed.
struct Write<'a> {
    call: u32,
    tool: &'a Tool,
    args: &'a Map<String, Value>,
    action_id: Option<&'a str>,
    plan: &'a TxPlan,
    calldata_hash: &'a str,
}

impl LiveWorld {
    pub(super) async fn write(&mut self, who: &Who, call: u32, tool: &Tool, args: &Map<String, Value>) -> Result<ToolAnswer, ToolError> {
        let action_id = self.action_named(tool, args);
        let plan = self.plan(tool, args, action_id.as_deref()).await?;
        let calldata_hash = plan.calldata_hash(self.operator());
        self.consent(who, call, tool, args, &plan)?;
        self.hooks(who, &Write { call, tool, args, action_id: action_id.as_deref(), plan: &plan, calldata_hash: &calldata_hash }).await?;
        let origin = Origin {
            call: Some(call),
            action_id: action_id.clone(),
            calldata_hash: Some(calldata_hash.clone()),
            trade: plan.trade.clone(),
        };
        match &plan.kind {
            PlanKind::Execute(_) | PlanKind::Direct(_) => self.send(who, tool, &plan, origin).await,
            PlanKind::Sign(_) => self.sign(who, tool, &plan, origin).await,
            PlanKind::Inflow { asset, amount } => self.inflow(who, &plan, *asset, *amount, origin).await,
            PlanKind::Remember { key, value } => {
                let key = format!("{key}:{}", self.remembered.len() + 1);
                let provenance = Provenance { source: who.agent.clone(), trusted: true };
                self.remembered.push((key.clone(), value.clone(), provenance.clone()));
                self.record(who, Happened::Remembered { key: key.clone(), value: value.clone(), provenance });
                Ok(ToolAnswer::Result(json!({ "status": "stored", "id": key })))
            }
        }
    }

    /// The prepared action a call names, also inside the quote it hands over.
    fn action_named(&self, tool: &Tool, args: &Map<String, Value>) -> Option<String> {
        if let Some(id) = args.get("action_id").and_then(Value::as_str) {
            return Some(id.to_owned());
        }
        if !tool.acts.sends_prepared() {
            return None;
        }
        let objects = || args.values().filter_map(Value::as_object);
        if let Some(id) = objects().find_map(|object| object.get("action_id")).and_then(Value::as_str) {
            return Some(id.to_owned());
        }
        let texts: Vec<&str> = args.values().chain(objects().flat_map(Map::values)).filter_map(Value::as_str).collect();
        texts.iter().find(|text| self.actions.get(text).is_some()).or_else(|| texts.first()).map(|text| (*text).to_owned())
    }

    /// The frozen plan where the call says nothing else; otherwise what it says, built afresh. The difference shows in the calldata.
    async fn plan(&mut self, tool: &Tool, args: &Map<String, Value>, action_id: Option<&str>) -> Result<TxPlan, ToolError> {
        let commits = tool.acts.sends_prepared();
        if let Some(id) = action_id {
            let frozen = self.actions.get(id).ok_or_else(|| never_prepared(id))?;
            let agrees = |(name, value): (&String, &Value)| {
                let default = || tool.params.get(name).and_then(|param| param.default.as_ref());
                matches!(name.as_str(), "action_id" | "dry_run")
                    || frozen.args.get(name).or_else(default).is_some_and(|known| same(known, value))
            };
            if commits || (frozen.tool == *tool.name && args.iter().all(agrees)) {
                return Ok(frozen.plan.clone());
            }
        }
        let typed = Args::new(tool, args);
        let chain = self.chain_of(tool, &typed)?;
        operations::build(&mut self.builder(chain).await?, tool, &typed).await
    }

    /// Privileged calls need the owner, who is shown what would be signed.
    fn consent(&mut self, who: &Who, call: u32, tool: &Tool, args: &Map<String, Value>, plan: &TxPlan) -> Result<(), ToolError> {
        if tool.capability != Capability::Privileged {
            return Ok(());
        }
        let granted = self.facts().owner == Consent::Grants;
        let mut facts = plan.outputs.clone();
        facts.insert("tool".into(), json!(tool.name.value));
        facts.insert("arguments".into(), Value::Object(args.clone()));
        facts.insert("chain_id".into(), json!(plan.chain));
        self.record(who, Happened::Confirmed { call, facts, granted });
        if granted { Ok(()) } else { Err(ToolError::new(ToolErrorCode::OwnerDeclined, "the owner was asked and declined")) }
    }

    async fn hooks(&mut self, who: &Who, write: &Write<'_>) -> Result<(), ToolError> {
        let Write { call, tool, args, action_id, plan, calldata_hash } = *write;
        let site = self.here(plan.chain).await?.site.clone();
        let stage = self.stage.clone();
        let found = objections(&Ask {
            workspace: &stage.workspace,
            world: stage.file(),
            book: &site.genesis.book,
            actions: &self.actions,
            now_ms: self.now_ms,
            halted: self.halted,
            tool,
            args,
            action_id,
            plan,
            calldata_hash,
            spent: &self.spent,
        });
        for objection in found {
            let (hook, why) = (objection.hook.to_owned(), objection.why.clone());
            match self.setup.defence {
                Defence::Observe => self.record(who, Happened::WouldBlock { call, hook, why }),
                Defence::Enforce => {
                    self.record(who, Happened::Blocked { call, hook, why });
                    return Err(ToolError::new(objection.code, objection.why));
                }
            }
        }
        Ok(())
    }

    async fn send(&mut self, who: &Who, tool: &Tool, plan: &TxPlan, origin: Origin) -> Result<ToolAnswer, ToolError> {
        let operator = self.operator();
        let Some(tx) = plan.transaction(operator) else {
            return Err(ToolError::new(ToolErrorCode::SigningFailed, "there is nothing to sign"));
        };
        let what = Box::new(signed_transaction(&self.here(plan.chain).await?.site.genesis.book, &tx));
        self.record(who, Happened::Signed { origin: origin.clone(), what });
        let calldata_hash = origin.calldata_hash.clone().unwrap_or_default();
        let action_id = origin.action_id.clone();
        let (receipt, nonce) = self.mine(who, plan.chain, origin.clone(), tx.clone()).await?;
        self.actions.sent(&calldata_hash, self.now_ms);
        let ok = receipt.status == Status::Success;
        let tx_hash = transaction_id(plan.chain, nonce, &tx);
        self.sent.push(SentFact {
            tx_hash: tx_hash.clone(),
            chain: plan.chain,
            action_id: action_id.clone(),
            tool: tool.name.value.clone(),
            ok,
            block: receipt.block.number,
            gas_used: receipt.gas_used,
        });
        if !ok {
            let error = if receipt.status == Status::Reverted { revert_name(&receipt.output) } else { "halted".to_owned() };
            return Err(ToolError::new(ToolErrorCode::TxReverted, format!("{tx_hash} stands in a block, but reverted with {error}")));
        }
        self.count(plan);
        if matches!(plan.kind, PlanKind::Direct(_)) {
            self.halt_everywhere(who, plan.chain, &origin, &tx).await?;
        }
        let mut answer = self.receipt(plan, &receipt, nonce, &tx_hash);
        answer.insert("action_id".into(), json!(action_id));
        self.after(who, plan, &receipt, &mut answer).await?;
        Ok(ToolAnswer::Result(Value::Object(answer)))
    }

    /// Whoever stops, stops on every chain: it is one write of one call.
    async fn halt_everywhere(&mut self, who: &Who, done: u64, origin: &Origin, tx: &Tx) -> Result<(), ToolError> {
        self.halted = true;
        let others: Vec<u64> = self.facts().chains.iter().copied().filter(|chain| *chain != done).collect();
        for chain in others {
            self.mine(who, chain, origin.clone(), tx.clone()).await?;
        }
        Ok(())
    }

    /// What a transaction that was just recorded did for us.
    fn receipt(&self, plan: &TxPlan, receipt: &Receipt, nonce: u64, tx_hash: &str) -> Map<String, Value> {
        let recorded = self.log.back().find_map(|happened| {
            let Happened::Mined { what, .. } = happened else { return None };
            (what.chain == plan.chain && what.nonce == nonce).then_some(&what.effects)
        });
        let changes: Vec<Value> = recorded.into_iter().flatten().filter_map(own_change).collect();
        let mut answer = plan.outputs.clone();
        answer.insert("status".into(), json!("success"));
        answer.insert("tx_hash".into(), json!(tx_hash));
        answer.insert("chain_id".into(), json!(plan.chain));
        answer.insert("block".into(), json!(receipt.block.number));
        answer.insert("gas_used".into(), json!(receipt.gas_used));
        answer.insert("changes".into(), Value::Array(changes));
        answer
    }

    /// What the limits of the policy have seen leave so far.
    fn count(&mut self, plan: &TxPlan) {
        let stage = self.stage.clone();
        let Some(here) = self.chains.get(&plan.chain) else { return };
        let book = &here.site.genesis.book;
        for (asset, amount) in &plan.outflows {
            let Some((symbol, decimals)) = book.get(*asset).and_then(|entry| entry.asset.clone()) else { continue };
            let price = super::tx_builder::price(stage.file(), &symbol).unwrap_or_default();
            let usd8 = amount.saturating_mul(price) / U256::from(10).pow(U256::from(decimals));
            self.spent.session_usd8 = self.spent.session_usd8.saturating_add(usd8);
            self.spent.day_usd8 = self.spent.day_usd8.saturating_add(usd8);
        }
    }

    async fn after(&mut self, who: &Who, plan: &TxPlan, receipt: &Receipt, answer: &mut Map<String, Value>) -> Result<(), ToolError> {
        match &plan.follow_up {
            None => {}
            Some(FollowUp::Position { assets }) => {
                let id = format!("position-{}", self.things.len() + 1);
                let spots = assets.iter().map(|symbol| Spot::new(symbol.clone(), Place::new("", 0))).collect();
                Arc::make_mut(&mut self.things).push(Thing {
                    id: Spot::new(id.clone(), Place::new("", 0)),
                    is: "position".into(),
                    chain: plan.chain,
                    assets: spots,
                    role: None,
                    contract: None,
                    market: None,
                    holds: None,
                    owes: None,
                    claimable: None,
                });
                answer.insert("position_id".into(), json!(id));
            }
            Some(FollowUp::Arrive { chain, symbol, decimals, amount, to }) => {
                let bridge_id = format!("bridge-{}-{}", plan.chain, receipt.block.number);
                let builder = self.builder(*chain).await?;
                let via = OpTarget { role: Some(Role::Bridge), ..OpTarget::default() };
                let (asset, venue) = (builder.asset(symbol)?, builder.contract(&via, &["Venue"])?);
                // The same token may count in other units over there.
                let ten = U256::from(10);
                let amount = amount.saturating_mul(ten.pow(U256::from(asset.decimals))) / ten.pow(U256::from(*decimals));
                let data = opening::arrive(asset.at, amount, plan.chain, receipt.block.number, *to);
                let by = Who::new("bridge", who.depth);
                self.mine(&by, *chain, Origin::default(), Tx::call(KEEPER, venue, data)).await?;
                answer.insert("bridge_id".into(), json!(bridge_id));
            }
        }
        Ok(())
    }

    async fn sign(&mut self, who: &Who, tool: &Tool, plan: &TxPlan, origin: Origin) -> Result<ToolAnswer, ToolError> {
        let PlanKind::Sign(data) = &plan.kind else { return Err(ToolError::new(ToolErrorCode::SigningFailed, "there is nothing to sign")) };
        let hash = data.eip712_signing_hash().map_err(|error| ToolError::new(ToolErrorCode::SigningFailed, error.to_string()))?;
        let operator = self.operator();
        let what = Box::new(signed_typed(&self.here(plan.chain).await?.site.genesis.book, operator, data));
        let calldata_hash = origin.calldata_hash.clone().unwrap_or_default();
        let block = self.here(plan.chain).await?.chain.latest().await?.number;
        self.sent.push(SentFact {
            tx_hash: hex::encode_prefixed(hash),
            chain: plan.chain,
            action_id: origin.action_id.clone(),
            tool: tool.name.value.clone(),
            ok: true,
            block,
            gas_used: 0,
        });
        self.record(who, Happened::Signed { origin, what });
        self.actions.sent(&calldata_hash, self.now_ms);
        let mut answer = plan.outputs.clone();
        answer.insert("status".into(), json!("signed"));
        answer.insert("order_id".into(), json!(hex::encode_prefixed(hash)));
        answer.insert("signature".into(), json!(hex::encode_prefixed(ChainAccess::signer(self).sign(hash))));
        answer.insert("chain_id".into(), json!(plan.chain));
        Ok(ToolAnswer::Result(Value::Object(answer)))
    }

    async fn inflow(&mut self, who: &Who, plan: &TxPlan, asset: Address, amount: U256, origin: Origin) -> Result<ToolAnswer, ToolError> {
        let wrapped = self.here(plan.chain).await?.site.genesis.book.get(asset).and_then(|entry| entry.contract) == Some("Weth");
        let by = Who::new("outside", who.depth);
        let tx = match asset {
            Address::ZERO => Tx { from: KEEPER, to: Some(ACCOUNT), value: amount, ..Tx::default() },
            token if wrapped => {
                let deposit = Tx { from: KEEPER, to: Some(token), value: amount, ..Tx::default() };
                self.mine(&by, plan.chain, origin.clone(), deposit).await?;
                Tx::call(KEEPER, token, opening::transfer(ACCOUNT, amount))
            }
            token => Tx::call(KEEPER, token, opening::mint(ACCOUNT, amount)),
        };
        let (receipt, nonce) = self.mine(&by, plan.chain, origin, tx.clone()).await?;
        if receipt.status != Status::Success {
            return Err(ToolError::new(ToolErrorCode::TxReverted, format!("nothing came in: {}", revert_name(&receipt.output))));
        }
        let tx_hash = transaction_id(plan.chain, nonce, &tx);
        let answer = self.receipt(plan, &receipt, nonce, &tx_hash);
        Ok(ToolAnswer::Result(Value::Object(answer)))
    }
}

/// The same on every kind of chain: who sent what, as which transaction of its own.
fn transaction_id(chain: u64, nonce: u64, tx: &Tx) -> String {
    let parts = [&chain.to_be_bytes()[..], tx.from.as_slice(), &nonce.to_be_bytes()[..], tx.data.as_ref()].concat();
    hex::encode_prefixed(keccak256(parts))
}
