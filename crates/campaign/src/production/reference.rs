//! Reference of production traffic from a stored run: mix of tools and skills, response time and cost of model calls.

use super::monitor::{COST, MODEL_LATENCY};
use model::{EventKind, Transcript};
use score::drift::DriftBoard;
use std::collections::BTreeMap;
use store::{Store, StoreError};

/// Sums over the trials of a run. A trial counts once, divided among its calls, like a trace.
#[derive(Debug, Default)]
struct RunSums {
    tools: BTreeMap<String, f64>,
    skills: BTreeMap<String, f64>,
    levels: BTreeMap<String, Vec<f64>>,
}

/// Returns a board that compares traffic with the trials of a stored run.
///
/// # Errors
///
/// Fails if the run cannot be read.
pub fn reference_board(store: &Store, run: i64) -> Result<DriftBoard, StoreError> {
    let mut sums = RunSums::default();
    store.for_each_unread(run, |unread| {
        sums.add(&unread.transcript()?);
        Ok(())
    })?;
    Ok(DriftBoard::default().with_reference(sums.tools, sums.skills).with_reference_levels(sums.levels))
}

impl RunSums {
    fn add(&mut self, transcript: &Transcript) {
        let (mut tools, mut skills) = (vec![], vec![]);
        for event in &transcript.events {
            if let EventKind::Called { tool, .. } = &event.happened {
                tools.push(tool.as_str());
            }
            if let EventKind::Activated { skill, .. } = &event.happened {
                skills.push(skill.as_str());
            }
            if let EventKind::Used { latency_ms, cost } = &event.happened {
                let latency = latency_ms.map(|latency| (MODEL_LATENCY, latency as f64));
                let values = latency.into_iter().chain(cost.map(|cost| (COST, cost.as_usd())));
                values.for_each(|(what, value)| self.levels.entry(what.to_owned()).or_default().push(value));
            }
        }
        add_shares(&mut self.tools, &tools);
        // Traffic names the skills of a trace, each once.
        skills.sort_unstable();
        skills.dedup();
        add_shares(&mut self.skills, &skills);
    }
}

fn add_shares(into: &mut BTreeMap<String, f64>, kinds: &[&str]) {
    for kind in kinds {
        *into.entry((*kind).to_owned()).or_default() += 1.0 / kinds.len() as f64;
    }
}
