//! Cost and latency of kept traces, by model, agent, skill, tool and day.

use foreign::TraceFacts;
use model::{Money, Workspace};
use run::providers::{TokenUsage, cost};
use score::drift::QuantileSketch;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Most rows of a table; names come from outside.
const MAX_ROWS: usize = 512;
/// Name of the model calls that a trace has beyond those that are listed.
const UNLISTED: &str = "more calls of a trace than are read";

/// Spending of one model, agent, skill or day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpendRow {
    pub name: String,
    /// Estimated number of traces and of model calls, each kept trace with its weight.
    pub traces: f64,
    pub calls: f64,
    pub input_tokens: f64,
    pub output_tokens: f64,
    /// Estimated dollars of the calls whose price and tokens are known.
    pub usd: f64,
    /// Calls without a price or without tokens. Their cost is not in `usd`.
    pub unpriced_calls: f64,
}

/// Latency of one model, agent or tool, in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencyRow {
    pub name: String,
    pub count: f64,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
}

/// Tables of a window.
#[derive(Debug, Clone, Default)]
pub struct UsageTable {
    spend: BTreeMap<(&'static str, String), SpendSum>,
    latency: BTreeMap<(&'static str, String), QuantileSketch>,
    /// Models without a price in the workspace.
    pub unknown_prices: BTreeSet<String>,
    pub total_usd: f64,
    pub traces: f64,
    /// Traces that ended without an error, for the cost per completed task.
    pub completed: f64,
}

#[derive(Debug, Clone, Default)]
struct SpendSum {
    traces: f64,
    calls: f64,
    input: f64,
    output: f64,
    usd: f64,
    unpriced: f64,
}

/// Dollars, tokens and unpriced calls of one trace.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TraceCost {
    /// Absent if a call has no price or no tokens.
    pub usd: Option<f64>,
    pub tokens: f64,
}

/// Returns the cost of a model call; absent if the price or the tokens are unknown.
fn call_cost(workspace: &Workspace, chat: &foreign::ChatFacts) -> Option<Money> {
    let named = |name: &Option<String>| {
        let name = name.as_deref()?;
        workspace.subjects.iter().filter(|subject| subject.model.as_deref() == Some(name)).find_map(|subject| subject.price.as_ref())
    };
    let price = named(&chat.version).or_else(|| named(&chat.model))?;
    let usage = TokenUsage {
        // A prompt has a token: zero is as good as nothing.
        input: chat.input_tokens.filter(|tokens| *tokens > 0)?,
        output: chat.output_tokens?,
        cache_read: chat.cache_read_tokens,
        cache_write: chat.cache_write_tokens,
        reasoning: 0,
    };
    Some(cost(price, &usage))
}

fn dollars(money: Money) -> f64 {
    money.as_nanos() as f64 / 1e9
}

pub(super) fn trace_cost(workspace: &Workspace, facts: &TraceFacts) -> TraceCost {
    let costs: Option<Vec<Money>> = facts.chats.iter().map(|chat| call_cost(workspace, chat)).collect();
    let tokens = facts.chats.iter().map(|chat| chat.input_tokens.unwrap_or(0) as f64 + chat.output_tokens.unwrap_or(0) as f64).sum();
    let costs = costs.filter(|_| facts.unlisted_chats == 0);
    TraceCost { usd: costs.map(|costs| costs.into_iter().map(dollars).sum()), tokens }
}

impl UsageTable {
    /// Adds a kept trace that stands for `weight` traces and began on `day`.
    pub fn add(&mut self, workspace: &Workspace, facts: &TraceFacts, weight: f64, day: &str) {
        self.traces += weight;
        if facts.failed == 0 {
            self.completed += weight;
        }
        let mut rows: BTreeSet<(&'static str, String)> = BTreeSet::new();
        for chat in &facts.chats {
            let model = chat.version.clone().or_else(|| chat.model.clone()).unwrap_or_else(|| "unknown".into());
            let cost = call_cost(workspace, chat).map(dollars);
            if cost.is_none() && self.unknown_prices.len() < MAX_ROWS {
                self.unknown_prices.insert(model.clone());
            }
            self.total_usd += weight * cost.unwrap_or(0.0);
            let agent = chat.agent.clone().or_else(|| facts.root_agent.clone());
            let mut names = vec![("model", model.clone()), ("day", day.to_owned())];
            names.extend(agent.map(|agent| ("agent", agent)));
            names.extend(facts.skills.iter().map(|skill| ("skill", skill.clone())));
            for name in names {
                if let Some(sum) = bounded(&mut self.spend, &name) {
                    sum.calls += weight;
                    sum.input += weight * chat.input_tokens.unwrap_or(0) as f64;
                    sum.output += weight * chat.output_tokens.unwrap_or(0) as f64;
                    match cost {
                        Some(usd) => sum.usd += weight * usd,
                        None => sum.unpriced += weight,
                    }
                    rows.insert(name);
                }
            }
            self.add_latency("model", &model, chat.ms, weight);
        }
        self.add_unlisted(facts, weight, day);
        for row in rows {
            if let Some(sum) = self.spend.get_mut(&row) {
                sum.traces += weight;
            }
        }
        for tool in &facts.tools {
            self.add_latency("tool", &tool.tool, tool.ms, weight);
        }
        for (agent, ms) in &facts.agent_ms {
            self.add_latency("agent", agent, *ms, weight);
        }
    }

    /// Adds the model calls that a trace has beyond its list as calls without a price.
    fn add_unlisted(&mut self, facts: &TraceFacts, weight: f64, day: &str) {
        if facts.unlisted_chats == 0 {
            return;
        }
        self.unknown_prices.insert(UNLISTED.to_owned());
        let calls = weight * facts.unlisted_chats as f64;
        for name in [("model", UNLISTED.to_owned()), ("day", day.to_owned())] {
            if let Some(sum) = bounded(&mut self.spend, &name) {
                sum.calls += calls;
                sum.unpriced += calls;
            }
        }
    }

    fn add_latency(&mut self, axis: &'static str, name: &str, ms: u64, weight: f64) {
        if let Some(sketch) = bounded(&mut self.latency, &(axis, name.to_owned())) {
            sketch.add_weighted(ms as f64, weight);
        }
    }

    /// Returns the spending along an axis, `model`, `agent`, `skill` or `day`.
    pub fn spend(&self, axis: &str) -> Vec<SpendRow> {
        let rows = self.spend.iter().filter(|((found, _), _)| *found == axis);
        rows.map(|((_, name), sum)| SpendRow {
            name: name.clone(),
            traces: sum.traces,
            calls: sum.calls,
            input_tokens: sum.input,
            output_tokens: sum.output,
            usd: sum.usd,
            unpriced_calls: sum.unpriced,
        })
        .collect()
    }

    /// Returns the latency along an axis, `model`, `agent` or `tool`.
    pub fn latency(&self, axis: &str) -> Vec<LatencyRow> {
        let rows = self.latency.iter().filter(|((found, _), _)| *found == axis);
        let row = |((_, name), sketch): (&(&str, String), &QuantileSketch)| {
            let at = |share| sketch.quantile(share);
            Some(LatencyRow { name: name.clone(), count: sketch.weight(), p50: at(0.5)?, p95: at(0.95)?, p99: at(0.99)? })
        };
        rows.filter_map(row).collect()
    }

    /// Returns the dollars per trace that ended without an error; absent without one, or if a price is unknown.
    pub fn usd_per_completed(&self) -> Option<f64> {
        (self.completed > 0.0 && self.unknown_prices.is_empty()).then(|| self.total_usd / self.completed)
    }
}

fn bounded<'m, T: Default>(rows: &'m mut BTreeMap<(&'static str, String), T>, name: &(&'static str, String)) -> Option<&'m mut T> {
    if rows.len() >= MAX_ROWS && !rows.contains_key(name) {
        return None;
    }
    Some(rows.entry(name.clone()).or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use foreign::{ChatFacts, ToolFacts};
    use score::example::ExampleWorkspace;

    const PRICED: &str = "subject: priced
provider: openai-compatible
model: m
base_url: http://127.0.0.1:1
price: { input_per_mtok: 2, output_per_mtok: 10, cache_read_per_mtok: 1, as_of: \"2026-11-15\" }
about: A model with a price.
";

    fn workspace() -> Workspace {
        ExampleWorkspace::minimal().with("subjects/priced.yaml", PRICED).load().unwrap()
    }

    fn chat(model: &str, agent: Option<&str>, tokens: (u64, u64)) -> ChatFacts {
        ChatFacts {
            model: Some(model.into()),
            agent: agent.map(Into::into),
            ms: 100,
            input_tokens: Some(tokens.0),
            output_tokens: Some(tokens.1),
            ..ChatFacts::default()
        }
    }

    fn facts(chats: Vec<ChatFacts>, skills: &[&str], failed: u64) -> TraceFacts {
        let skills = skills.iter().map(|skill| (*skill).to_owned()).collect();
        TraceFacts { root_agent: Some("desk".into()), chats, skills, failed, ..TraceFacts::default() }
    }

    fn usd(table: &UsageTable, axis: &str) -> Vec<(String, f64, f64)> {
        let rounded = |usd: f64| (usd * 1e6).round() / 1e6;
        table.spend(axis).into_iter().map(|row| (row.name, rounded(row.usd), row.unpriced_calls)).collect()
    }

    #[test]
    fn dollars_are_summed_by_model_agent_skill_and_day_with_weights() {
        let workspace = workspace();
        let mut table = UsageTable::default();
        // 1,000,000 input at 2 USD and 100,000 output at 10 USD per million: 3 USD.
        let call = || chat("m", Some("trader"), (1_000_000, 100_000));
        table.add(&workspace, &facts(vec![call(), chat("m", None, (500_000, 0))], &["swap", "quote"], 0), 10.0, "2026-11-17");
        table.add(&workspace, &facts(vec![call()], &["swap"], 1), 1.0, "2026-11-18");
        assert_eq!(usd(&table, "model"), [("m".to_owned(), 43.0, 0.0)]);
        assert_eq!(usd(&table, "agent"), [("desk".to_owned(), 10.0, 0.0), ("trader".to_owned(), 33.0, 0.0)]);
        // A trace with two skills costs its whole price in each.
        assert_eq!(usd(&table, "skill"), [("quote".to_owned(), 40.0, 0.0), ("swap".to_owned(), 43.0, 0.0)]);
        assert_eq!(usd(&table, "day"), [("2026-11-17".to_owned(), 40.0, 0.0), ("2026-11-18".to_owned(), 3.0, 0.0)]);
        let model = &table.spend("model")[0];
        assert_eq!((model.traces, model.calls, model.input_tokens, model.output_tokens), (11.0, 21.0, 16e6, 1.1e6));
        // The failed trace is paid for, and no task.
        assert_eq!((table.total_usd, table.completed, table.usd_per_completed()), (43.0, 10.0, Some(4.3)));
    }

    #[test]
    fn cached_tokens_have_their_own_price() {
        let mut cached = chat("m", None, (1_000_000, 0));
        cached.cache_read_tokens = 1_000_000;
        let cost = trace_cost(&workspace(), &facts(vec![cached], &[], 0));
        assert_eq!(cost, TraceCost { usd: Some(1.0), tokens: 1e6 });
    }

    #[test]
    fn unknown_prices_and_tokens_are_listed_and_never_zero() {
        let workspace = workspace();
        let mut table = UsageTable::default();
        let no_tokens = ChatFacts { input_tokens: None, ..chat("m", None, (0, 0)) };
        let chats = vec![chat("m", None, (1_000_000, 0)), chat("other", None, (5, 5)), no_tokens];
        table.add(&workspace, &facts(chats.clone(), &[], 0), 2.0, "day");
        assert_eq!(usd(&table, "model"), [("m".to_owned(), 4.0, 2.0), ("other".to_owned(), 0.0, 2.0)]);
        assert_eq!(table.unknown_prices.iter().map(String::as_str).collect::<Vec<_>>(), ["m", "other"]);
        assert_eq!(table.usd_per_completed(), None, "a sum without a price is not the cost of a task");
        assert_eq!(trace_cost(&workspace, &facts(chats, &[], 0)).usd, None);
    }

    #[test]
    fn calls_without_a_prompt_or_beyond_the_list_have_no_price() {
        let workspace = workspace();
        assert_eq!(trace_cost(&workspace, &facts(vec![chat("m", None, (0, 0))], &[], 0)).usd, None);
        let many = TraceFacts { unlisted_chats: 7, ..facts(vec![chat("m", None, (1_000_000, 0))], &[], 0) };
        assert_eq!(trace_cost(&workspace, &many).usd, None);
        let mut table = UsageTable::default();
        table.add(&workspace, &many, 2.0, "day");
        assert_eq!(usd(&table, "model"), [("m".to_owned(), 4.0, 0.0), (UNLISTED.to_owned(), 0.0, 14.0)]);
        assert_eq!(table.unknown_prices.iter().map(String::as_str).collect::<Vec<_>>(), [UNLISTED]);
    }

    #[test]
    fn counts_of_any_size_are_added() {
        let huge = chat("m", None, (u64::MAX, u64::MAX));
        let cost = trace_cost(&workspace(), &facts(vec![huge.clone(), huge], &[], 0));
        assert!(cost.tokens > 7e19 && cost.usd.is_some_and(|usd| usd > 1e9), "{cost:?}");
    }

    #[test]
    fn latency_is_counted_by_model_agent_and_tool() {
        let mut table = UsageTable::default();
        for ms in 1..=100 {
            let mut one = facts(vec![ChatFacts { ms, ..chat("m", None, (1, 1)) }], &[], 0);
            one.tools = vec![ToolFacts { tool: "swap".into(), ms: 10 * ms, failed: false }];
            one.agent_ms = vec![("desk".into(), 100 * ms)];
            table.add(&workspace(), &one, 1.0, "day");
        }
        for (axis, name, unit) in [("model", "m", 1.0), ("tool", "swap", 10.0), ("agent", "desk", 100.0)] {
            let [row] = &table.latency(axis)[..] else { panic!("{axis}") };
            let near = |value: f64, expected: f64| (value - expected * unit).abs() <= 0.02 * expected * unit;
            assert!(row.name == name && row.count == 100.0, "{row:?}");
            assert!(near(row.p50, 50.0) && near(row.p95, 95.0) && near(row.p99, 99.0), "{row:?}");
        }
    }
}
