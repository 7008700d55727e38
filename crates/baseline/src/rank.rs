//! Tools by how well they fit what was said: the one retrieval, for the baseline and for whoever shows a model fewer tools.

use super::baseline_index::{DESCRIPTION, INDEX_PARAMS, KnownTool, Mind, NAME, PARAM};
use super::fill::{Filled, fill};
use super::mentions::Said;
use super::words::stems;
use lexical::{Bm25Index, TermQuery, WeightedField, tokenize};
use model::Listing;

/// The places of the listings, best first, by their names, descriptions and parameters alone.
pub fn rank(listings: &[Listing], said: &str) -> Vec<usize> {
    let doc = |listing: &Listing| {
        let params = listing.input_schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .flat_map(|(name, property)| [stems(name), stems(property["description"].as_str().unwrap_or_default())].concat());
        vec![
            WeightedField::new(NAME, stems(&listing.name)),
            WeightedField::new(DESCRIPTION, stems(&listing.description)),
            WeightedField::new(PARAM, params.collect()),
        ]
    };
    let docs: Vec<Vec<WeightedField>> = listings.iter().map(doc).collect();
    let found = Bm25Index::new(INDEX_PARAMS, &docs).search(&TermQuery::from_tokens(&tokenize(said)));
    let mut order: Vec<usize> = (0..listings.len()).collect();
    // A stable sort: where nothing was said about either, the order of the list stands.
    order.sort_by(|a, b| found[*b].score.total_cmp(&found[*a].score));
    order
}

#[derive(Debug, Clone)]
pub(super) struct Ranked<'m> {
    pub tool: &'m KnownTool,
    pub filled: Filled,
    /// Everything taken together.
    pub score: f64,
    /// How much of what was said the tool's file speaks of.
    pub covered: f64,
}

/// How many are looked at closely.
const CLOSE: usize = 14;
const HARMONY: f64 = 0.55;
const MOOD: f64 = 0.12;

/// What was said, and which of it says what is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish<'w> {
    pub wanted: &'w Said,
    /// Oldest first; figures are taken from all of them.
    pub turns: &'w [&'w Said],
}

/// The tools in question, best first.
pub(super) fn ranked<'m>(mind: &'m Mind, tools: &[&'m KnownTool], wish: Wish<'_>) -> Vec<Ranked<'m>> {
    let Wish { wanted: said, turns } = wish;
    let query = TermQuery::from_tokens(&said.words);
    let mass = mind.tool_index.mass(&query);
    let found = mind.tool_index.search(&query);
    let asks = is_question(said);
    let mut near: Vec<(f64, f64, &KnownTool)> = tools
        .iter()
        .filter_map(|tool| mind.tool_names.get(&tool.name).map(|at| (found[*at].score / mass.max(1.0), found[*at].covered, *tool)))
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.2.name.cmp(&b.2.name)));
    near.truncate(CLOSE);
    let mut ranked: Vec<Ranked<'m>> = near
        .into_iter()
        .map(|(words, covered, tool)| {
            let filled = fill(&mind.lexicon, &tool.shape, turns);
            let mood = if asks == tool.writes { -MOOD } else { MOOD };
            let score = words + HARMONY * filled.harmony(&tool.shape) + mood;
            Ranked { tool, filled, score, covered }
        })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.tool.name.cmp(&b.tool.name)));
    ranked
}

/// Whether something is to be found out rather than done.
pub(super) fn is_question(said: &Said) -> bool {
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
