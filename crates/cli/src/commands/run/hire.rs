//! Who plays in a run and on what terms: budget, cache, recordings, keys.

use super::super::models;
use super::asked::Asked;
use crate::args::RunArgs;
use crate::env;
use crate::open::Source;
use ::run::finished::{Host, Surroundings};
use ::run::ledger::{Ledger, MemoryLedger};
use ::run::providers::cassette::{FileTape, MemoryTape, Tape};
use ::run::providers::{Cassette, Key, Terms};
use ::run::{Company, Hiring, JournalLedger, Purse, fits};
use campaign::{Aides, Kept, Request, players};
use model::{Live, Money, SubjectFile, Workspace};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Recordings that are to be used, one tape for each model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recordings {
    Off,
    Record,
    Replay,
    RecordMissing,
}

/// Decided before anything runs.
#[derive(Debug)]
pub(super) struct Agreed {
    pub budget: Option<Money>,
    cache: bool,
    cassettes: BTreeMap<String, Cassette>,
    judge: Option<Aide>,
    user: Option<Aide>,
}

/// Everybody is there, and pays from one purse.
pub(super) struct Hired {
    pub company: Arc<Company>,
    pub aides: Aides,
    pub purse: Arc<Purse>,
}

/// A model that helps, with its recordings.
#[derive(Debug)]
struct Aide {
    file: SubjectFile,
    cassette: Cassette,
}

impl Agreed {
    /// All that stands in the way comes back together.
    pub(super) fn of(args: &RunArgs, asked: &Asked, request: &Request, source: &Source) -> Result<Self, Vec<String>> {
        let workspace = &request.workspace;
        let recordings = recordings(args, asked, workspace);
        let models: Vec<&SubjectFile> = players(request).into_iter().filter(|subject| subject.provider.is_llm()).collect();
        let budget = asked.budget;
        let mut wrong = vec![];
        let mut cassettes = BTreeMap::new();
        for file in &models {
            match cassette(recordings, source, &file.name) {
                Ok(cassette) => drop(cassettes.insert(file.name.value.clone(), cassette)),
                Err(why) => wrong.push(why),
            }
            if budget.is_none() && recordings != Recordings::Replay && costs(file) {
                wrong.push(format!("subject \"{}\" costs money  say how much the run may cost: --budget 2.50", file.name.value));
            }
            let cases = request.outline.cases.iter().filter_map(|planned| workspace.case(&planned.case));
            wrong.extend(cases.filter_map(|case| fits(workspace, file, case).err()).take(1).map(|why| why.to_string()));
        }
        // The judge may be asked live in tiers in which subjects may not.
        let live = if recordings_said(args) || asked.live(workspace) != Some(Live::Judge) { recordings } else { Recordings::Off };
        let mut aide =
            |name: &Option<String>, recordings| match name.as_deref().map(|name| aide(workspace, name, recordings, source)).transpose() {
                Ok(aide) => aide,
                Err(why) => {
                    wrong.push(why);
                    None
                }
            };
        let (judge, user) = (aide(&asked.judge, live), aide(&asked.user, recordings));
        for file in [&judge, &user].into_iter().flatten().map(|aide| &aide.file) {
            if budget.is_none() && recordings != Recordings::Replay && costs(file) {
                wrong.push(format!("\"{}\" costs money  say how much the run may cost: --budget 2.50", file.name.value));
            }
        }
        let agreed = Self { budget, cache: !args.no_cache, cassettes, judge, user };
        // The same that will be done for good once the run has its place, with books that are thrown away.
        let rehearsal = agreed.company(request, Arc::new(MemoryLedger::default()), &Purse::new(budget));
        wrong.extend(rehearsal.err().unwrap_or_default());
        wrong.dedup();
        if wrong.is_empty() { Ok(agreed) } else { Err(wrong) }
    }

    /// Subjects for a run that is kept; what it has spent before is gone from its budget.
    pub(super) fn hire(&self, request: &Request, kept: &Kept, spent: Money) -> Result<Hired, Vec<String>> {
        let ttl = env::value("PROMPTFOO_CACHE_TTL").and_then(|text| text.parse().ok()).unwrap_or(::run::providers::CACHE_TTL_S);
        let resumed = kept.resumed;
        let ledger = Arc::new(JournalLedger::new(kept.journal.clone(), kept.run, resumed, super::room::unix_s, ttl));
        let purse = Purse::new(self.budget.map(|budget| budget.less(spent)));
        let (company, aides) = self.company(request, ledger, &purse)?;
        Ok(Hired { company: Arc::new(company), aides, purse })
    }

    fn company(&self, request: &Request, ledger: Arc<dyn Ledger>, purse: &Arc<Purse>) -> Result<(Company, Aides), Vec<String>> {
        let terms = Terms { cache: self.cache, ..Terms::new(purse.clone(), ledger) };
        let key = |name: &str| env::value(name).and_then(|text| Key::new(&text));
        let cassette = |subject: &str| self.cassettes.get(subject).cloned().unwrap_or_default();
        let aides = self.aides(&terms).map_err(|why| vec![why])?;
        let host = Arc::new(Host::new(Surroundings { variable: env::value, folder: env::folder() }));
        let hiring = Hiring { terms: Some(terms), key: &key, cassette: &cassette, host };
        let company = Company::hire(&request.workspace, &players(request), &hiring);
        company.map(|company| (company, aides)).map_err(|missing| missing.iter().map(ToString::to_string).collect())
    }

    fn aides(&self, terms: &Terms) -> Result<Aides, String> {
        let judge = self.judge.as_ref().map(|aide| models::judge(&aide.file, terms, aide.cassette.clone())).transpose()?;
        let user = self.user.as_ref().map(|aide| models::actor(&aide.file, terms, aide.cassette.clone())).transpose()?;
        Ok(Aides { judge, user })
    }
}

fn aide(workspace: &Workspace, name: &str, recordings: Recordings, source: &Source) -> Result<Aide, String> {
    let file = models::subject(workspace, name)?.clone();
    Ok(Aide { cassette: cassette(recordings, source, name)?, file })
}

fn recordings_said(args: &RunArgs) -> bool {
    args.record || args.replay || args.record_missing
}

/// What the flags say, else what the tier may do live.
fn recordings(args: &RunArgs, asked: &Asked, workspace: &Workspace) -> Recordings {
    match (args.record, args.replay, args.record_missing, asked.live(workspace)) {
        (true, ..) => Recordings::Record,
        (_, _, true, _) => Recordings::RecordMissing,
        (_, true, ..) | (.., Some(Live::None | Live::Judge)) => Recordings::Replay,
        (.., Some(Live::Subject) | None) => Recordings::Off,
    }
}

fn cassette(recordings: Recordings, source: &Source, subject: &str) -> Result<Cassette, String> {
    let tape = || -> Result<Arc<dyn Tape>, String> {
        match source {
            Source::Folder(folder) => FileTape::open(&folder.join("cassettes"), subject)
                .map(|tape| Arc::new(tape) as Arc<dyn Tape>)
                .map_err(|fault| fault.to_string()),
            // Nothing is recorded for the embedded workspace, and nothing can be.
            Source::Embedded if recordings == Recordings::Replay => Ok(Arc::new(MemoryTape::default())),
            Source::Embedded => Err("recordings need a workspace of their own  `bardo-eval init` writes one".into()),
        }
    };
    Ok(match recordings {
        Recordings::Off => Cassette::Off,
        Recordings::Replay => Cassette::Replay(tape()?),
        Recordings::Record => Cassette::Record(tape()?),
        Recordings::RecordMissing => Cassette::RecordMissing(tape()?),
    })
}

/// Without a price nobody knows, so it does.
fn costs(file: &SubjectFile) -> bool {
    file.price.as_ref().is_none_or(|price| price.input_per_mtok > Money::ZERO || price.output_per_mtok > Money::ZERO)
}
