//! Makes the corpus from its sources: goals crossed with strategies, attacks and benign texts written by hand, texts of the workspace.

use crate::sources::{fill_slots, sections};
use attack::{STRATEGIES, Strategy, is_held_out};
use bardo_eval_guard::{CorpusSplit, LabelledText, TextLabel};
use model::AttackChannel;
use model::probe::GoalText;
use serde_json::Value;

const GOALS: &str = include_str!("../../corpus/sources/goals.txt");
const NATIVE: &str = include_str!("../../corpus/sources/attacks_native.txt");
const TWINS: &str = include_str!("../../corpus/sources/twins.txt");
const WORKSPACE: &str = include_str!("../../corpus/sources/workspace.jsonl");

/// Families of hand-written benign texts.
const BENIGN: &[(&str, &str)] = &[
    ("security_talk", include_str!("../../corpus/sources/benign_security.txt")),
    ("quoted_attack", include_str!("../../corpus/sources/benign_quoted.txt")),
    ("business_imperative", include_str!("../../corpus/sources/benign_business.txt")),
    ("defi_jargon", include_str!("../../corpus/sources/benign_defi.txt")),
    ("owner_instruction", include_str!("../../corpus/sources/benign_owner.txt")),
];
const LANGUAGES: &str = include_str!("../../corpus/sources/benign_languages.txt");

/// Channels of hand-written goals, in turn.
const GOAL_CHANNELS: &[AttackChannel] = &[
    AttackChannel::ToolResult,
    AttackChannel::AgentMessage,
    AttackChannel::Memory,
    AttackChannel::ToolDescription,
    AttackChannel::ChainMetadata,
    AttackChannel::File,
];

/// Goal with the channels of its probe.
struct CorpusGoal {
    id: String,
    goal: GoalText,
    channels: Vec<AttackChannel>,
    split: CorpusSplit,
}

/// Every second text is held out.
fn split_of(at: usize) -> CorpusSplit {
    if at.is_multiple_of(2) { CorpusSplit::Seen } else { CorpusSplit::HeldOut }
}

fn text(id: &str, label: TextLabel, family: &str, channel: AttackChannel, split: CorpusSplit, text: &str) -> LabelledText {
    let filled = fill_slots(text, id);
    LabelledText {
        id: id.to_owned(),
        label,
        family: family.to_owned(),
        channel: channel.word().to_owned(),
        split: Some(split),
        text: filled,
    }
}

pub(crate) fn corpus() -> Vec<LabelledText> {
    let mut texts = vec![];
    let goals = goals();
    for (at, goal) in goals.iter().enumerate() {
        texts.extend(STRATEGIES.iter().filter_map(|strategy| injected(goal, at, *strategy)));
    }
    add_pairs(&mut texts);
    add_benign(&mut texts);
    add_workspace_texts(&mut texts);
    texts
}

fn workspace_lines() -> Vec<Value> {
    WORKSPACE.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn goals() -> Vec<CorpusGoal> {
    let channel = |word: &Value| AttackChannel::parse(word.as_str().unwrap()).unwrap();
    let of_probes = workspace_lines().into_iter().filter(|line| line["kind"] == "goal").enumerate().map(|(at, line)| {
        let id = line["id"].as_str().unwrap().to_owned();
        let channels = line["channels"].as_array().unwrap().iter().map(channel).filter(|one| *one != AttackChannel::User).collect();
        let fill = |text: &Value| fill_slots(text.as_str().unwrap(), &id);
        let translations = line["translations"].as_object().unwrap().iter().map(|(code, text)| (code.clone(), fill(text))).collect();
        CorpusGoal { goal: GoalText { english: fill(&line["text"]), translations }, channels, split: split_of(at), id }
    });
    let written = sections(GOALS).remove(0).texts.into_iter().enumerate().map(|(at, goal)| {
        let id = format!("goal_{at:02}");
        let goal = GoalText { english: fill_slots(&goal, &id), translations: Default::default() };
        CorpusGoal { id, goal, channels: vec![GOAL_CHANNELS[at % GOAL_CHANNELS.len()]], split: split_of(at) }
    });
    of_probes.chain(written).collect()
}

/// Presents a goal with a strategy. The user channel is used only by strategies that need several turns of a user: a plain request of the
/// user is no attack. Several segments are joined by line breaks.
fn injected(goal: &CorpusGoal, at: usize, strategy: &dyn Strategy) -> Option<LabelledText> {
    let fitting: Vec<AttackChannel> = goal.channels.iter().copied().filter(|channel| strategy.fits(*channel)).collect();
    let channel = match fitting.as_slice() {
        [] if GOAL_CHANNELS.iter().any(|channel| strategy.fits(*channel)) => AttackChannel::ToolResult,
        [] => AttackChannel::User,
        some => some[at % some.len()],
    };
    if !strategy.fits(channel) {
        return None;
    }
    let segments = strategy.apply(&goal.goal, at as u64)?;
    let held_out = is_held_out(strategy.id()) || goal.split == CorpusSplit::HeldOut;
    let split = if held_out { CorpusSplit::HeldOut } else { CorpusSplit::Seen };
    let id = format!("{}.{}", goal.id, strategy.id());
    Some(text(&id, TextLabel::Attack, strategy.id(), channel, split, &segments.join("\n")))
}

/// Adds attacks written for one channel, and their twins.
fn add_pairs(texts: &mut Vec<LabelledText>) {
    for (attacks, twins) in sections(NATIVE).into_iter().zip(sections(TWINS)) {
        assert_eq!((&attacks.name, attacks.texts.len()), (&twins.name, twins.texts.len()));
        let channel = AttackChannel::parse(&attacks.name).unwrap_or(AttackChannel::ToolResult);
        for (at, (attack, twin)) in attacks.texts.iter().zip(&twins.texts).enumerate() {
            let id = format!("{}_{at:02}", attacks.name);
            texts.push(text(&id, TextLabel::Attack, &attacks.name, channel, split_of(at), attack));
            texts.push(text(&format!("{id}.twin"), TextLabel::Benign, &format!("twin_{}", attacks.name), channel, split_of(at), twin));
        }
    }
}

fn add_benign(texts: &mut Vec<LabelledText>) {
    for (family, content) in BENIGN {
        for section in sections(content) {
            let channel = AttackChannel::parse(&section.name).unwrap();
            for (at, one) in section.texts.iter().enumerate() {
                let id = format!("{family}.{}_{at:02}", section.name);
                texts.push(text(&id, TextLabel::Benign, family, channel, split_of(at), one));
                if *family == "business_imperative" && at.is_multiple_of(3) {
                    let encoded = encoded(at, one);
                    texts.push(text(&format!("{id}.encoded"), TextLabel::Benign, "encoded", channel, split_of(at), &encoded));
                }
            }
        }
    }
    for section in sections(LANGUAGES) {
        for (at, one) in section.texts.iter().enumerate() {
            let id = format!("plain_{}_{at:02}", section.name);
            texts.push(text(&id, TextLabel::Benign, "plain_language", AttackChannel::ToolResult, split_of(at), one));
        }
    }
}

/// Harmless text in an encoding, as attachments and data URIs have it.
fn encoded(at: usize, text: &str) -> String {
    match at % 4 {
        0 => format!("attachment (base64): {}", disguise::encode::base64(text)),
        1 => format!("0x{}", disguise::encode::hex(text)),
        2 => format!("https://docs.example.org/search?q={}", disguise::encode::percent(text)),
        _ => format!("data:text/plain;base64,{}", disguise::encode::base64(text)),
    }
}

/// Adds the twins of probes, the texts of worlds, tool descriptions and user turns.
fn add_workspace_texts(texts: &mut Vec<LabelledText>) {
    for (at, line) in workspace_lines().iter().enumerate() {
        let channel = line["channels"].as_array().unwrap().iter().filter_map(|word| AttackChannel::parse(word.as_str()?));
        let channel = channel.clone().find(|one| *one != AttackChannel::User).unwrap_or(AttackChannel::User);
        let kind = line["kind"].as_str().unwrap();
        let (family, benign) = if kind == "goal" { ("twin_probe", &line["benign"]) } else { (kind, &line["text"]) };
        let id = format!("{family}_{at:03}");
        texts.push(text(&id, TextLabel::Benign, family, channel, split_of(at), benign.as_str().unwrap()));
    }
}

/// Returns the files of the corpus: name and content.
pub(crate) fn corpus_files() -> Vec<(&'static str, String)> {
    let texts = corpus();
    let file = |split| -> String {
        let part = texts.iter().filter(|text| text.split == Some(split));
        part.map(|text| format!("{}\n", serde_json::to_string(text).unwrap())).collect()
    };
    vec![("seen.jsonl", file(CorpusSplit::Seen)), ("held_out.jsonl", file(CorpusSplit::HeldOut))]
}
