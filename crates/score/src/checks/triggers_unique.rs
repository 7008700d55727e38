//! Trigger phrases are unique, and every skill has enough triggers and examples. Spec 2.3, intent recognition.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::{Skill, Spanned, Workspace};
use std::collections::BTreeMap;

pub(super) struct TriggersUnique;

const TRIGGERS_AT_LEAST: usize = 3;
const EXAMPLES_AT_LEAST: usize = 4;
/// Words that do not change the request. Directions (to, from, in, out) do, so they are not listed.
const STOP_WORDS: &[&str] = &[
    "a", "an", "the", "this", "that", "my", "our", "your", "i", "me", "we", "us", "you", "it", "is", "are", "do", "does", "can", "could",
    "would", "will", "want", "please", "and", "of", "some", "any",
];

impl Check for TriggersUnique {
    fn id(&self) -> &'static str {
        "triggers_unique"
    }

    fn manual(&self) -> &'static str {
        "Every skill has at least three trigger phrases and four examples, and no trigger phrase belongs to two skills. Phrases are \
         compared word by word without capitals, punctuation and words like \"the\" or \"my\"."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let mut first: BTreeMap<Vec<String>, (&Skill, &Spanned<String>)> = BTreeMap::new();
        for skill in &workspace.skills {
            let name = &*skill.name;
            let too_few =
                |what: &str, count: usize, least: usize| (count < least).then(|| format!("skill {name} has {}", model::count(count, what)));
            if let Some(what) = too_few("trigger", skill.triggers.len(), TRIGGERS_AT_LEAST) {
                found.error(&skill.at, what, format!("write at least {TRIGGERS_AT_LEAST}"));
            }
            if let Some(what) = too_few("example", skill.examples.len(), EXAMPLES_AT_LEAST) {
                found.error(&skill.at, what, format!("write at least {EXAMPLES_AT_LEAST}, as users would phrase them"));
            }
            for trigger in &skill.triggers {
                found.record_examined();
                let words = significant_words(trigger);
                if words.is_empty() {
                    found.error(&trigger.at, format!("a trigger of skill {name} has no words"), "write what a user would say");
                    continue;
                }
                match first.get(&words) {
                    Some((other, earlier)) => {
                        let both = if *other.name == *name { "has it twice".to_owned() } else { format!("shares it with {}", *other.name) };
                        let remedy = format!("keep one; the first is \"{}\" at {}", ***earlier, earlier.at);
                        found.error(&trigger.at, format!("trigger \"{}\": skill {name} {both}", **trigger), remedy);
                    }
                    None => {
                        first.insert(words, (skill, trigger));
                    }
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("skills/send-tokens/SKILL.md", "triggers: [send tokens to,", "triggers: [\"Swap my tokens!\",")
    }
}

/// Returns the words without stop words. A phrase of stop words only keeps them all.
fn significant_words(phrase: &str) -> Vec<String> {
    let lower = phrase.to_lowercase().replace(['\'', '’'], "");
    let all = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let (stop, rest): (Vec<&str>, Vec<&str>) = all.clone().partition(|word| STOP_WORDS.contains(word));
    let kept = if rest.is_empty() { stop } else { rest };
    kept.into_iter().map(str::to_owned).collect()
}
