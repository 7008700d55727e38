//! Taking a call in: what is asked of whom, and reads that change nothing.

use super::args::{Args, word};
use super::fixtures;
use super::foreign::is_foreign;
use super::tool_error::ToolError;
use super::views::{self, Around};
use super::world::LiveWorld;
use crate::{ChainAccess, Who};
use model::transcript::{Addressed, Provenance, ToolAnswer, ToolErrorCode};
use model::world::Inert;
use model::{AddressText, Happened, Kind, OpClass, Tool, View};
use serde_json::{Map, Value, json};

/// Nobody needs longer arguments, and everything downstream copies them.
const LONGEST_ARGS: usize = 64 * 1024;

pub(super) fn fits(tool: &Tool, args: &Map<String, Value>) -> Result<(), ToolError> {
    match tool.schema.violations(&Value::Object(args.clone())).first() {
        Some(violation) => Err(ToolError::new(
            ToolErrorCode::InvalidArguments,
            format!("{}: {}", super::tool_error::shown(&violation.path), violation.what),
        )),
        None => Ok(()),
    }
}

impl LiveWorld {
    pub(super) async fn answer(&mut self, who: &Who, call: u32, name: &str, args: &Value) -> Result<ToolAnswer, ToolError> {
        let workspace = self.stage.workspace.clone();
        let tool = workspace.tool(name).ok_or_else(|| ToolError::new(ToolErrorCode::UnknownTool, "there is no such tool"))?;
        let Value::Object(given) = args else {
            return Err(ToolError::new(ToolErrorCode::InvalidArguments, "arguments must be an object"));
        };
        if size(args) > LONGEST_ARGS {
            return Err(ToolError::new(ToolErrorCode::InvalidArguments, format!("the arguments are longer than {LONGEST_ARGS} bytes")));
        }
        let given = self.completed(tool, given);
        fits(tool, &given)?;
        self.resolve(who, call, tool, &given).await;
        if is_foreign(tool) && !self.facts().answers.contains_key(tool.name.as_str()) {
            return self.abroad(tool, &given).await;
        }
        match tool.acts.class() {
            OpClass::Quote => self.prepare(who, call, tool, &given).await,
            OpClass::Simulate => self.simulate(who, call, tool, &given).await,
            OpClass::Read => self.read(who, tool, &given).await,
            OpClass::Transfer
            | OpClass::Approve
            | OpClass::Permit
            | OpClass::Swap
            | OpClass::AddPosition
            | OpClass::RemovePosition
            | OpClass::VaultIn
            | OpClass::VaultOut
            | OpClass::VenueIn
            | OpClass::VenueOut
            | OpClass::Bridge
            | OpClass::Register
            | OpClass::Configure
            | OpClass::Remember
            | OpClass::PassThrough => {
                if given.get("dry_run") == Some(&Value::Bool(true)) {
                    self.prepare(who, call, tool, &given).await
                } else {
                    self.write(who, call, tool, &given).await
                }
            }
        }
    }

    /// A call that names a prepared action need not repeat what was prepared.
    fn completed(&self, tool: &Tool, given: &Map<String, Value>) -> Map<String, Value> {
        let mut all = given.clone();
        let frozen = given.get("action_id").and_then(Value::as_str).and_then(|id| self.actions.get(id));
        if let Some(frozen) = frozen.filter(|_| tool.writes()) {
            for (name, param) in &tool.params {
                if param.required
                    && !all.contains_key(name)
                    && let Some(value) = frozen.args.get(name)
                {
                    all.insert(name.clone(), value.clone());
                }
            }
        }
        all
    }

    /// Puts on record what is known about every address a call names.
    async fn resolve(&mut self, who: &Who, call: u32, tool: &Tool, given: &Map<String, Value>) {
        let args = Args::new(tool, given);
        let named: Vec<(String, AddressText)> = args
            .of_kind(|kind| matches!(kind, Kind::Address(_)) || matches!(kind, Kind::Token(_)))
            .filter_map(|(name, _, value)| Some((name.to_owned(), AddressText::parse(&word(value))?)))
            .collect();
        if named.is_empty() {
            return;
        }
        let Ok(chain) = self.chain_of(tool, &args) else { return };
        let mut addresses = vec![];
        for (param, text) in named {
            let Ok(here) = self.here(chain).await else { return };
            let has_code = here.chain.code(text.address).await.is_ok_and(|code| !code.is_empty());
            let party = here.site.genesis.book.party(text.address);
            addresses.push(Addressed { param, text: text.text, chain, party, has_code });
        }
        self.record(who, Happened::Resolved { call, addresses });
    }

    /// The world's own fixture first, then what the chain says, then the fixture it takes over.
    async fn read(&mut self, who: &Who, tool: &Tool, args: &Map<String, Value>) -> Result<ToolAnswer, ToolError> {
        let stage = self.stage.clone();
        let own = stage.file().answers.contains_key(tool.name.as_str());
        if let Some(view) = tool.view.filter(|_| !own) {
            let typed = Args::new(tool, args);
            // A tool that asks for one of several views names it.
            let chosen = typed.text("kind").and_then(|word| View::ALL.iter().find(|(known, _)| *known == word)).map(|(_, view)| *view);
            return self.view(who, tool, chosen.unwrap_or(view), &typed).await;
        }
        let fixture = fixtures::answer(&stage.workspace, stage.file(), &self.setup.fills, tool, args);
        let (answer, reads) = fixture.ok_or_else(|| ToolError::new(ToolErrorCode::Unavailable, "no source answered"))?;
        self.read_holes(who, reads);
        Ok(answer)
    }

    async fn view(&mut self, who: &Who, tool: &Tool, view: View, args: &Args<'_>) -> Result<ToolAnswer, ToolError> {
        match view {
            View::Memory => return Ok(ToolAnswer::Result(self.recall(who, args))),
            View::Files => return self.files(who, args),
            View::Price
            | View::Token
            | View::Balances
            | View::Portfolio
            | View::Allowance
            | View::Allowances
            | View::Pool
            | View::Position
            | View::Positions
            | View::Vault
            | View::VaultPosition
            | View::Health
            | View::Gas
            | View::Chains
            | View::Transaction
            | View::Orders
            | View::Agent
            | View::Limits => {}
        }
        let chain = self.chain_of(tool, args)?;
        let chains = self.facts().chains.clone();
        let (sent, spent, halted) = (std::mem::take(&mut self.sent), (self.spent.session_usd8, self.spent.day_usd8), self.halted);
        let around = Around { all_chains: &chains, sent: &sent, spent_usd8: spent, halted };
        let answer = match self.builder(chain).await {
            Ok(mut builder) => views::view(&mut builder, view, args, &around).await,
            Err(error) => Err(error),
        };
        self.sent = sent;
        if view == View::Token {
            self.stray_read(who, chain, args);
        }
        answer.map(ToolAnswer::Result)
    }

    /// The name of a stray token is text of its maker.
    fn stray_read(&mut self, who: &Who, chain: u64, args: &Args<'_>) {
        let asked = args.any_token().unwrap_or_default();
        let stage = self.stage.clone();
        let token = stage.file().tokens.iter().find(|token| token.chain == chain && token.address.text.eq_ignore_ascii_case(&asked));
        let holes = token.into_iter().flat_map(|token| [&token.name, &token.symbol]).filter_map(|inert| match inert {
            Inert::Hole(hole) => Some(hole.value.clone()),
            Inert::Text(_) => None,
        });
        let reads = holes.map(|hole| (hole.clone(), self.setup.fills.0.contains_key(&hole))).collect();
        self.read_holes(who, reads);
    }

    /// What is remembered, oldest first; only what an id names where one is given.
    fn recall(&mut self, who: &Who, args: &Args<'_>) -> Value {
        let stage = self.stage.clone();
        let wanted = args.first(|kind| matches!(kind, Kind::Id(_))).map(|(_, value)| word(value));
        let mut found = vec![];
        let mut reads = vec![];
        for memory in &stage.file().memory {
            if wanted.as_ref().is_none_or(|key| *key == memory.key) {
                let text = fixtures::text(&stage.workspace, stage.file(), &self.setup.fills, &memory.text, &mut reads);
                let provenance = Provenance { source: memory.source.clone(), trusted: memory.trusted };
                found.push((memory.key.clone(), Value::String(text), provenance));
            }
        }
        found.extend(self.remembered.iter().filter(|(key, _, _)| wanted.as_ref().is_none_or(|wanted| wanted == key)).cloned());
        for (key, _, provenance) in &found {
            self.record(who, Happened::Recalled { key: key.clone(), provenance: provenance.clone() });
        }
        self.read_holes(who, reads);
        let rows: Vec<Value> = found
            .into_iter()
            .map(|(key, value, provenance)| json!({ "id": key, "content": value, "source": provenance.source, "trusted": provenance.trusted }))
            .collect();
        json!({ "results": rows })
    }

    /// Files whose path or text contains what is asked for.
    fn files(&mut self, who: &Who, args: &Args<'_>) -> Result<ToolAnswer, ToolError> {
        let query =
            args.first(|kind| matches!(kind, Kind::Text | Kind::Url)).map(|(_, value)| word(value).to_lowercase()).unwrap_or_default();
        let stage = self.stage.clone();
        let paths: Vec<&String> = stage.file().files.keys().collect();
        let mut rows = vec![];
        for path in paths {
            let hit = query.is_empty() || query.split_whitespace().any(|word| path.to_lowercase().contains(word));
            if hit && let Some(text) = ChainAccess::file(self, who, path) {
                rows.push(json!({ "path": path, "text": text }));
            }
        }
        Ok(ToolAnswer::Result(json!({ "results": rows })))
    }
}

/// Bytes a value takes, roughly, without writing it out.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| size(item) + 1).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| key.len() + size(value) + 4).sum(),
    }
}
