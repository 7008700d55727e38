//! Limits per vendor and key, shared by all workers: a pause after a vendor said that it is asked too often, and a limit of calls at once.

use super::session::{QueueSql, column, count};
use crate::StoreError;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio_postgres::Row;

/// Most calls at once of one vendor and key. A limit that grew to this is forgotten.
const MAX_AT_ONCE: f64 = 1024.0;
/// First pause without a delay of the vendor's own; it doubles until a call succeeds.
const FIRST_PAUSE_S: f64 = 0.5;
const LONGEST_PAUSE_S: f64 = 60.0;
/// Longest wait before a vendor's row is read again.
const LONGEST_LOOK: Duration = Duration::from_secs(2);
/// Wait while as many calls are under way as the vendor takes.
const FULL_PAUSE: Duration = Duration::from_millis(50);

/// Fault of a vendor that is asked too often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VendorThrottle {
    pub vendor: String,
    /// Delay that the vendor asked for.
    pub wait: Option<Duration>,
    /// Halvings when the call was reserved. Calls that were under way together halve the limit once.
    pub halvings: u64,
}

/// Permission of a vendor's row to send a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VendorGate {
    Open { halvings: u64 },
    Paused(Duration),
}

/// State of vendors at the begin of a commit.
#[derive(Debug, Default)]
pub(super) struct VendorStates(BTreeMap<String, VendorState>);

#[derive(Debug)]
struct VendorState {
    is_paused: bool,
    is_limited: bool,
    has_strikes: bool,
    halvings: u64,
}

impl VendorStates {
    /// Reads the states of vendors without a lock.
    pub(super) fn read(sql: &QueueSql<'_>, vendors: &[&str]) -> Result<Self, StoreError> {
        if vendors.is_empty() {
            return Ok(Self::default());
        }
        let rows = sql.query(
            "SELECT vendor, coalesce(paused_until > clock_timestamp(), false), at_once IS NOT NULL, strikes > 0, halvings FROM vendors
             WHERE vendor = ANY($1)",
            &[&vendors],
        )?;
        let read = |row: &Row| {
            let (is_paused, is_limited, has_strikes) = (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
            Ok((row.try_get(0)?, VendorState { is_paused, is_limited, has_strikes, halvings: count(row.try_get(4)?) }))
        };
        Ok(Self(rows.iter().map(read).collect::<Result<_, StoreError>>()?))
    }

    /// Returns whether calls may be sent without looking at their number.
    pub(super) fn is_free(&self, vendor: &str) -> bool {
        self.0.get(vendor).is_none_or(|state| !state.is_paused && !state.is_limited)
    }

    /// Returns whether a success changes nothing.
    pub(super) fn is_calm(&self, vendor: &str) -> bool {
        self.0.get(vendor).is_none_or(|state| !state.is_limited && !state.has_strikes)
    }

    pub(super) fn halvings(&self, vendor: &str) -> u64 {
        self.0.get(vendor).map_or(0, |state| state.halvings)
    }
}

/// Returns whether a call may be sent now. The row is locked only while the vendor has a limit.
pub(super) fn gate(sql: &QueueSql<'_>, vendor: &str) -> Result<VendorGate, StoreError> {
    let row = sql.query_first(
        "SELECT extract(epoch FROM paused_until - clock_timestamp())::double precision, at_once, halvings FROM vendors WHERE vendor = $1",
        &[&vendor],
    )?;
    let Some(row) = row else { return Ok(VendorGate::Open { halvings: 0 }) };
    let (pause_s, limit, halvings): (Option<f64>, Option<f64>, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    if let Some(pause_s) = pause_s.filter(|pause_s| *pause_s > 0.0) {
        return Ok(VendorGate::Paused(Duration::from_secs_f64(pause_s).min(LONGEST_LOOK)));
    }
    if limit.is_some() && is_full(sql, vendor)? {
        return Ok(VendorGate::Paused(FULL_PAUSE));
    }
    Ok(VendorGate::Open { halvings: count(halvings) })
}

/// Returns whether as many calls are under way as the vendor takes. The lock keeps others from counting at the same time.
fn is_full(sql: &QueueSql<'_>, vendor: &str) -> Result<bool, StoreError> {
    let limit = sql.query_first("SELECT at_once FROM vendors WHERE vendor = $1 FOR UPDATE", &[&vendor])?;
    let Some(limit) = limit.map(|row| row.try_get::<_, Option<f64>>(0)).transpose()?.flatten() else { return Ok(false) };
    let under_way = sql.query_first("SELECT count(*) FROM calls WHERE vendor = $1 AND state = 'reserved'", &[&vendor])?;
    let under_way: i64 = under_way.map_or(Ok(0), |row| row.try_get(0))?;
    Ok(under_way as f64 + 1.0 > limit)
}

/// Halves the limit of a vendor and pauses it.
pub(super) fn throttle(sql: &QueueSql<'_>, fault: &VendorThrottle) -> Result<(), StoreError> {
    let wait_s = fault.wait.map(|wait| wait.as_secs_f64().min(3600.0));
    sql.execute("INSERT INTO vendors (vendor) VALUES ($1) ON CONFLICT (vendor) DO NOTHING", &[&fault.vendor])?;
    let halved = sql.execute(
        "UPDATE vendors SET halvings = halvings + 1, strikes = strikes + 1,
             at_once = greatest(coalesce(at_once, (SELECT count(*) FROM calls WHERE vendor = $1 AND state = 'reserved') + 1) / 2.0, 1.0),
             paused_until = greatest(paused_until,
                 clock_timestamp() + make_interval(secs => coalesce($3::float8, least($4::float8 * power(2::float8, least(strikes, 16)::float8), $5::float8))))
         WHERE vendor = $1 AND halvings = $2",
        &[&fault.vendor, &column(fault.halvings), &wait_s, &FIRST_PAUSE_S, &LONGEST_PAUSE_S],
    )?;
    if halved == 0 && wait_s.is_some() {
        let later = "UPDATE vendors SET paused_until = greatest(paused_until, clock_timestamp() + make_interval(secs => $2::float8)) WHERE vendor = $1";
        sql.execute(later, &[&fault.vendor, &wait_s])?;
    }
    Ok(())
}

/// Raises the limit of a vendor after calls that succeeded, and ends its row of strikes.
pub(super) fn succeed(sql: &QueueSql<'_>, vendor: &str, calls: u64) -> Result<(), StoreError> {
    sql.execute(
        "UPDATE vendors SET strikes = 0, at_once = CASE WHEN at_once + $2::float8 / at_once < $3::float8 THEN at_once + $2::float8 / at_once END
         WHERE vendor = $1 AND (at_once IS NOT NULL OR strikes > 0)",
        &[&vendor, &(calls as f64), &MAX_AT_ONCE],
    )?;
    Ok(())
}
