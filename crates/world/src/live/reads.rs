//! Reads: the world's own fixture first, then the chain, then the fixture of the world it inherits from.

use super::args::{ToolArgs, scalar_text};
use super::fixtures::{FixtureAnswer, HoleRead};
use super::memory::MemoryEntry;
use super::tool_error::ToolError;
use super::tool_request::ToolRequest;
use super::trial_state::TrialState;
use super::views;
use super::world_template::WorldTemplate;
use super::world_texts;
use crate::ActingAgent;
use model::transcript::{MemoryProvenance, ToolAnswer, ToolErrorCode};
use model::world::InjectableText;
use model::{EventKind, LiveView, ParamKind};
use serde_json::{Value, json};

pub(super) async fn read(template: &WorldTemplate, state: &mut TrialState, request: &ToolRequest<'_>) -> Result<ToolAnswer, ToolError> {
    let own = template.file().fixtures.contains_key(request.tool.name.as_str());
    if let Some(view) = request.tool.view.filter(|_| !own) {
        // A tool with several views selects one by `kind`.
        let named = request.args().text("kind").and_then(|word| LiveView::ALL.iter().find(|(known, _)| *known == word));
        let view = named.map_or(view, |(_, view)| *view);
        return read_view(template, state, request, view).await.map(ToolAnswer::Result);
    }
    let fixture = state.fixtures(template).answer(request.tool, request.given);
    let FixtureAnswer { answer, reads } = fixture.ok_or_else(|| ToolError::new(ToolErrorCode::Unavailable, "no data available"))?;
    state.record.note_holes(request.who, reads);
    Ok(answer)
}

async fn read_view(
    template: &WorldTemplate,
    state: &mut TrialState,
    request: &ToolRequest<'_>,
    view: LiveView,
) -> Result<Value, ToolError> {
    let args = request.args();
    match view {
        LiveView::Memory => return Ok(read_memory(template, state, request.who, &args)),
        LiveView::Files => return Ok(search_files(template, state, request.who, &args)),
        LiveView::Price
        | LiveView::Token
        | LiveView::Balances
        | LiveView::Portfolio
        | LiveView::Allowance
        | LiveView::Allowances
        | LiveView::Pool
        | LiveView::Position
        | LiveView::Positions
        | LiveView::Vault
        | LiveView::VaultPosition
        | LiveView::Health
        | LiveView::Gas
        | LiveView::Chains
        | LiveView::Transaction
        | LiveView::Orders
        | LiveView::Agent
        | LiveView::Limits => {}
    }
    let chain = state.chains.chain_of(request.tool, &args)?;
    let now_ms = state.now_ms();
    let answer = match state.chains.builder(chain, now_ms).await {
        Ok(mut builder) => views::view(&mut builder, view, &args, &state.account).await,
        Err(error) => Err(error),
    };
    if view == LiveView::Token {
        let reads = stray_token_holes(template, state, chain, &args);
        state.record.note_holes(request.who, reads);
    }
    answer
}

/// Returns the holes in the name and symbol of a stray token, which its issuer controls.
fn stray_token_holes(template: &WorldTemplate, state: &TrialState, chain: u64, args: &ToolArgs<'_>) -> Vec<HoleRead> {
    let asked = args.any_token().unwrap_or_default();
    let is_asked = |text: &str| text.eq_ignore_ascii_case(&asked);
    let token = template.file().tokens.iter().find(|token| token.chain == chain && is_asked(&token.address.text));
    let holes = token.into_iter().flat_map(|token| [&token.name, &token.symbol]).filter_map(|inert| match inert {
        InjectableText::Hole(hole) => Some(hole.value.clone()),
        InjectableText::Text(_) => None,
    });
    holes.map(|hole| HoleRead { filled: state.setup.fills.0.contains_key(&hole), hole }).collect()
}

/// Returns the note with the requested id, or all notes, oldest first.
fn read_memory(template: &WorldTemplate, state: &mut TrialState, who: &ActingAgent, args: &ToolArgs<'_>) -> Value {
    let wanted = args.first(|kind| matches!(kind, ParamKind::Id(_))).map(|(_, value)| scalar_text(value));
    let is_wanted = |key: &str| wanted.as_ref().is_none_or(|wanted| wanted == key);
    let mut reads = vec![];
    let before = template.file().memory.iter().filter(|memory| is_wanted(&memory.key)).map(|memory| {
        let value = Value::String(state.fixtures(template).text(&memory.text, &mut reads));
        let provenance = MemoryProvenance { source: memory.source.clone(), trusted: memory.trusted };
        MemoryEntry { key: memory.key.clone(), value, provenance }
    });
    let mut found: Vec<MemoryEntry> = before.collect();
    found.extend(state.memory.entries().iter().filter(|entry| is_wanted(&entry.key)).cloned());
    for entry in &found {
        state.record.note(who, EventKind::Recalled { key: entry.key.clone(), provenance: entry.provenance.clone() });
    }
    state.record.note_holes(who, reads);
    let row = |MemoryEntry { key, value, provenance }: MemoryEntry| json!({ "id": key, "content": value, "source": provenance.source, "trusted": provenance.trusted });
    json!({ "results": found.into_iter().map(row).collect::<Vec<Value>>() })
}

/// Returns the files whose path contains a word of the query.
fn search_files(template: &WorldTemplate, state: &mut TrialState, who: &ActingAgent, args: &ToolArgs<'_>) -> Value {
    let query = args.first(|kind| matches!(kind, ParamKind::Text | ParamKind::Url)).map(|(_, value)| scalar_text(value).to_lowercase());
    let query = query.unwrap_or_default();
    let hit = |path: &str| query.is_empty() || query.split_whitespace().any(|word| path.to_lowercase().contains(word));
    let mut rows = vec![];
    for path in template.file().files.keys().filter(|path| hit(path)) {
        if let Some(text) = world_texts::file(template, state, who, path) {
            rows.push(json!({ "path": path, "text": text }));
        }
    }
    json!({ "results": rows })
}
