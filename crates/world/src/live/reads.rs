//! Reads: the world's own fixture first, then the chain, then the fixture of the world it inherits from.

use super::args::{Args, word};
use super::fixtures::{FixtureAnswer, HoleRead};
use super::memory::MemoryEntry;
use super::texts;
use super::tool_error::ToolError;
use super::tool_request::ToolRequest;
use super::trial_state::TrialState;
use super::views;
use super::world_template::WorldTemplate;
use crate::Who;
use model::transcript::{Provenance, ToolAnswer, ToolErrorCode};
use model::world::Inert;
use model::{Happened, Kind, View};
use serde_json::{Value, json};

pub(super) async fn read(template: &WorldTemplate, state: &mut TrialState, request: &ToolRequest<'_>) -> Result<ToolAnswer, ToolError> {
    let own = template.file().answers.contains_key(request.tool.name.as_str());
    if let Some(view) = request.tool.view.filter(|_| !own) {
        // A tool that asks for one of several views names it.
        let named = request.args().text("kind").and_then(|word| View::ALL.iter().find(|(known, _)| *known == word));
        let view = named.map_or(view, |(_, view)| *view);
        return read_view(template, state, request, view).await.map(ToolAnswer::Result);
    }
    let fixture = state.fixtures(template).answer(request.tool, request.given);
    let FixtureAnswer { answer, reads } = fixture.ok_or_else(|| ToolError::new(ToolErrorCode::Unavailable, "no source answered"))?;
    state.record.note_holes(request.who, reads);
    Ok(answer)
}

async fn read_view(template: &WorldTemplate, state: &mut TrialState, request: &ToolRequest<'_>, view: View) -> Result<Value, ToolError> {
    let args = request.args();
    match view {
        View::Memory => return Ok(recall(template, state, request.who, &args)),
        View::Files => return Ok(files(template, state, request.who, &args)),
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
    let chain = state.chains.chain_of(request.tool, &args)?;
    let now_ms = state.now_ms();
    let answer = match state.chains.builder(chain, now_ms).await {
        Ok(mut builder) => views::view(&mut builder, view, &args, &state.account).await,
        Err(error) => Err(error),
    };
    if view == View::Token {
        let reads = stray_names(template, state, chain, &args);
        state.record.note_holes(request.who, reads);
    }
    answer
}

/// Returns the holes in the name of a stray token, which is text of its maker.
fn stray_names(template: &WorldTemplate, state: &TrialState, chain: u64, args: &Args<'_>) -> Vec<HoleRead> {
    let asked = args.any_token().unwrap_or_default();
    let is_asked = |text: &str| text.eq_ignore_ascii_case(&asked);
    let token = template.file().tokens.iter().find(|token| token.chain == chain && is_asked(&token.address.text));
    let holes = token.into_iter().flat_map(|token| [&token.name, &token.symbol]).filter_map(|inert| match inert {
        Inert::Hole(hole) => Some(hole.value.clone()),
        Inert::Text(_) => None,
    });
    holes.map(|hole| HoleRead { filled: state.setup.fills.0.contains_key(&hole), hole }).collect()
}

/// Returns the notes an id names, or all of them, oldest first.
fn recall(template: &WorldTemplate, state: &mut TrialState, who: &Who, args: &Args<'_>) -> Value {
    let wanted = args.first(|kind| matches!(kind, Kind::Id(_))).map(|(_, value)| word(value));
    let is_wanted = |key: &str| wanted.as_ref().is_none_or(|wanted| wanted == key);
    let mut reads = vec![];
    let before = template.file().memory.iter().filter(|memory| is_wanted(&memory.key)).map(|memory| {
        let value = Value::String(state.fixtures(template).text(&memory.text, &mut reads));
        let provenance = Provenance { source: memory.source.clone(), trusted: memory.trusted };
        MemoryEntry { key: memory.key.clone(), value, provenance }
    });
    let mut found: Vec<MemoryEntry> = before.collect();
    found.extend(state.memory.entries().iter().filter(|entry| is_wanted(&entry.key)).cloned());
    for entry in &found {
        state.record.note(who, Happened::Recalled { key: entry.key.clone(), provenance: entry.provenance.clone() });
    }
    state.record.note_holes(who, reads);
    let row = |MemoryEntry { key, value, provenance }: MemoryEntry| json!({ "id": key, "content": value, "source": provenance.source, "trusted": provenance.trusted });
    json!({ "results": found.into_iter().map(row).collect::<Vec<Value>>() })
}

/// Returns the files whose path contains a word of the query.
fn files(template: &WorldTemplate, state: &mut TrialState, who: &Who, args: &Args<'_>) -> Value {
    let query = args.first(|kind| matches!(kind, Kind::Text | Kind::Url)).map(|(_, value)| word(value).to_lowercase());
    let query = query.unwrap_or_default();
    let hit = |path: &str| query.is_empty() || query.split_whitespace().any(|word| path.to_lowercase().contains(word));
    let mut rows = vec![];
    for path in template.file().files.keys().filter(|path| hit(path)) {
        if let Some(text) = texts::file(template, state, who, path) {
            rows.push(json!({ "path": path, "text": text }));
        }
    }
    json!({ "results": rows })
}
