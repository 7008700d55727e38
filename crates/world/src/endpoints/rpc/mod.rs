//! Ethereum JSON-RPC endpoint for the chains of a world. Signatures and transactions are decoded and recorded as events.

mod blocks;
mod client_state;
mod error;
mod filters;
mod ledger_json;
mod log_filter;
mod params;
mod raw_transaction;
mod reads;
mod request;
mod signatures;
mod transactions;
mod typed_data;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::mcp::serve::{SharedWorld, WorldLock};
use crate::{ActingAgent, ChainAccess};
use client_state::{ClientState, FilterKind};
use error::RpcError;
use params::{BlockSelector, RpcParams};
use request::RpcRequest;

/// Maximum size of a request or batch. The largest transaction takes a quarter of it.
pub(super) const MAX_BODY_BYTES: usize = 1024 * 1024;
/// Maximum number of requests in a batch.
const BATCH: usize = 100;

/// RPC endpoint of one trial.
#[derive(Debug)]
pub(super) struct RpcEndpoint {
    world: WorldLock,
    who: ActingAgent,
    /// Locked only while the world is locked.
    clients: Mutex<BTreeMap<u64, ClientState>>,
}

/// Context for answering one request.
pub(super) struct RpcContext<'t> {
    world: &'t mut dyn ChainAccess,
    who: &'t ActingAgent,
    chain: u64,
    client: &'t mut ClientState,
}

impl RpcEndpoint {
    pub(super) fn new(world: WorldLock, who: ActingAgent) -> Self {
        Self { world, who, clients: Mutex::default() }
    }

    /// Answers a request or batch. Returns `None` if the trial is over or has no such chain.
    pub(super) async fn answer(self: Arc<Self>, chain: u64, body: Bytes) -> Option<Value> {
        // On a separate task: a client that disconnects must not leave a transaction unrecorded.
        let failed = json!({ "jsonrpc": "2.0", "id": null, "error": RpcError::internal("internal error") });
        tokio::spawn(async move { self.answer_body(chain, &body).await }).await.unwrap_or(Some(failed))
    }

    async fn answer_body(&self, chain: u64, body: &[u8]) -> Option<Value> {
        if !self.world.lock().await?.chain_ids().contains(&chain) {
            return None;
        }
        let refused = |error: RpcError| json!({ "jsonrpc": "2.0", "id": null, "error": error });
        match serde_json::from_slice(body) {
            Err(error) => Some(refused(RpcError::parse(&error))),
            Ok(Value::Array(batch)) if batch.is_empty() => Some(refused(RpcError::request("empty batch"))),
            Ok(Value::Array(batch)) if batch.len() > BATCH => {
                Some(refused(RpcError::request(format!("batch too large: {} requests, limit {BATCH}", batch.len()))))
            }
            Ok(Value::Array(batch)) => {
                let mut answers = vec![];
                for one in batch {
                    answers.push(self.answer_one(chain, &one).await?);
                }
                Some(Value::Array(answers))
            }
            Ok(one @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_))) => {
                self.answer_one(chain, &one).await
            }
        }
    }

    async fn answer_one(&self, chain: u64, value: &Value) -> Option<Value> {
        let mut world = self.world.lock().await?;
        let mut clients = self.clients.lock().await;
        let client = clients.entry(chain).or_default();
        let mut context = RpcContext { world: &mut *world, who: &self.who, chain, client };
        let answer = match RpcRequest::read(value) {
            Ok(request) => context.answer_method(request.method, RpcParams(request.params)).await,
            Err(error) => Err(error),
        };
        let id = request::request_id(value);
        Some(match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        })
    }
}

/// Answers the body of a request, for fuzzers: unlike [`RpcEndpoint::answer`], a panic reaches the caller.
#[doc(hidden)]
pub async fn answer_rpc_body(world: SharedWorld, who: ActingAgent, chain: u64, body: &[u8]) -> Option<Value> {
    RpcEndpoint::new(WorldLock::new(world), who).answer_body(chain, body).await
}

impl RpcContext<'_> {
    async fn answer_method(&mut self, method: &str, params: RpcParams<'_>) -> Result<Value, RpcError> {
        match method {
            "eth_chainId" => Ok(params::quantity(self.chain)),
            "net_version" => Ok(self.chain.to_string().into()),
            "net_listening" => Ok(true.into()),
            "web3_clientVersion" => Ok(concat!("bardo-eval/", env!("CARGO_PKG_VERSION")).into()),
            "eth_syncing" => Ok(false.into()),
            "eth_accounts" | "eth_requestAccounts" => Ok(json!([self.world.signer().address()])),
            "eth_blockNumber" => self.block_number().await,
            "eth_getBlockByNumber" => self.block_by_number(params).await,
            "eth_getBlockByHash" => self.block_by_hash(params).await,
            "eth_getBalance" => self.balance(params).await,
            "eth_getTransactionCount" => self.transaction_count(params).await,
            "eth_getCode" => self.code(params).await,
            "eth_getStorageAt" => self.storage(params).await,
            "eth_call" => self.call(params).await,
            "eth_estimateGas" => self.estimate(params).await,
            "eth_gasPrice" => Ok(params::quantity(crate::chain::BASE_FEE)),
            "eth_maxPriorityFeePerGas" => Ok(params::quantity(0)),
            "eth_feeHistory" => self.fee_history(params).await,
            "eth_blobBaseFee" => Ok(params::quantity(1)),
            "eth_getTransactionReceipt" => self.receipt(params.hash(0)?).await,
            "eth_getTransactionByHash" => self.transaction_by_hash(params.hash(0)?).await,
            "eth_getTransactionByBlockNumberAndIndex" => self.transaction_at(BlockSelector::read(params.get(0))?, params.number(1)?).await,
            "eth_getTransactionByBlockHashAndIndex" => self.transaction_at(BlockSelector::Hash(params.hash(0)?), params.number(1)?).await,
            "eth_getBlockTransactionCountByNumber" => self.transaction_count_of_block(BlockSelector::read(params.get(0))?).await,
            "eth_getBlockTransactionCountByHash" => self.transaction_count_of_block(BlockSelector::Hash(params.hash(0)?)).await,
            "eth_getUncleCountByBlockNumber" => self.uncle_count(BlockSelector::read(params.get(0))?).await,
            "eth_getUncleCountByBlockHash" => self.uncle_count(BlockSelector::Hash(params.hash(0)?)).await,
            "eth_getBlockReceipts" => self.block_receipts(params).await,
            "eth_createAccessList" => self.access_list(params).await,
            "eth_getLogs" => self.logs(params).await,
            "eth_newFilter" => self.new_log_filter(params).await,
            "eth_newBlockFilter" => self.install(FilterKind::Blocks).await,
            "eth_newPendingTransactionFilter" => self.install(FilterKind::Transactions).await,
            "eth_getFilterChanges" => self.filter_changes(params).await,
            "eth_getFilterLogs" => self.filter_logs(params).await,
            "eth_uninstallFilter" => Ok(self.client.uninstall(params.number(0)?).into()),
            "eth_sendRawTransaction" => self.send_raw(params).await,
            "eth_sendRawTransactionSync" => self.send_raw_and_wait(params).await,
            "eth_sendTransaction" => self.send(params).await,
            "eth_signTransaction" => self.sign_transaction(params).await,
            "eth_sign" => self.sign_message(method, params.address(0)?, params.text(1)?).await,
            "personal_sign" => {
                let (message, signer) = params.message_and_signer()?;
                self.sign_message(method, signer, message).await
            }
            "eth_signTypedData_v4" | "eth_signTypedData" => self.sign_typed(params).await,
            _ => Err(RpcError::method(method)),
        }
    }
}
