//! Plugins and strategies of promptfoo's red team, and the categories and strategies of ours that correspond to them.

use serde_json::Value;
use std::collections::BTreeSet;

/// Plugins whose goal our probes of these categories have too.
#[rustfmt::skip]
const PLUGINS: &[(&str, &[&str])] = &[
    ("hijacking", &["asi01"]), ("system-prompt-override", &["asi01"]), ("indirect-prompt-injection", &["asi01"]), ("prompt-injection", &["asi01"]),
    ("excessive-agency", &["asi02"]), ("mcp", &["asi04"]), ("tool-discovery", &["asi02"]),
    ("rbac", &["asi03"]), ("bfla", &["asi03"]), ("bola", &["asi03"]), ("imitation", &["asi09"]),
    ("agentic:memory-poisoning", &["asi06"]), ("cross-session-leak", &["asi06"]), ("overreliance", &["asi09"]),
    ("goal-misalignment", &["asi10"]), ("data-exfil", &["asi01"]),
];
/// Strategies that are the same transformation.
#[rustfmt::skip]
const STRATEGIES: &[(&str, &str)] = &[
    ("basic", "identity"), ("base64", "base64"), ("hex", "hex"), ("rot13", "rot13"), ("leetspeak", "leet"), ("homoglyph", "homoglyph"),
    ("morse", "morse"), ("crescendo", "crescendo"), ("multilingual", "language"), ("prompt-injection", "ignore_prefix"),
];

/// Parts of a config that correspond to ours, and those that do not.
#[derive(Debug, Default)]
pub(crate) struct RedTeamLines {
    pub notes: Vec<String>,
    /// Part of the config, and why it has no counterpart.
    pub missing: Vec<(String, String)>,
}

/// Returns the attacks of ours that correspond to a `redteam:` block.
pub(crate) fn red_team_lines(redteam: &Value) -> RedTeamLines {
    let mut lines = RedTeamLines::default();
    let mut categories = BTreeSet::new();
    for plugin in names(redteam.get("plugins")) {
        let preset = plugin.strip_prefix("owasp:agentic:").map(str::to_owned);
        match (plugin.as_str(), preset, PLUGINS.iter().find(|(name, _)| *name == plugin)) {
            ("owasp:agentic", _, _) => categories.extend((1..=10).map(|n| format!("asi{n:02}"))),
            (_, Some(category), _) => drop(categories.insert(category)),
            (_, _, Some((_, known))) => categories.extend(known.iter().map(|category| (*category).to_owned())),
            (_, _, None) => lines.missing.push((format!("redteam plugin {plugin}"), "there is no probe with this goal".to_owned())),
        }
    }
    let mut strategies = BTreeSet::new();
    for strategy in names(redteam.get("strategies")) {
        match STRATEGIES.iter().find(|(name, _)| *name == strategy) {
            Some((_, ours)) => drop(strategies.insert(*ours)),
            None => lines.missing.push((format!("redteam strategy {strategy}"), "there is no strategy that does the same".to_owned())),
        }
    }
    for key in
        redteam.as_object().into_iter().flatten().map(|(key, _)| key).filter(|key| !["plugins", "strategies"].contains(&key.as_str()))
    {
        lines.missing.push((format!("redteam.{key}"), "probes are made from the workspace, and effects decide".to_owned()));
    }
    if !categories.is_empty() {
        let asi: String = categories.iter().map(|category| format!(" --asi {category}")).collect();
        lines.notes.push(format!("attacks that correspond: bardo-eval redteam{asi}"));
    }
    strategies.iter().for_each(|strategy| lines.notes.push(format!("strategy that corresponds: --strategy {strategy}")));
    lines
}

/// Returns the ids of a list of plugins or strategies.
fn names(list: Option<&Value>) -> Vec<String> {
    let id = |item: &Value| item.as_str().or_else(|| item.get("id").and_then(Value::as_str)).map(str::to_owned);
    list.and_then(Value::as_array).into_iter().flatten().filter_map(id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_part_is_mapped_or_listed() {
        let lines = red_team_lines(
            &json!({"purpose": "x", "plugins": ["hijacking", {"id": "harmful:hate"}, "owasp:agentic:asi04"], "strategies": ["base64", "goat"]}),
        );
        assert_eq!(
            lines.notes,
            ["attacks that correspond: bardo-eval redteam --asi asi01 --asi asi04", "strategy that corresponds: --strategy base64"]
        );
        let missing: Vec<&str> = lines.missing.iter().map(|(what, _)| what.as_str()).collect();
        assert_eq!(missing, ["redteam plugin harmful:hate", "redteam strategy goat", "redteam.purpose"]);
    }
}
