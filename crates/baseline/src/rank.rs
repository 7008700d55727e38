//! Ranks tools by their fit to a message, for the baseline and for LLM subjects with a pruned tool list.

use crate::baseline_index::{BaselineIndex, DESCRIPTION_WEIGHT, INDEX_PARAMS, KnownTool, NAME_WEIGHT, PARAM_WEIGHT};
use crate::fill::{FilledParams, fill};
use crate::mentions::ParsedMessage;
use crate::words::stems;
use lexical::{Bm25Index, TermQuery, WeightedField, tokenize};
use model::ToolListing;

/// Returns the indices of the listings, best first, ranked by name, description and parameters.
pub fn rank_listings(listings: &[ToolListing], said: &str) -> Vec<usize> {
    let doc = |listing: &ToolListing| {
        let params = listing.input_schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .flat_map(|(name, property)| [stems(name), stems(property["description"].as_str().unwrap_or_default())].concat());
        vec![
            WeightedField::new(NAME_WEIGHT, stems(&listing.name)),
            WeightedField::new(DESCRIPTION_WEIGHT, stems(&listing.description)),
            WeightedField::new(PARAM_WEIGHT, params.collect()),
        ]
    };
    let docs: Vec<Vec<WeightedField>> = listings.iter().map(doc).collect();
    let found = Bm25Index::new(INDEX_PARAMS, &docs).search(&TermQuery::from_tokens(&tokenize(said)));
    let mut order: Vec<usize> = (0..listings.len()).collect();
    // Stable sort: equal scores keep the list order.
    order.sort_by(|a, b| found[*b].score.total_cmp(&found[*a].score));
    order
}

#[derive(Debug, Clone)]
pub(crate) struct RankedTool<'m> {
    pub tool: &'m KnownTool,
    pub filled: FilledParams,
    /// Total score.
    pub score: f64,
    /// Share of the message that the tool's file covers.
    pub covered: f64,
}

/// Maximum number of tools whose parameters are filled.
const MAX_TRIED_TOOLS: usize = 14;
const FIT_WEIGHT: f64 = 0.55;
const MOOD_WEIGHT: f64 = 0.12;

/// Messages so far, with the one that states the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UserRequest<'w> {
    pub wanted: &'w ParsedMessage,
    /// All messages, oldest first; values are taken from all of them.
    pub turns: &'w [&'w ParsedMessage],
}

/// Returns the tools, best first.
pub(crate) fn rank_tools<'m>(index: &'m BaselineIndex, tools: &[&'m KnownTool], request: UserRequest<'_>) -> Vec<RankedTool<'m>> {
    let UserRequest { wanted: said, turns } = request;
    let query = TermQuery::from_tokens(&said.words);
    let mass = index.tool_index.total_weight(&query);
    let found = index.tool_index.search(&query);
    let asks = is_question(said);
    let mut near: Vec<(f64, f64, &KnownTool)> = tools
        .iter()
        .filter_map(|tool| index.tool_names.get(&tool.name).map(|at| (found[*at].score / mass.max(1.0), found[*at].covered, *tool)))
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.2.name.cmp(&b.2.name)));
    near.truncate(MAX_TRIED_TOOLS);
    let mut ranked: Vec<RankedTool<'m>> = near
        .into_iter()
        .map(|(words, covered, tool)| {
            let filled = fill(&index.lexicon, &tool.shape, turns);
            let mood = if asks == tool.writes { -MOOD_WEIGHT } else { MOOD_WEIGHT };
            let score = words + FIT_WEIGHT * filled.fit_score(&tool.shape) + mood;
            RankedTool { tool, filled, score, covered }
        })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.tool.name.cmp(&b.tool.name)));
    ranked
}

/// Reports whether a message asks for information rather than action.
pub(crate) fn is_question(said: &ParsedMessage) -> bool {
    let polite = said.words.iter().take(2).map(|word| word.lower.as_str()).collect::<Vec<_>>();
    let favour = matches!(polite.as_slice(), ["can" | "could" | "would" | "will", "you", ..]);
    let opens = said.words.first().is_some_and(|word| {
        matches!(
            word.lower.as_str(),
            "what"
                | "what's"
                | "whats"
                | "how"
                | "is"
                | "are"
                | "does"
                | "do"
                | "which"
                | "who"
                | "where"
                | "when"
                | "why"
                | "has"
                | "have"
                | "did"
                | "was"
                | "show"
                | "tell"
                | "list"
                | "check"
        )
    });
    !favour && (opens || said.text.contains('?'))
}
