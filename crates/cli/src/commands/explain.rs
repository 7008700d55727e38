//! Explains a check, scorer, metric or gate.

use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report::{self, Topic};
use model::{ScorerId, UserError, Workspace, did_you_mean};
use score::checks::CHECKS;
use score::scorers::{PLANNED, scorer};

pub(crate) fn explain(io: &Io, source: &Source, name: &str) -> Exit {
    let topics = built_in(name);
    if !topics.is_empty() {
        return io.result(&report::explain(io, &topics), Exit::Clean);
    }
    // Gates come last: they need a workspace, which may be broken.
    let workspace = match super::open(io, source, "explain") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    match workspace.gates.iter().find(|gate| *gate.id == name) {
        Some(gate) => io.result(&report::explain(io, &[Topic::Gate(gate)]), Exit::Clean),
        None => {
            let guess = did_you_mean(name, names(&workspace));
            report::complained(io, "explain", &UserError::new(format!("nothing is called \"{name}\""), guess))
        }
    }
}

/// Returns the scorer or metric of a name first, then the check that shares it.
fn built_in(name: &str) -> Vec<Topic<'static>> {
    let id = ScorerId::parse(name);
    let measured = id.and_then(scorer).map(Topic::Scorer);
    let planned = PLANNED.iter().find(|(planned, _)| Some(*planned) == id).map(|(id, manual)| Topic::PlannedMetric { id: *id, manual });
    let check = CHECKS.iter().find(|check| check.id() == name).map(|check| Topic::Check(*check));
    measured.or(planned).into_iter().chain(check).collect()
}

fn names(workspace: &Workspace) -> impl Iterator<Item = &str> {
    let checks = CHECKS.iter().map(|check| check.id());
    let scorers = ScorerId::ALL.iter().map(|(text, _)| *text);
    checks.chain(scorers).chain(workspace.gates.iter().map(|gate| gate.id.as_str()))
}
