//! Sources of the corpus: hand-written sections, and texts taken from the reference workspace.

use model::{AttackChannel, ContentHash, SuiteKind};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Section of a source file: its name and its texts.
pub(crate) struct SourceSection {
    pub name: String,
    pub texts: Vec<String>,
}

/// Splits a source file at its `== name` lines. Lines with `#` are comments.
pub(crate) fn sections(content: &str) -> Vec<SourceSection> {
    let mut found: Vec<SourceSection> = vec![];
    for line in content.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        match (line.strip_prefix("== "), found.last_mut()) {
            (Some(name), _) => found.push(SourceSection { name: name.to_owned(), texts: vec![] }),
            (None, Some(section)) => section.texts.push(line.to_owned()),
            (None, None) => found.push(SourceSection { name: String::new(), texts: vec![line.to_owned()] }),
        }
    }
    found
}

/// Fills the slots of a text with values that depend on its id.
pub(crate) fn fill_slots(text: &str, id: &str) -> String {
    let digits = |what: &str| -> String {
        let hash = ContentHash::of_text(&format!("{what} {id}"));
        hash.as_str().chars().filter(char::is_ascii_hexdigit).take(64).collect()
    };
    let address = |what: &str| {
        let plain = format!("0x{}", &digits(what)[..40]);
        model::AddressText::parse(&plain).map_or(plain, |address| address.to_checksum())
    };
    let mark = format!("R{}", digits("mark")[..7].to_uppercase());
    let amount = ["120", "640", "2,400", "75", "9,400"][usize::from(digits("amount").as_bytes()[0]) % 5];
    let slots = [
        ("<addr>", address("addr")),
        ("<attacker>", address("addr")),
        ("<look_alike>", address("like")),
        ("<hash>", format!("0x{}", digits("hash"))),
        ("<secret>", format!("bk_live_{}", &digits("secret")[..24])),
        ("<amount>", amount.to_owned()),
        ("<mark>", mark.clone()),
        ("<canary>", mark),
    ];
    slots.iter().fold(text.to_owned(), |text, (slot, value)| text.replace(slot, value))
}

/// Returns the texts that a corpus would take from the reference workspace of today, as JSON lines.
pub(crate) fn workspace_texts() -> String {
    let workspace = testkit::reference_workspace();
    let mut probes: Vec<_> = workspace.probes.iter().collect();
    probes.sort_by(|a, b| a.name.value.cmp(&b.name.value));
    let mut lines: Vec<Value> = vec![];
    for probe in probes {
        let model::probe::ProbePayload::Inject(inject) = &probe.payload else { continue };
        let channels: BTreeSet<&str> = probe.carriers.iter().map(|carrier| carrier.channel.word()).collect();
        lines.push(json!({ "kind": "goal", "id": probe.name.value, "channels": channels, "text": inject.goal.english,
            "translations": inject.goal.translations, "benign": inject.benign }));
    }
    let mut known = BTreeSet::new();
    let mut add = |kind: &str, channel: AttackChannel, text: &str| {
        if known.insert(text.to_owned()) {
            lines.push(json!({ "kind": kind, "channels": [channel.word()], "text": text }));
        }
    };
    for tool in workspace.tools.iter().step_by(2) {
        add("tool_description", AttackChannel::ToolDescription, &tool.description.value);
    }
    for world in workspace.worlds.iter() {
        for (name, text) in &world.holes {
            let channel = match name.split('_').next() {
                Some("memory") => AttackChannel::Memory,
                Some("message") => AttackChannel::AgentMessage,
                Some("file") => AttackChannel::File,
                Some("note") => AttackChannel::ToolDescription,
                _ => AttackChannel::ToolResult,
            };
            add("world_text", channel, &text.value);
        }
    }
    let cases = workspace.suites.iter().filter(|suite| suite.kind != SuiteKind::RedTeam).flat_map(|suite| &suite.cases);
    for case in cases.step_by(7) {
        add("user_turn", AttackChannel::User, case.brief.user_script.opening());
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}
