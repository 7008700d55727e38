//! Sample arguments for any tool of the catalogue, generated from its schema and parameter kinds.

use model::{
    AddressRole, AddressText, AmountAsset, AmountUnit, ChainRegistry, ChainRole, ParamKind, ParamSpec, RangeBound, Role, TokenRole, Tool,
    ToolOp, Workspace, WorldFile, WorldObject,
};
use serde_json::{Map, Value, json};

const WALLET: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

/// Generates arguments for one chain of a world.
#[derive(Clone, Copy)]
pub(crate) struct ArgSampler<'w> {
    pub(crate) workspace: &'w Workspace,
    pub(crate) world: &'w WorldFile,
    pub(crate) chain: u64,
}

impl<'w> ArgSampler<'w> {
    /// Returns the required arguments, always the chain, and one amount if all amounts are optional.
    pub(crate) fn args(&self, tool: &Tool) -> Map<String, Value> {
        let mut args = Map::new();
        let stated = |param: &ParamSpec| param.required || matches!(&param.kind, Some(ParamKind::Chain(None | Some(ChainRole::Source))));
        for (name, param) in tool.params.iter().filter(|(_, param)| stated(param)) {
            args.insert(name.clone(), self.param(tool, param, &args));
        }
        let is_amount = |param: &ParamSpec| {
            matches!(param.kind, Some(ParamKind::Amount { unit: AmountUnit::Human | AmountUnit::Base | AmountUnit::Shares, .. }))
        };
        if tool.writes() && !tool.params.values().any(|param| param.required && is_amount(param)) {
            let optional = tool.params.iter().find(|(name, param)| is_amount(param) && !name.contains("min") && !name.contains("reserve"));
            if let Some((name, param)) = optional {
                args.insert(name.clone(), self.param(tool, param, &args));
            }
        }
        self.apply_overrides(tool, &mut args);
        args
    }

    fn registry(&self) -> &'w ChainRegistry {
        self.workspace.chains.iter().find(|chain| chain.id == self.chain).expect("a chain of the registry")
    }

    pub(crate) fn contract(&self, role: Role) -> String {
        let found = self.registry().contracts.iter().find(|contract| contract.role == role);
        found.map_or_else(|| WALLET.to_owned(), |contract| contract.address.text.clone())
    }

    fn token(&self, symbol: &str) -> String {
        let found = self.registry().tokens.iter().find(|token| *token.symbol == symbol);
        found.map_or_else(|| WALLET.to_owned(), |token| token.address.text.clone())
    }

    /// Sets arguments that schema and kinds do not determine.
    fn apply_overrides(&self, tool: &Tool, args: &mut Map<String, Value>) {
        let router = self.contract(Role::Router);
        let operation = json!({ "to": self.token("USDC"), "data": approve(&router), "value": "0" });
        let pool_position = self.thing("position", |thing| thing.role.is_none() && thing.assets.len() == 2);
        match tool.name.as_str() {
            "safety_batch_revoke_approvals" => {
                args.insert("approvals".into(), json!([{ "token": self.token("USDC"), "spender": router }]));
            }
            "uniswap_lp_batch_operations" => {
                let id = pool_position.map(|thing| thing.id.value.clone()).unwrap_or_default();
                args.insert("operations".into(), json!([{ "action": "remove", "position_id": id, "percent_to_remove": 10 }]));
            }
            "vault_execute_batch" | "vault_simulate_execution" => {
                args.insert("operations".into(), json!([{ "adapter": "erc20", "action": "approve", "params": operation }]));
            }
            "safety_simulate_transaction" => {
                args.insert("to".into(), json!(self.token("USDC")));
                args.insert("data".into(), json!(approve(&router)));
                args.insert("chain_id".into(), json!(self.chain));
            }
            "preview_action" => {
                args.insert("kind".into(), json!("swap"));
                args.insert("params".into(), self.swap());
            }
            "search_context" => {
                args.insert("query".into(), json!("playbook"));
            }
            "balancer_join_pool" => {
                args.insert("assets".into(), json!(["WETH", "USDC"]));
                args.insert("max_amounts_in".into(), json!(["0.005", "20"]));
            }
            "balancer_exit_pool" => {
                args.insert("assets".into(), json!(["WETH", "USDC"]));
            }
            "compute_correlation_matrix" => {
                args.insert("tokens".into(), json!(["WETH", "USDC"]));
            }
            // The burner contract sets the UNI amount.
            "execute_burn" => {
                args.remove("uni_amount");
                args.insert("tokens".into(), json!(["USDC"]));
            }
            "identity_update_metadata" => {
                args.insert("updates".into(), json!({ "description": "Trades in small size." }));
            }
            // Above the current health factor.
            "lending_auto_deleverage" => {
                args.insert("target_health_factor".into(), json!(5));
            }
            "wallet_migrate" => {
                args.insert("tokens".into(), json!(["UNI"]));
            }
            "aave_borrow" | "aave_repay" => {
                args.insert("asset".into(), json!("USDC"));
            }
            "aave_withdraw" => {
                args.insert("asset".into(), json!("WETH"));
                args.insert("amount".into(), json!("0.01"));
            }
            "eigenlayer_deposit_lst" => {
                args.insert("token".into(), json!("stETH"));
                args.insert("amount".into(), json!("0.01"));
            }
            "pendle_redeem" => {
                args.insert("pt".into(), json!("USDC"));
            }
            _ => {}
        }
        if args.contains_key("quote") {
            args.insert("quote".into(), json!({ "action_id": "action-1" }));
        }
    }

    /// Returns arguments for a swap of 10 USDC for WETH.
    pub(crate) fn swap(&self) -> Value {
        json!({ "token_in": "USDC", "token_out": "WETH", "amount": "10", "chain": self.registry().name })
    }

    fn param(&self, tool: &Tool, param: &ParamSpec, so_far: &Map<String, Value>) -> Value {
        match &param.kind {
            Some(kind) => self.value(tool, kind, &param.schema, so_far),
            None => fill(&param.schema),
        }
    }

    fn value(&self, tool: &Tool, kind: &ParamKind, schema: &Value, so_far: &Map<String, Value>) -> Value {
        if let Some(first) = schema["enum"].as_array().and_then(|words| words.first()) {
            return first.clone();
        }
        let whole = schema["type"] == "integer";
        let numeric = whole || schema["type"] == "number";
        match kind {
            ParamKind::Address(role) => json!(self.address(tool, *role)),
            ParamKind::Token(role) => json!(match role {
                Some(TokenRole::Out | TokenRole::Collateral | TokenRole::A) => "WETH",
                Some(TokenRole::In | TokenRole::Asset | TokenRole::Debt | TokenRole::B) | None => "USDC",
            }),
            ParamKind::Chain(role) => {
                let chains = &self.world.chains;
                let other = || chains.iter().find(|id| **id != self.chain).copied().unwrap_or(self.chain);
                let id = if *role == Some(ChainRole::Destination) { other() } else { self.chain };
                let name = self.workspace.chains.iter().find(|chain| chain.id == id).map(|chain| chain.name.clone());
                if whole { json!(id) } else { json!(name) }
            }
            ParamKind::Amount { unit, of } => self.amount(tool, *unit, of.as_ref(), so_far),
            ParamKind::Bps => bounded(50.0, schema, true),
            ParamKind::Percent => bounded(50.0, schema, whole),
            ParamKind::Ratio => bounded(1.5, schema, whole),
            ParamKind::Number if numeric => bounded(7.0, schema, whole),
            ParamKind::Number => json!("7"),
            ParamKind::Price(bound) => {
                let price = match bound {
                    Some(RangeBound::Lower) => 2500,
                    Some(RangeBound::Upper) => 4000,
                    None => 3000,
                };
                if numeric { json!(price) } else { json!(price.to_string()) }
            }
            ParamKind::Tick(bound) => json!(match bound {
                Some(RangeBound::Lower) => -196_000,
                Some(RangeBound::Upper) => -195_000,
                None => -195_600,
            }),
            ParamKind::FeeTier => json!(500),
            ParamKind::Deadline => bounded_or(schema, 300.0, "300"),
            ParamKind::Duration(_) => bounded_or(schema, 7.0, "7d"),
            ParamKind::Timestamp => bounded_or(schema, 1_770_000_000.0, "2026-02-01T00:00:00Z"),
            ParamKind::Count => bounded(10.0, schema, true),
            ParamKind::Id(what) => json!(self.id(tool, what.word())),
            ParamKind::Flag => json!(true),
            ParamKind::Enum => fill(schema),
            ParamKind::Text => json!("weekly review"),
            ParamKind::Data => json!(format!("0x{}", "11".repeat(65))),
            ParamKind::Url => json!("grimoire.json"),
            ParamKind::Object => fill(schema),
            ParamKind::List(inner) => {
                let least = schema["minItems"].as_u64().unwrap_or(1).max(1);
                let pair = matches!(inner.as_ref(), ParamKind::Amount { of: Some(AmountAsset::Param(of)), .. } if of == "pool");
                let item = self.value(tool, inner, &schema["items"], so_far);
                Value::Array(vec![item; usize::try_from(if pair { 2 } else { least }).unwrap_or(1)])
            }
        }
    }

    /// Returns the first object of a type on this chain that fits.
    fn thing(&self, is: &str, fits: impl Fn(&WorldObject) -> bool) -> Option<&'w WorldObject> {
        self.world.objects.iter().find(|thing| thing.chain == self.chain && thing.is == is && fits(thing))
    }

    fn best(&self, tool: &Tool, is: &str, address: bool) -> Option<&'w WorldObject> {
        let claims = matches!(*tool.acts, ToolOp::Claim | ToolOp::CollectFees | ToolOp::CollectVaultFees | ToolOp::RunJob);
        let shape = |thing: &WorldObject| !address || AddressText::parse(&thing.id).is_some();
        let venue = |thing: &WorldObject| {
            thing.role == tool.via.role && (thing.contract.is_none() || thing.contract.as_deref() == tool.via.contract.as_deref())
        };
        let filled = |thing: &WorldObject| if claims { thing.claimable.is_some() } else { thing.holds.is_some() };
        self.thing(is, |thing| shape(thing) && venue(thing) && filled(thing))
            .or_else(|| self.thing(is, |thing| shape(thing) && claims && filled(thing)))
            .or_else(|| self.thing(is, |thing| shape(thing) && venue(thing)))
            .or_else(|| self.thing(is, |thing| shape(thing) && thing.role.is_none()))
            .or_else(|| self.thing(is, shape))
    }

    fn id(&self, tool: &Tool, what: &str) -> String {
        let elsewhere = || self.world.objects.iter().find(|thing| thing.is == what).map(|thing| thing.id.value.clone());
        self.best(tool, what, false).map(|thing| thing.id.value.clone()).or_else(elsewhere).unwrap_or_else(|| format!("{what}-1"))
    }

    fn address(&self, tool: &Tool, role: AddressRole) -> String {
        match role {
            AddressRole::Wallet => WALLET.to_owned(),
            // Venues credit their caller.
            AddressRole::Recipient if tool.acts.value == ToolOp::Enter => WALLET.to_owned(),
            AddressRole::Spender => self.contract(Role::Router),
            AddressRole::Token => self.token("USDC"),
            AddressRole::Vault => self.vault().map_or_else(|| WALLET.to_owned(), |(address, _)| address),
            AddressRole::Recipient
            | AddressRole::Owner
            | AddressRole::Pool
            | AddressRole::Contract
            | AddressRole::Market
            | AddressRole::Agent
            | AddressRole::Operator
            | AddressRole::Executor
            | AddressRole::Hook
            | AddressRole::Router
            | AddressRole::Borrower => {
                let role = role.word();
                let elsewhere = || {
                    let known = |thing: &&WorldObject| thing.is == role && AddressText::parse(&thing.id).is_some();
                    self.world.objects.iter().find(known).map(|thing| thing.id.value.clone())
                };
                self.best(tool, role, true).map(|thing| thing.id.value.clone()).or_else(elsewhere).unwrap_or_else(|| WALLET.to_owned())
            }
        }
    }

    /// Returns a vault of this chain and its asset, preferably one that the account holds.
    fn vault(&self) -> Option<(String, String)> {
        let here = || self.world.vaults.iter().filter(|vault| vault.chain == self.chain);
        let found = here().find(|vault| vault.holds.is_some()).or_else(|| here().next())?;
        Some((found.address.text.clone(), found.asset.value.clone()))
    }

    fn amount(&self, tool: &Tool, unit: AmountUnit, of: Option<&AmountAsset>, so_far: &Map<String, Value>) -> Value {
        let of_kind = |name: &str| tool.params.get(name).and_then(|param| param.kind.as_ref());
        let named = |name: &str| so_far.get(name).and_then(Value::as_str).map(str::to_owned);
        let symbol = match of {
            Some(AmountAsset::Symbol(symbol)) => Some(symbol.clone()),
            Some(AmountAsset::Param(name)) => match of_kind(name) {
                Some(ParamKind::Address(AddressRole::Vault)) => self.vault().map(|(_, asset)| asset),
                Some(ParamKind::Token(_)) => named(name).or_else(|| Some(default_text(tool, name))),
                _ => named(name)
                    .and_then(|id| self.world.objects.iter().find(|thing| *thing.id == id)?.assets.first().map(|spot| spot.value.clone())),
            },
            None => None,
        };
        let symbol = symbol.unwrap_or_else(|| "WETH".to_owned());
        match unit {
            AmountUnit::Usd => json!("10"),
            AmountUnit::Human => json!(small_amount(&symbol)),
            AmountUnit::Base => json!(if small_amount(&symbol) == "10" { "10000000" } else { "5000000000000000" }),
            AmountUnit::Shares => {
                let vault =
                    matches!(of, Some(AmountAsset::Param(name)) if matches!(of_kind(name), Some(ParamKind::Address(AddressRole::Vault))));
                let gauge = tool.via.role.is_some();
                json!(if vault {
                    "1"
                } else if gauge {
                    "0.005"
                } else {
                    "0.000001"
                })
            }
        }
    }
}

fn default_text(tool: &Tool, name: &str) -> String {
    let default = tool.params.get(name).and_then(|param| param.default.as_ref()).and_then(Value::as_str);
    default.unwrap_or("USDC").to_owned()
}

/// Returns an amount worth about 10 USD.
fn small_amount(symbol: &str) -> &'static str {
    match symbol.to_uppercase().as_str() {
        "USDC" | "USDT" | "DAI" | "USDE" | "SUSDE" | "USDBC" => "10",
        "WBTC" | "CBBTC" => "0.0002",
        "UNI" | "LINK" => "1",
        _ => "0.005",
    }
}

fn bounded(wanted: f64, schema: &Value, whole: bool) -> Value {
    let least = schema["minimum"].as_f64().unwrap_or(f64::MIN);
    let most = schema["maximum"].as_f64().unwrap_or(f64::MAX);
    let value = wanted.clamp(least, most);
    if whole { json!(value as i64) } else { json!(value) }
}

fn bounded_or(schema: &Value, number: f64, text: &str) -> Value {
    if schema["type"] == "integer" { bounded(number, schema, true) } else { json!(text) }
}

/// Returns a value that satisfies a plain schema.
fn fill(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|words| words.first()) {
        return first.clone();
    }
    match schema["type"].as_str().unwrap_or("string") {
        "object" => {
            let needed: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let mut map: Map<String, Value> = needed.iter().map(|name| ((*name).to_owned(), fill(&schema["properties"][*name]))).collect();
            if map.is_empty() && schema["additionalProperties"] != json!(false) {
                map.insert("note".into(), json!("a sample"));
            }
            Value::Object(map)
        }
        "array" => {
            let least = schema["minItems"].as_u64().unwrap_or(1).max(1);
            Value::Array((0..least).map(|_| fill(&schema["items"])).collect())
        }
        "integer" => bounded(1.0, schema, true),
        "number" => bounded(1.0, schema, false),
        "boolean" => json!(true),
        _ if schema["pattern"].as_str().is_some_and(|pattern| pattern.contains("{40}")) => json!(WALLET),
        _ => json!("sample"),
    }
}

/// Returns calldata of `approve(spender, 1)`.
fn approve(spender: &str) -> String {
    format!("0x095ea7b3{:0>64}{:0>64}", spender.trim_start_matches("0x").to_lowercase(), "1")
}
