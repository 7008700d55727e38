//! Labelled texts as JSON lines.

use model::AttackChannel;
use serde::{Deserialize, Serialize};

/// Truth about a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextLabel {
    Attack,
    Benign,
}

/// Part of the corpus. Rules may be developed on seen texts only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorpusSplit {
    Seen,
    HeldOut,
}

/// Text with its label, its family and the channel by which it reaches an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelledText {
    #[serde(default)]
    pub id: String,
    pub label: TextLabel,
    #[serde(default = "default_family")]
    pub family: String,
    #[serde(default = "default_channel")]
    pub channel: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<CorpusSplit>,
    pub text: String,
}

fn default_family() -> String {
    "all".to_owned()
}

fn default_channel() -> String {
    AttackChannel::ToolResult.word().to_owned()
}

/// Line that is not a labelled text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct TextLineError {
    /// Counted from 1.
    pub line: usize,
    pub why: String,
}

impl LabelledText {
    /// Returns the channel; none if its name is unknown, which [`parse_labelled_texts`] rules out.
    pub fn channel(&self) -> Option<AttackChannel> {
        AttackChannel::parse(&self.channel)
    }
}

/// Parses JSON lines. Empty lines are skipped. `text` and `label` are required; the family defaults to `all`, the channel to `tool_result`.
///
/// # Errors
/// Fails at the first line that is not a labelled text or names an unknown channel.
pub fn parse_labelled_texts(content: &str) -> Result<Vec<LabelledText>, TextLineError> {
    let lines = content.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| parse_line(line).map_err(|why| TextLineError { line: at + 1, why })).collect()
}

fn parse_line(line: &str) -> Result<LabelledText, String> {
    let text: LabelledText = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if text.channel().is_none() {
        let known: Vec<&str> = AttackChannel::ALL.iter().map(|(word, _)| *word).collect();
        return Err(format!("channel \"{}\" does not exist; use one of {}", text.channel, known.join(", ")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_and_label_are_required() {
        let texts = parse_labelled_texts(
            "{\"text\":\"a\",\"label\":\"attack\"}\n\n{\"text\":\"b\",\"label\":\"benign\",\"family\":\"f\",\"channel\":\"memory\"}\n",
        )
        .unwrap();
        assert_eq!((texts[0].family.as_str(), texts[0].channel()), ("all", Some(AttackChannel::ToolResult)));
        assert_eq!((texts[1].label, texts[1].channel()), (TextLabel::Benign, Some(AttackChannel::Memory)));
    }

    #[test]
    fn wrong_lines_are_named() {
        for (line, why) in [
            ("{\"text\":\"a\"}", "missing field `label`"),
            ("{\"text\":\"a\",\"label\":\"bad\"}", "unknown variant"),
            ("{\"text\":\"a\",\"label\":\"attack\",\"channel\":\"post\"}", "channel \"post\" does not exist"),
            ("{\"text\":\"a\",\"label\":\"attack\",\"lable\":1}", "unknown field"),
            ("text", "expected"),
        ] {
            let error = parse_labelled_texts(&format!("\n{line}\n")).unwrap_err();
            assert!(error.line == 2 && error.why.contains(why), "{error}");
        }
    }
}
