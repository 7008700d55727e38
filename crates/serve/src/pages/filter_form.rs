//! Form that filters trials, and the same filter as a query.

use super::{query_value, shown};
use maud::{Markup, html};
use store::StoredOutcome;

/// Filter as written in the address. Empty texts select all.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default)]
pub struct FilterQuery {
    /// Words in the events.
    pub q: String,
    pub case: String,
    pub subject: String,
    pub outcome: String,
    /// Scorer with a miss.
    pub scorer: String,
    /// Tool that was called.
    pub tool: String,
    pub suite: String,
    pub tag: String,
    /// US dollars.
    pub min_usd: String,
    pub max_usd: String,
    /// Milliseconds.
    pub min_ms: String,
    pub max_ms: String,
}

impl FilterQuery {
    fn parts(&self) -> [(&'static str, &str); 12] {
        [
            ("q", &self.q),
            ("case", &self.case),
            ("subject", &self.subject),
            ("outcome", &self.outcome),
            ("scorer", &self.scorer),
            ("tool", &self.tool),
            ("suite", &self.suite),
            ("tag", &self.tag),
            ("min_usd", &self.min_usd),
            ("max_usd", &self.max_usd),
            ("min_ms", &self.min_ms),
            ("max_ms", &self.max_ms),
        ]
    }

    /// Returns the query with one more value.
    pub(crate) fn to_query(&self, name: &str, value: &str) -> String {
        let parts = self.parts();
        let given = parts.iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!("{name}={}", query_value(value)));
        given.chain([format!("{name}={}", query_value(value))]).collect::<Vec<_>>().join("&")
    }

    /// Returns whether anything beyond the words is given.
    fn has_more(&self) -> bool {
        self.parts().iter().skip(1).any(|(_, value)| !value.is_empty())
    }
}

/// Returns the form. Words come first; the other filters are folded away until one is used.
pub(super) fn filter_form(action: &str, filter: &FilterQuery, subjects: &[String]) -> Markup {
    html! {
        form.filter method="get" action=(action) role="search" {
            label { "words in the events" input type="search" name="q" value=(filter.q) size="28"; }
            label { "outcome" select name="outcome" {
                option value="" { "all" }
                @for (word, _) in StoredOutcome::ALL { option value=(word) selected[filter.outcome == *word] { (word) } }
            } }
            button { "Search" }
            details open[filter.has_more()] {
                summary { "More filters" }
                div.filter {
                    (text_field("case", "case", &filter.case))
                    (text_field("suite", "suite", &filter.suite))
                    (text_field("tag", "tag", &filter.tag))
                    (text_field("tool", "called tool", &filter.tool))
                    (text_field("scorer", "missed scorer", &filter.scorer))
                    @if subjects.len() > 1 {
                        label { "subject" select name="subject" {
                            option value="" { "all" }
                            @for subject in subjects { option value=(subject) selected[filter.subject == *subject] { (shown(subject)) } }
                        } }
                    } @else { (text_field("subject", "subject", &filter.subject)) }
                    (number_field("min_usd", "USD from", &filter.min_usd))
                    (number_field("max_usd", "USD to", &filter.max_usd))
                    (number_field("min_ms", "ms from", &filter.min_ms))
                    (number_field("max_ms", "ms to", &filter.max_ms))
                }
            }
        }
    }
}

fn text_field(name: &str, label: &str, value: &str) -> Markup {
    html! { label { (label) input name=(name) value=(value) size="16"; } }
}

fn number_field(name: &str, label: &str, value: &str) -> Markup {
    html! { label { (label) input name=(name) value=(value) inputmode="decimal" size="8"; } }
}
