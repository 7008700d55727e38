//! Writes of a worker that are committed together.

use super::calls::{self, BudgetChange, CallTicket, ReserveAnswer};
use super::claims::{ClaimAnswer, claim};
use super::finish::{FinishAnswer, fail_dropped_calls, finish};
use super::lease::{WorkerLease, renew};
use super::session::{QueueSql, column};
use super::vendors::{self, VendorThrottle};
use crate::postgres::text::encode;
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
}

/// Results of a group, in the order of its parts.
#[derive(Debug, Default)]
pub(super) struct GroupAnswers {
    pub(super) finished: Vec<FinishAnswer>,
    pub(super) claims: Vec<ClaimAnswer>,
    pub(super) tickets: Vec<ReserveAnswer>,
}

impl WriteGroup {
    pub(super) fn len(&self) -> usize {
        self.writes.len() + self.finished.len() + self.claims.len() + self.tickets.len()
    }

    /// Applies the group within a transaction. Rows that workers share are locked in one order: vendors, budget, cached replies, counters.
    pub(super) fn apply(&self, sql: &QueueSql<'_>, lease: &WorkerLease) -> Result<GroupAnswers, StoreError> {
        renew(sql, lease, self.finished.len() as u64)?;
        let mut change = BudgetChange::default();
        self.close_calls(sql, lease, &mut change)?;
        let finished = self.finish(sql, lease, &mut change)?;
        let claims = self.claims.iter().map(|(subjects, most)| claim(sql, lease, subjects, *most)).collect::<Result<_, _>>()?;
        self.update_vendors(sql)?;
        change.apply(sql, lease.run)?;
        let tickets = self.tickets.iter().map(|ticket| calls::reserve(sql, lease, ticket)).collect::<Result<_, _>>()?;
        self.keep_replies(sql)?;
        self.add_counts(sql, lease.run)?;
        Ok(GroupAnswers { finished, claims, tickets })
    }

    fn close_calls(&self, sql: &QueueSql<'_>, lease: &WorkerLease, change: &mut BudgetChange) -> Result<(), StoreError> {
        for write in &self.writes {
            match write {
                QueueWrite::Settle { call, cost, waited_us, reply, .. } => {
                    calls::settle(sql, (call, lease.worker), (*cost, *waited_us, reply), change)?;
                }
                QueueWrite::Fail { call, cost, why } => calls::fail(sql, (call, lease.worker), (*cost, why), change)?,
                QueueWrite::UnreadableBill => change.unreadable += 1,
                QueueWrite::ImpossibleBill => change.impossible += 1,
                QueueWrite::CacheReply { .. } | QueueWrite::Count { .. } | QueueWrite::Throttle(_) => {}
            }
        }
        Ok(())
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

    /// Applies throttles and successes, and locks the rows of vendors that have a limit, sorted by name.
    fn update_vendors(&self, sql: &QueueSql<'_>) -> Result<(), StoreError> {
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
        for vendor in all {
            if let Some(calls) = successes.get(vendor) {
                vendors::succeed(sql, vendor, *calls)?;
            }
            for fault in throttles.get(vendor).into_iter().flatten() {
                vendors::throttle(sql, fault)?;
            }
            sql.query("SELECT 1 FROM vendors WHERE vendor = $1 AND at_once IS NOT NULL FOR UPDATE", &[&vendor])?;
        }
        Ok(())
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
