//! Questions for the scorers of a workspace about one trial, and their answers.

use model::suite::Case;
use model::{ContentHash, EventKind, ExternalScorer, Reading, ScorerScale, Transcript};
use serde::Deserialize;
use serde_json::{Value, json};

/// Trial as a scorer of the workspace reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScorerQuestion {
    /// Hash of the command and the input. Ties an answer to exactly this question.
    pub id: ContentHash,
    /// JSON lines: the case, then one event per line.
    pub input: String,
}

/// Answer of a scorer.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorerAnswer {
    pub reading: Reading,
    pub because: Vec<String>,
}

/// Maximum reasons of an answer, and characters of each.
const MAX_REASONS: usize = 20;
const MAX_REASON_CHARS: usize = 500;
/// Largest count of one reading, so that no trial outweighs all others.
const MAX_COUNT: u64 = 1_000_000;

/// Returns the question about a trial; `None` if the subject did not end normally, because such a trial fails without a scorer.
pub fn scorer_question(scorer: &ExternalScorer, case: &Case, transcript: &Transcript) -> Option<ScorerQuestion> {
    if !transcript.ending.is_orderly() {
        return None;
    }
    // The loader has written the text.
    let written: Value = serde_json::from_str(&case.written).unwrap_or_default();
    let head = json!({
        "scorer": *scorer.id, "case": *case.id, "suite": case.kind.word(), "tags": case.tags, "written": written,
        "ending": transcript.ending,
    });
    let mut input = format!("{head}\n");
    // Verdicts of others are not evidence.
    let verdicts = |kind: &EventKind| matches!(kind, EventKind::Judged { .. } | EventKind::Misjudged { .. } | EventKind::Scored { .. });
    for event in transcript.events.iter().filter(|event| !verdicts(&event.happened)) {
        input.push_str(&json!(event).to_string());
        input.push('\n');
    }
    let id = ContentHash::of_json(&json!({ "command": scorer.command, "input": input }));
    Some(ScorerQuestion { id, input })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScorerAnswer {
    hit: Option<u64>,
    of: Option<u64>,
    level: Option<f64>,
    unscorable: Option<String>,
    #[serde(default)]
    because: Vec<String>,
}

impl ScorerAnswer {
    /// Parses the output of a scorer: exactly one line with a JSON object.
    ///
    /// # Errors
    /// Fails if it is not one reading of the kind that the scorer declares.
    pub fn parse(scorer: &ExternalScorer, output: &str) -> Result<Self, String> {
        let mut lines = output.lines().filter(|line| !line.trim().is_empty());
        let (Some(line), None) = (lines.next(), lines.next()) else {
            return Err(format!(
                "answered {} instead of one",
                model::count(output.lines().filter(|line| !line.trim().is_empty()).count(), "line")
            ));
        };
        let raw: RawScorerAnswer = serde_json::from_str(line).map_err(|error| format!("answered no reading: {error}"))?;
        let reading = match (raw.hit, raw.of, raw.level, raw.unscorable) {
            (Some(_), Some(of), None, None) if of > MAX_COUNT => return Err(format!("counts {of}, more than {MAX_COUNT}")),
            (Some(hit), Some(of), None, None) if hit <= of => Reading::Tally { hit, of },
            (Some(hit), Some(of), None, None) => return Err(format!("counts {hit} hits of {of}")),
            (None, None, Some(level), None) => Reading::Level(level),
            (None, None, None, Some(why)) => Reading::Unscorable { why: shortened(&why) },
            _ => return Err("answered no reading: write hit and of, level, or unscorable".to_owned()),
        };
        match (&reading, scorer.reads) {
            (Reading::Tally { .. }, ScorerScale::Level) | (Reading::Level(_), ScorerScale::Tally) => {
                return Err(format!("does not answer with a {}, as scorers.yaml says", scorer.reads));
            }
            (Reading::Tally { .. }, ScorerScale::Tally) | (Reading::Level(_), ScorerScale::Level) | (Reading::Unscorable { .. }, _) => {}
        }
        if matches!(reading, Reading::Tally { hit, of } if hit < of) && raw.because.iter().all(|why| why.trim().is_empty()) {
            return Err("gives no reason for a miss".to_owned());
        }
        Ok(Self { reading, because: raw.because.iter().take(MAX_REASONS).map(|why| shortened(why)).collect() })
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_REASON_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::ExampleWorkspace;

    fn scorer(reads: &str) -> ExternalScorer {
        let text = format!("scorers: [{{ id: own, about: x, command: [y], reads: {reads} }}]\n");
        ExampleWorkspace::minimal().with("scorers.yaml", &text).load().expect("a workspace").scorers.remove(0)
    }

    #[test]
    fn scorer_answer_is_one_line_with_one_reading() {
        let (tally, level) = (scorer("tally"), scorer("level"));
        let read = |text: &str| ScorerAnswer::parse(&tally, text).map(|answer| answer.reading);
        assert_eq!(read("{\"hit\": 2, \"of\": 2}\n"), Ok(Reading::Tally { hit: 2, of: 2 }));
        assert_eq!(read("\n{\"hit\": 0, \"of\": 1, \"because\": [\"no greeting\"]}\n\n"), Ok(Reading::from_bool(false)));
        assert_eq!(read("{\"unscorable\": \"no text\"}"), Ok(Reading::Unscorable { why: "no text".into() }));
        assert_eq!(ScorerAnswer::parse(&level, "{\"level\": 0.25}").map(|answer| answer.reading), Ok(Reading::Level(0.25)));
        for wrong in [
            "",
            "ok",
            "{}",
            "[]",
            "{\"hit\": 1}",
            "{\"hit\": 2, \"of\": 1}",
            "{\"hit\": 0, \"of\": 4611686018427387904, \"because\": [\"x\"]}",
            "{\"hit\": 0, \"of\": 1}",
            "{\"hit\": 1, \"of\": 1, \"level\": 1}",
            "{\"hit\": 1, \"of\": 1}\n{\"hit\": 1, \"of\": 1}",
            "{\"hit\": 1, \"of\": 1, \"pass\": true}",
            "{\"hit\": -1, \"of\": 1}",
            "{\"level\": 1}",
            "{\"hit\": 1, \"of\": 1} done",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(ScorerAnswer::parse(&level, "{\"hit\": 1, \"of\": 1}").is_err());
    }
}
