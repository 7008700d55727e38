//! Puts the segments of an attack into a scenario: into holes of its world, into what a tool tells, or into messages of its user. The
//! wording stays.

use model::probe::ProbeCarrier;
use model::suite::{Brief, UserScript};
use model::{AttackChannel, Spanned, WorldFault};

/// Scenario with the attack in it.
#[derive(Debug, Clone)]
pub(crate) struct PlacedText {
    pub brief: Brief,
    /// Number of user turns before those of the scenario.
    pub opening_turns: usize,
}

/// Places the text; `None` if the carrier names no place for it.
pub(crate) fn place(scenario: &Brief, carrier: &ProbeCarrier, seed: u64, segments: &[String]) -> Option<PlacedText> {
    if let Some(tool) = &carrier.tool {
        return Some(in_tool(scenario, carrier.channel, tool, segments));
    }
    match carrier.channel {
        AttackChannel::User => in_turns(scenario, carrier, segments),
        AttackChannel::ToolResult
        | AttackChannel::ToolDescription
        | AttackChannel::Memory
        | AttackChannel::AgentMessage
        | AttackChannel::ChainMetadata
        | AttackChannel::File => in_holes(scenario, carrier, seed, segments),
    }
}

/// One segment is added to a message. Several become messages of their own, before those of the scenario.
fn in_turns(scenario: &Brief, carrier: &ProbeCarrier, segments: &[String]) -> Option<PlacedText> {
    let UserScript::Turns(turns) = &scenario.user_script else { return None };
    let at = usize::try_from(carrier.turn.unwrap_or(1)).ok()?.checked_sub(1)?;
    let mut turns = turns.clone();
    let place = turns.get(at)?.at.clone();
    let opening_turns = match segments {
        [only] => {
            turns[at].value = format!("{}\n\n{only}", turns[at].value);
            0
        }
        several => {
            let opening: Vec<Spanned<String>> = several.iter().map(|text| Spanned::new(text.clone(), place.clone())).collect();
            turns.splice(0..0, opening);
            several.len()
        }
    };
    Some(PlacedText { brief: Brief { user_script: UserScript::Turns(turns), ..scenario.clone() }, opening_turns })
}

/// The seed picks the first hole. Further segments go into the next ones, what is left into the last.
fn in_holes(scenario: &Brief, carrier: &ProbeCarrier, seed: u64, segments: &[String]) -> Option<PlacedText> {
    let holes = &carrier.holes;
    let first = usize::try_from(seed.saturating_sub(1)).ok()?.checked_rem(holes.len())?;
    let used = segments.len().min(holes.len());
    let mut brief = scenario.clone();
    for n in 0..used {
        let text = if n + 1 == used { segments[n..].join("\n") } else { segments[n].clone() };
        brief.fills.insert(holes[(first + n) % holes.len()].value.clone(), text);
    }
    Some(PlacedText { brief, opening_turns: 0 })
}

/// All segments end the description of the tool, or each of its answers.
fn in_tool(scenario: &Brief, channel: AttackChannel, tool: &str, segments: &[String]) -> PlacedText {
    let (tool, text) = (tool.to_owned(), segments.join("\n"));
    let mut brief = scenario.clone();
    brief.faults.push(if channel == AttackChannel::ToolDescription {
        WorldFault::AddToolNote { tool, text }
    } else {
        WorldFault::AddToAnswer { tool, text }
    });
    PlacedText { brief, opening_turns: 0 }
}

/// Returns the brief with another text in place of the goal.
#[must_use]
pub fn reword(brief: &Brief, goal: &str, text: &str) -> Brief {
    let mut brief = brief.clone();
    if let UserScript::Turns(turns) = &mut brief.user_script {
        for turn in turns {
            turn.value = turn.value.replace(goal, text);
        }
    }
    for fill in brief.fills.values_mut() {
        *fill = fill.replace(goal, text);
    }
    for fault in &mut brief.faults {
        if let WorldFault::AddToAnswer { text: added, .. } | WorldFault::AddToolNote { text: added, .. } = fault {
            *added = added.replace(goal, text);
        }
    }
    brief
}
