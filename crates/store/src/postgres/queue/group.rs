//! Writes of a worker that are committed together.

use super::calls::{self, BudgetChange, CallTicket, ReserveAnswer, SettledWrite};
use super::claims::{ClaimAnswer, claim};
use super::finish::{FinishAnswer, fail_dropped_calls, finish};
use super::lease::{WorkerLease, renew};
use super::session::{QueueSql, column};
use super::vendors::{self, VendorStates, VendorThrottle};
use crate::postgres::text::{encode, get_text};
use crate::{CallKey, StoreError, TrialRow};
use model::ContentHash;
use std::collections::{BTreeMap, BTreeSet};

/// Write that no caller waits for.
#[derive(Debug)]
pub enum QueueWrite {
    Settle {
        call: CallKey,
        vendor: String,
        cost: u64,
        waited_us: Option<u64>,
        reply: String,
    },
    Fail {
        call: CallKey,
        cost: u64,
        why: String,
    },
    CacheReply {
        key: ContentHash,
        reply: String,
    },
    Count {
        what: &'static str,
        n: u64,
    },
    Throttle(VendorThrottle),
    /// Reply without readable token counts.
    UnreadableBill,
    /// Reply with token counts that the request did not allow. Nothing more is paid.
    ImpossibleBill,
}

/// Writes of one transaction, in the order in which callers asked for them.
#[derive(Debug, Default)]
pub(super) struct WriteGroup {
    pub(super) writes: Vec<QueueWrite>,
    pub(super) finished: Vec<TrialRow>,
    /// Subjects and number of trials to claim.
    pub(super) claims: Vec<(Vec<u64>, u64)>,
    pub(super) tickets: Vec<CallTicket>,
    /// Calls whose settled replies are looked for.
    pub(super) lookups: Vec<CallKey>,
    /// Keys of cached replies, with their longest age in seconds.
    pub(super) cache_lookups: Vec<(ContentHash, i64)>,
}

/// Results of a group, in the order of its parts.
#[derive(Debug, Default)]
pub(super) struct GroupAnswers {
    pub(super) finished: Vec<FinishAnswer>,
    pub(super) claims: Vec<ClaimAnswer>,
    pub(super) tickets: Vec<ReserveAnswer>,
    pub(super) lookups: Vec<Option<(u64, String)>>,
    pub(super) cache_lookups: Vec<Option<String>>,
}

impl WriteGroup {
    pub(super) fn len(&self) -> usize {
        self.written() + self.lookups.len() + self.cache_lookups.len()
    }

    fn written(&self) -> usize {
        self.writes.len() + self.finished.len() + self.claims.len() + self.tickets.len()
    }

    /// Applies the group within a transaction. Rows that workers share are locked in one order: vendors, budget, cached replies, counters.
    pub(super) fn apply(&self, sql: &QueueSql<'_>, lease: &WorkerLease) -> Result<GroupAnswers, StoreError> {
        if self.written() == 0 && self.len() > 0 {
            // Readers need no lease, and a transaction that writes nothing waits for no disk.
            return self.look_up(sql, lease, GroupAnswers::default());
        }
        renew(sql, lease, self.finished.len() as u64)?;
        let mut change = BudgetChange::default();
        self.close_calls(sql, lease, &mut change)?;
        let finished = self.finish(sql, lease, &mut change)?;
        let claims = self.claims.iter().map(|(subjects, most)| claim(sql, lease, subjects, *most)).collect::<Result<_, _>>()?;
        let vendors = self.update_vendors(sql)?;
        change.apply(sql, lease.run)?;
        let tickets = calls::reserve_all(sql, lease, &self.tickets, &vendors)?;
        self.keep_replies(sql)?;
        self.add_counts(sql, lease.run)?;
        self.look_up(sql, lease, GroupAnswers { finished, claims, tickets, ..GroupAnswers::default() })
    }

    /// Looks for replies, after the writes of the group.
    fn look_up(&self, sql: &QueueSql<'_>, lease: &WorkerLease, answers: GroupAnswers) -> Result<GroupAnswers, StoreError> {
        let lookups = calls::find_settled(sql, lease.run, &self.lookups)?;
        let cached = |(key, ttl_s): &(ContentHash, i64)| cached_reply(sql, key, *ttl_s);
        let cache_lookups = self.cache_lookups.iter().map(cached).collect::<Result<_, _>>()?;
        Ok(GroupAnswers { lookups, cache_lookups, ..answers })
    }

    fn close_calls(&self, sql: &QueueSql<'_>, lease: &WorkerLease, change: &mut BudgetChange) -> Result<(), StoreError> {
        let (mut settled, mut failed) = (vec![], vec![]);
        for write in &self.writes {
            match write {
                QueueWrite::Settle { call, cost, waited_us, reply, .. } => {
                    settled.push(SettledWrite { call, cost: *cost, waited_us: *waited_us, reply });
                }
                QueueWrite::Fail { call, cost, why } => failed.push((call, *cost, why.as_str())),
                QueueWrite::UnreadableBill => change.unreadable += 1,
                QueueWrite::ImpossibleBill => change.impossible += 1,
                QueueWrite::CacheReply { .. } | QueueWrite::Count { .. } | QueueWrite::Throttle(_) => {}
            }
        }
        calls::settle_all(sql, lease, &settled, change)?;
        calls::fail_all(sql, lease, &failed, change)
    }

    fn finish(&self, sql: &QueueSql<'_>, lease: &WorkerLease, change: &mut BudgetChange) -> Result<Vec<FinishAnswer>, StoreError> {
        if self.finished.is_empty() {
            return Ok(vec![]);
        }
        let rows: Vec<&TrialRow> = self.finished.iter().collect();
        let stored = finish(sql, lease, &rows)?;
        let trials: Vec<&str> = rows.iter().map(|row| row.trial.id.as_str()).collect();
        fail_dropped_calls(sql, lease, &trials, change)?;
        let answer = |row: &&TrialRow| if stored.contains(&row.n) { FinishAnswer::Stored } else { FinishAnswer::Withdrawn };
        Ok(rows.iter().map(answer).collect())
    }

    /// Applies throttles and successes, locks the rows of vendors that have a limit, sorted by name, and returns the states of vendors.
    fn update_vendors(&self, sql: &QueueSql<'_>) -> Result<VendorStates, StoreError> {
        let mut successes: BTreeMap<&str, u64> = BTreeMap::new();
        let mut throttles: BTreeMap<&str, Vec<&VendorThrottle>> = BTreeMap::new();
        for write in &self.writes {
            match write {
                QueueWrite::Settle { vendor, .. } => *successes.entry(vendor).or_default() += 1,
                QueueWrite::Throttle(fault) => throttles.entry(&fault.vendor).or_default().push(fault),
                QueueWrite::Fail { .. }
                | QueueWrite::CacheReply { .. }
                | QueueWrite::Count { .. }
                | QueueWrite::UnreadableBill
                | QueueWrite::ImpossibleBill => {}
            }
        }
        let asked = self.tickets.iter().map(|ticket| ticket.vendor.as_str());
        let all: BTreeSet<&str> = successes.keys().copied().chain(throttles.keys().copied()).chain(asked).collect();
        let names: Vec<&str> = all.iter().copied().collect();
        let states = VendorStates::read(sql, &names)?;
        if throttles.is_empty() && names.iter().all(|vendor| states.is_calm(vendor)) {
            return Ok(states);
        }
        for vendor in all {
            if let Some(calls) = successes.get(vendor) {
                vendors::succeed(sql, vendor, *calls)?;
            }
            for fault in throttles.get(vendor).into_iter().flatten() {
                vendors::throttle(sql, fault)?;
            }
            sql.query("SELECT 1 FROM vendors WHERE vendor = $1 AND at_once IS NOT NULL FOR UPDATE", &[&vendor])?;
        }
        VendorStates::read(sql, &names)
    }

    fn keep_replies(&self, sql: &QueueSql<'_>) -> Result<(), StoreError> {
        let mut replies: BTreeMap<&str, String> = BTreeMap::new();
        for write in &self.writes {
            if let QueueWrite::CacheReply { key, reply } = write {
                replies.insert(key.as_str(), encode(reply));
            }
        }
        // Sorted, so that two workers that keep the same replies do not wait for each other.
        for (key, reply) in &replies {
            sql.execute(
                "INSERT INTO cache (key, at, reply) VALUES ($1, extract(epoch FROM clock_timestamp())::bigint, $2)
                 ON CONFLICT (key) DO UPDATE SET at = excluded.at, reply = excluded.reply",
                &[key, reply],
            )?;
        }
        Ok(())
    }

    fn add_counts(&self, sql: &QueueSql<'_>, run: i64) -> Result<(), StoreError> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for write in &self.writes {
            if let QueueWrite::Count { what, n } = write {
                *counts.entry(what).or_default() += n;
            }
        }
        for (what, n) in counts {
            sql.execute(
                "INSERT INTO telemetry (run, what, n) VALUES ($1, $2, $3)
                 ON CONFLICT (run, what) DO UPDATE SET n = telemetry.n + excluded.n",
                &[&run, &what, &column(n)],
            )?;
        }
        Ok(())
    }
}

/// Returns a cached reply that is younger than this, by the clock of the database.
fn cached_reply(sql: &QueueSql<'_>, key: &ContentHash, ttl_s: i64) -> Result<Option<String>, StoreError> {
    let fresh = "SELECT reply FROM cache WHERE key = $1 AND at > extract(epoch FROM clock_timestamp())::bigint - $2";
    sql.query_first(fresh, &[&key.as_str(), &ttl_s])?.map(|row| get_text(&row, 0)).transpose()
}
