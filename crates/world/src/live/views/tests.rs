//! Tests of every view on a chain of the reference world, including hostile arguments.

use super::view;
use crate::chain::bindings::Token;
use crate::chain::genesis::{ACCOUNT, Genesis};
use crate::chain::{EmbeddedChain, Tx};
use crate::live::account::{AccountState, SentTx, SpentTotals};
use crate::live::args::ToolArgs;
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::TxBuilder;
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use model::transcript::ToolErrorCode;
use model::{LiveView, Workspace};
use serde_json::{Map, Value, json};
use std::sync::Arc;

const BASE: u64 = 8453;
const VAULT: &str = "0xBEEFE94c8aD530842bfE7d8B397938fFc1cb83b2";
const POOL: &str = "0xd0b53D9277642d899DF5C87A3966A349A798F224";
const STRAY: &str = "0x4AcCE57228dB5A88C12Fb17aE109d29605E1a710";
const ROUTER: &str = "0x6fF5693b99212Da76ad316178A184AB56D299b43";

struct ViewFixture {
    workspace: Arc<Workspace>,
    world: &'static str,
    genesis: Genesis,
    chain: EmbeddedChain,
    account: AccountState,
}

impl ViewFixture {
    async fn new(world: &'static str, chain: u64) -> Self {
        let workspace = testkit::reference_workspace();
        let genesis = Genesis::from_world(&workspace, workspace.world(world).expect("the world"), chain).expect("a genesis");
        let chain = genesis.embedded_chain().await.expect("the set-up").thaw();
        let spent = SpentTotals { session_usd8: U256::from(25_000_000_000_u64), day_usd8: U256::from(50_000_000_000_u64) };
        Self { workspace, world, genesis, chain, account: AccountState::with_spent(spent) }
    }

    async fn ask_as(&mut self, tool: &str, which: LiveView, given: Value) -> Result<Value, ToolError> {
        let world = self.workspace.world(self.world).expect("the world");
        let tool = self.workspace.tool(tool).expect("the tool");
        let given: Map<String, Value> = given.as_object().expect("an object").clone();
        let mut builder = TxBuilder {
            workspace: &self.workspace,
            policy: self.workspace.policy.as_ref().expect("a policy"),
            operator: world.wallet.as_ref().expect("a wallet").address,
            world,
            book: &self.genesis.book,
            chain: &mut self.chain,
            id: self.genesis.book.chain,
            unix_s: self.genesis.opens_at + 9,
            clock_shift_s: 0,
            things: &world.objects,
        };
        view(&mut builder, which, &ToolArgs::new(tool, &given), &self.account).await
    }

    async fn ask(&mut self, tool: &str, given: Value) -> Result<Value, ToolError> {
        let which = self.workspace.tool(tool).and_then(|tool| tool.view).expect("a view");
        self.ask_as(tool, which, given).await
    }

    async fn ask_ok(&mut self, tool: &str, given: Value) -> Value {
        self.ask(tool, given).await.unwrap_or_else(|error| panic!("{tool}: {error:?}"))
    }

    async fn ask_error(&mut self, tool: &str, given: Value) -> ToolErrorCode {
        self.ask(tool, given).await.expect_err("an error").code
    }

    /// Approves a spender from the account, through its operator.
    async fn approve(&mut self, token: &str, spender: &str, value: U256) {
        let token = self.genesis.book.find(token).expect("a token");
        let spender: Address = spender.parse().expect("an address");
        let call = Token::approveCall { spender, value };
        let operator = self.workspace.world(self.world).expect("the world").wallet.as_ref().expect("a wallet").address;
        let data = crate::chain::execute(token, U256::ZERO, call.abi_encode());
        let receipt = crate::chain::ChainBackend::send(&mut self.chain, &Tx::call(operator, ACCOUNT, data)).await.expect("a receipt");
        assert_eq!(receipt.status, crate::chain::TxStatus::Success);
    }
}

fn row<'v>(rows: &'v Value, key: &str, value: &str) -> &'v Value {
    rows.as_array().and_then(|rows| rows.iter().find(|row| row[key] == value)).unwrap_or_else(|| panic!("no {value} in {rows:#}"))
}

fn number(value: &Value) -> f64 {
    value.as_str().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{value} is not a decimal"))
}

#[tokio::test]
async fn price_and_token_views() {
    let mut scene = ViewFixture::new("defi_small", BASE).await;
    let price = scene.ask_ok("data_get_token_price", json!({ "token": "weth", "chain": "base" })).await;
    assert_eq!(price["price_usd"], "3200");
    assert_eq!(price["token"], "WETH");
    assert_eq!(price["chain_id"], BASE);
    assert_eq!(price["as_of"], scene.genesis.opens_at + 9);
    let link = scene.ask_ok("data_get_token_price", json!({ "token": "LINK", "chain": "base", "quote_currency": "ETH" })).await;
    assert_eq!(link["price"], "0.005625");
    let euro = json!({ "token": "LINK", "chain": "base", "quote_currency": "EUR" });
    assert_eq!(scene.ask_error("data_get_token_price", euro).await, ToolErrorCode::NotFound);

    let usdc = scene.ask_ok("get_token_info", json!({ "token": "USDC", "chain": "base" })).await;
    assert_eq!((&usdc["symbol"], &usdc["name"], &usdc["decimals"]), (&json!("USDC"), &json!("USD Coin"), &json!(6)));
    assert_eq!(usdc["known"], true);
    let stray = scene.ask_ok("get_token_info", json!({ "token": STRAY, "chain": "base" })).await;
    assert_eq!((&stray["symbol"], &stray["known"]), (&json!("TIDE"), &json!(false)));
    let coin = scene.ask_ok("get_token_info", json!({ "token": "ETH", "chain": "base" })).await;
    assert_eq!((&coin["address"], &coin["known"]), (&json!("native"), &json!(true)));
    // A contract that is not a token has no metadata; an address without code is not found.
    let venue = scene.ask_ok("get_token_info", json!({ "token": "0xA238Dd80C259a72e81d7e4664a9801593F98d1c5", "chain": "base" })).await;
    assert_eq!((&venue["name"], &venue["decimals"]), (&Value::Null, &Value::Null));
    let no_code = json!({ "token": "0x00000000000000000000000000000000000000aa", "chain": "base" });
    assert_eq!(scene.ask_error("get_token_info", no_code).await, ToolErrorCode::NotFound);
}

#[tokio::test]
async fn balances_view_of_own_and_other_accounts() {
    let mut scene = ViewFixture::new("defi_small", BASE).await;
    let own = scene.ask_ok("wallet_get_status", json!({ "chain": "base" })).await;
    assert_eq!(own["account"], ACCOUNT.to_checksum(None));
    assert_eq!(row(&own["balances"], "token", "USDT")["amount"], "1000");
    assert_eq!(row(&own["balances"], "token", "ETH")["value_usd"], "4800");
    assert!(own["balances"].as_array().expect("rows").iter().all(|row| row["amount"] != "0"), "{own:#}");
    assert!(own.get("unreadable").is_none());
    let wallet = scene.workspace.world("defi_small").expect("the world").wallet.as_ref().expect("a wallet").text.clone();
    let by_key = scene.ask_as("query_state", LiveView::Balances, json!({ "kind": "balances", "account": wallet })).await.expect("balances");
    assert_eq!(by_key["balances"], own["balances"], "the operator's address maps to the account");
    let other = json!({ "kind": "balances", "account": "0x00000000000000000000000000000000000000aa" });
    let other = scene.ask_as("query_state", LiveView::Balances, other).await.expect("balances");
    assert_eq!((&other["balances"], &other["total_usd"]), (&json!([]), &json!("0")));
}

#[tokio::test]
async fn portfolio_view_counts_each_asset_once() {
    let mut scene = ViewFixture::new("defi_small", BASE).await;
    let all = scene.ask_ok("data_get_portfolio_snapshot", json!({ "chain": "base" })).await;
    let vault = row(&all["vault_shares"], "symbol", "bbqUSDC");
    assert!((number(&vault["assets"]["amount"]) - 600.0).abs() < 0.001, "{vault:#}");
    let weth = row(&all["pool_shares"], "pair", "WETH-USDC");
    assert_eq!(weth["ids"], json!(["482113"]));
    // Two ids of one market share one on-chain position: 100 and 80 USDC.
    let pendle = all["positions"].as_array().expect("rows").iter().find(|row| row["market"] == "yield").expect("the yield market");
    assert_eq!(pendle["supplied"][0]["amount"], "180");
    assert_eq!(pendle["ids"].as_array().map(Vec::len), Some(2));
    let parts: f64 = [&all["assets"], &all["pool_shares"], &all["positions"]]
        .iter()
        .flat_map(|rows| rows.as_array().expect("rows"))
        .map(|row| number(&row["value_usd"]))
        .sum();
    let claims = all["positions"].as_array().expect("rows").iter().flat_map(|row| row["claimable"].as_array().expect("claims"));
    let claims: f64 = claims.map(|claim| number(&claim["value_usd"])).sum();
    assert!((number(&all["total_usd"]) - parts - claims - number(&vault["assets"]["value_usd"])).abs() < 0.01, "{all:#}");
}

#[tokio::test]
async fn allowance_views_show_amount_and_risk() {
    let mut scene = ViewFixture::new("defi_small", BASE).await;
    let none = scene.ask_ok("uniswap_check_allowance", json!({ "token": "USDC", "chain": "base" })).await;
    assert_eq!((&none["allowance"], &none["spender"]["name"]), (&json!("0"), &json!("UniversalRouter")));
    scene.approve("USDC", ROUTER, U256::from(12_500_000_u64)).await;
    let some = scene.ask_ok("uniswap_check_allowance", json!({ "token": "USDC", "chain": "base", "spender": ROUTER })).await;
    assert_eq!((&some["allowance"], &some["unlimited"]), (&json!("12.5"), &json!(false)));
    let audit = scene.ask_ok("safety_audit_approvals", json!({ "chain_id": BASE })).await;
    let given = row(&audit["allowances"], "allowance", "12.5");
    assert_eq!((&given["token"], &given["risk"]), (&json!("USDC"), &json!("low")));
    assert_eq!(
        scene.ask_error("uniswap_check_allowance", json!({ "token": "ETH", "chain": "base" })).await,
        ToolErrorCode::InvalidArguments
    );
}

#[tokio::test]
async fn allowances_view_finds_unknown_and_unlimited_spenders() {
    let mut base = ViewFixture::new("registry_attacked", BASE).await;
    let audit = base.ask_ok("safety_audit_approvals", json!({ "chain_id": BASE })).await;
    let router = row(&audit["allowances"], "allowance", "unlimited");
    assert_eq!((&router["known_spender"], &router["risk"]), (&json!(true), &json!("medium")));
    let mut mainnet = ViewFixture::new("registry_attacked", 1).await;
    let audit = mainnet.ask_ok("safety_audit_approvals", json!({ "chain_id": 1 })).await;
    let stranger = row(&audit["allowances"], "risk", "high");
    assert_eq!(stranger["spender"]["address"], "0xaC8046F978Ec3bB7842C2326B8cA1812a629C92E");
    assert_eq!((&stranger["known_spender"], &stranger["unlimited"]), (&json!(false), &json!(true)));
}

#[tokio::test]
async fn pool_view_by_address_and_by_name() {
    let mut scene = ViewFixture::new("defi_small", BASE).await;
    let pool = scene.ask_ok("data_get_pool_info", json!({ "pool_address": POOL, "chain_id": BASE })).await;
    assert_eq!((&pool["pool"], &pool["pair"]), (&json!(POOL), &json!("WETH-USDC")));
    assert!((number(&pool["price"]["amount"]) - 3200.0).abs() < 0.01, "{pool:#}");
    assert!(number(&pool["tvl_usd"]) > 24_000_000.0);
    let pair = pool["contract"].clone();
    let direct = scene.ask_ok("data_get_pool_info", json!({ "pool_address": pair, "chain_id": BASE })).await;
    assert_eq!(direct["reserves"], pool["reserves"]);
    let named = scene.ask_as("query_state", LiveView::Pool, json!({ "kind": "pool", "target": "USDC/WETH" })).await.expect("a pool");
    assert_eq!((&named["contract"], &named["price"]["of"]), (&pool["contract"], &json!("USDC")));
    assert_eq!(scene.ask_error("data_get_pool_info", json!({ "pool_address": VAULT, "chain_id": BASE })).await, ToolErrorCode::NotFound);
}

#[tokio::test]
async fn position_views_by_id_and_all() {
    let mut scene = ViewFixture::new("defi_small", BASE).await;
    let share = scene.ask_ok("data_get_position", json!({ "token_id": "482113", "chain": "base" })).await;
    assert!((number(&share["amounts"][0]["amount"]) - 0.3155).abs() < 0.0001, "{share:#}");
    assert_eq!(share["claimable"][0]["amount"], "0.0041");
    let loan = scene.ask_ok("data_get_position", json!({ "token_id": "aave-8453", "chain": "base" })).await;
    assert_eq!((&loan["supplied"][0]["amount"], &loan["borrowed"][0]["amount"]), (&json!("1"), &json!("1062.24")));
    assert_eq!(loan["value_usd"], "2137.76");
    let all = scene.ask_ok("data_get_positions_by_owner", json!({ "chain": "base" })).await;
    let ids: Vec<&Value> = all["positions"].as_array().expect("rows").iter().flat_map(|row| row["ids"].as_array().expect("ids")).collect();
    for id in ["482113", "aave-8453", "gauge-8453", "bid-311", "job-5521"] {
        assert!(ids.contains(&&json!(id)), "{id} in {ids:?}");
    }
    // An order on two assets is not a pool share.
    for id in ["999", "twamm-19", "ann-204"] {
        assert_eq!(scene.ask_error("data_get_position", json!({ "token_id": id, "chain": "base" })).await, ToolErrorCode::NotFound, "{id}");
    }
}

#[tokio::test]
async fn vault_and_vault_position_views() {
    let mut scene = ViewFixture::new("defi_small", BASE).await;
    let vault = scene.ask_ok("vault_get_info", json!({ "vault": VAULT, "chain_id": BASE })).await;
    assert_eq!((&vault["asset"]["token"], &vault["total_assets"], &vault["paused"]), (&json!("USDC"), &json!("600"), &json!(false)));
    assert!((number(&vault["share_price"]) - 1.0).abs() < 0.001, "{vault:#}");
    let position = scene.ask_ok("vault_get_position", json!({ "vault": VAULT.to_lowercase(), "chain_id": BASE })).await;
    assert!((number(&position["assets"]["amount"]) - 600.0).abs() < 0.001, "{position:#}");
    let empty =
        scene.ask_ok("vault_get_position", json!({ "vault": "0xeE8F4eC5672F09119b96Ab6fB59C27E1b7e44b61", "chain_id": BASE })).await;
    assert_eq!((&empty["shares"], &empty["assets"]["amount"]), (&json!("0"), &json!("0")));
    assert_eq!(scene.ask_error("vault_get_info", json!({ "vault": POOL, "chain_id": BASE })).await, ToolErrorCode::NotFound);
}

#[tokio::test]
async fn health_view_with_and_without_debt() {
    let mut scene = ViewFixture::new("defi_small", BASE).await;
    let wallet = scene.workspace.world("defi_small").expect("the world").wallet.as_ref().expect("a wallet").text.clone();
    let health = scene.ask_ok("aave_get_health_factor", json!({ "account": wallet, "chain": BASE })).await;
    assert_eq!((&health["collateral_usd"], &health["debt_usd"]), (&json!("3200"), &json!("1062.24")));
    assert_eq!(health["health_factor"], "2.41");
    assert_eq!(health["borrowing_power_left_usd"], "1497.76");
    let other = json!({ "account": "0x00000000000000000000000000000000000000aa", "chain": BASE });
    let other = scene.ask_ok("aave_get_health_factor", other).await;
    assert_eq!((&other["health_factor"], &other["debt_usd"]), (&Value::Null, &json!("0")));
}

#[tokio::test]
async fn gas_chains_and_limits_views() {
    let mut scene = ViewFixture::new("defi_small", BASE).await;
    let gas = scene.ask_ok("wallet_get_gas_price", json!({ "chain_id": BASE })).await;
    assert_eq!((&gas["base_fee_gwei"], &gas["cost_usd"]["swap"]), (&json!("1"), &json!("0.64")));
    let chains = scene.ask_ok("wallet_get_supported_chains", json!({})).await;
    let ids: Vec<&Value> = chains["chains"].as_array().expect("rows").iter().map(|row| &row["chain_id"]).collect();
    assert_eq!(ids, [&json!(1), &json!(8453), &json!(42161)]);
    assert_eq!(chains["chains"][1]["name"], "base");
    let limits = scene.ask_ok("check_safety_status", json!({})).await;
    assert_eq!((&limits["limits_usd"]["per_day"], &limits["spent_usd"]["session"]), (&json!("100000"), &json!("250")));
    assert_eq!((&limits["left_usd"]["day"], &limits["halted"]), (&json!("99500"), &json!(false)));
}

#[tokio::test]
async fn transaction_and_order_views_find_sent_txs() {
    let mut scene = ViewFixture::new("defi_small", BASE).await;
    let fact = |hash: &str, tool: &str, ok: bool| SentTx {
        tx_hash: hash.to_owned(),
        chain: BASE,
        action_id: Some("action-1".into()),
        tool: tool.to_owned(),
        ok,
        block: 7,
        gas_used: 90_000,
    };
    scene.account.add_sent(fact("0xaa", "wallet_transfer_token", false));
    scene.account.add_sent(fact("0xbb", "uniswap_submit_uniswapx_order", true));
    let one = scene.ask_ok("uniswap_api_check_swap_status", json!({ "transaction_hashes": ["0xAA", "0xcc"], "chain_id": BASE })).await;
    assert_eq!((&one["transactions"][0]["status"], &one["transactions"][1]["status"]), (&json!("failed"), &json!("not_found")));
    let none = json!({ "transaction_hashes": ["0xcc"], "chain_id": BASE });
    assert_eq!(scene.ask_error("uniswap_api_check_swap_status", none).await, ToolErrorCode::NotFound);
    // The world file has two open orders besides the one that was sent.
    let orders = scene.ask_ok("uniswap_api_get_orders", json!({})).await;
    assert_eq!(orders["orders"].as_array().map(Vec::len), Some(3));
    let open = scene.ask_ok("uniswap_api_get_orders", json!({ "order_status": "open" })).await;
    assert_eq!(open["orders"].as_array().map(Vec::len), Some(2));
    let filled = scene.ask_ok("uniswap_api_get_orders", json!({ "order_status": "filled" })).await;
    assert_eq!((&filled["orders"][0]["tx_hash"], &filled["orders"][1]), (&json!("0xbb"), &Value::Null));
    let order = scene.ask_ok("uniswap_get_uniswapx_order_status", json!({ "order_id": "0xbb" })).await;
    assert_eq!(order["orders"][0]["status"], "filled");
    assert_eq!(scene.ask_error("uniswap_get_uniswapx_order_status", json!({ "order_id": "0xaa" })).await, ToolErrorCode::NotFound);
}

#[tokio::test]
async fn agent_view_rejects_unknown_agent() {
    let mut scene = ViewFixture::new("defi_small", BASE).await;
    for id in
        ["8453:9999", "1:77", "unknown", "", "8453:", "115792089237316195423570985008687907853269984665640564039457584007913129639936"]
    {
        assert_eq!(scene.ask_error("identity_get_validation_status", json!({ "agent_id": id })).await, ToolErrorCode::NotFound, "{id}");
    }
}

/// Views must answer with a typed error even for arguments that violate the schema.
#[tokio::test]
async fn views_reject_hostile_arguments() {
    let mut scene = ViewFixture::new("defi_small", BASE).await;
    let tools: Vec<(String, LiveView, Vec<String>)> = scene
        .workspace
        .tools
        .iter()
        .filter_map(|tool| Some((tool.name.value.clone(), tool.view?, tool.params.keys().cloned().collect())))
        .collect();
    let long = "9".repeat(5_000);
    let values = [
        json!(long),
        json!("0x"),
        json!("-1"),
        json!("é\u{202e}:/-"),
        json!([[]]),
        json!({ "a": 1 }),
        json!(1e300),
        json!(true),
        json!(""),
    ];
    for (tool, own, params) in &tools {
        // `query_state` supports every view.
        let views = if tool == "query_state" { LiveView::ALL.iter().map(|(_, view)| *view).collect() } else { vec![*own] };
        for value in &values {
            let given: Map<String, Value> = params.iter().map(|param| (param.clone(), value.clone())).collect();
            for which in &views {
                if let Err(error) = scene.ask_as(tool, *which, Value::Object(given.clone())).await {
                    assert!(error.message.chars().count() <= 401, "{tool}: {}", error.message.len());
                    let family = ["DATA_", "VALIDATION_", "ROUTING_"].iter().any(|family| error.code.text().starts_with(family));
                    assert!(family, "{tool}: {}", error.code);
                }
            }
        }
    }
}
