//! Partitions by month.

use super::PgTraces;
use crate::StoreError;
use crate::postgres::{PgFault, PgFaultKind, get};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

const MS_PER_DAY: u64 = 86_400_000;
/// Tables with a partition for each month.
pub(super) const MONTHLY_TABLES: [&str; 3] = ["spans", "traces", "dropped"];

/// Months whose partitions this connection has seen.
#[derive(Debug, Default)]
pub(super) struct KnownMonths(Mutex<BTreeSet<i32>>);

/// Returns the month of a time in UTC as six digits, such as 202611.
pub(super) fn month_of(ms: u64) -> i32 {
    // Days since 1 March of year 0, in eras of 400 years; months are counted from March, so that the leap day is the last of a year.
    let days = ms / MS_PER_DAY + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year_of_era = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    i32::try_from(year * 100 + month).unwrap_or(i32::MAX)
}

impl PgTraces {
    /// Creates the partitions of a month if they are missing. Returns the month.
    pub(super) fn ensure_month(&self, ms: u64) -> Result<i32, StoreError> {
        let month = month_of(ms);
        if !self.months().contains(&month) {
            self.create_month(month)?;
            self.months().insert(month);
        }
        Ok(month)
    }

    fn create_month(&self, month: i32) -> Result<(), StoreError> {
        let exist = MONTHLY_TABLES.map(|table| format!("to_regclass('{table}_{month}') IS NOT NULL")).join(" AND ");
        let found = self.connection.query(format!("SELECT {exist}"), vec![])?;
        if found.first().map(|row| get::<bool>(row, 0)).transpose()? == Some(true) {
            return Ok(());
        }
        let create = MONTHLY_TABLES
            .map(|table| format!("CREATE TABLE IF NOT EXISTS {table}_{month} PARTITION OF {table} FOR VALUES IN ({month})"))
            .join("; ");
        self.transact_in_turn(move |mut transaction| {
            let create = create.clone();
            Box::pin(async move { transaction.batch(&create).await })
        })
    }

    /// Runs a write again if another process has dropped a month meanwhile that this one took for granted.
    pub(super) fn with_month<T>(&self, ms: u64, write: impl Fn(i32) -> Result<T, StoreError>) -> Result<T, StoreError> {
        match write(self.ensure_month(ms)?) {
            Err(StoreError::Postgres(PgFault { kind: PgFaultKind::RowRefused, .. })) => {
                self.months().clear();
                write(self.ensure_month(ms)?)
            }
            result => result,
        }
    }

    fn months(&self) -> std::sync::MutexGuard<'_, BTreeSet<i32>> {
        self.known_months.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_follow_the_calendar() {
        let days = |n: u64| month_of(n * MS_PER_DAY);
        assert_eq!([days(0), days(30), days(31), days(58), days(59)], [197_001, 197_001, 197_002, 197_002, 197_003]);
        // 29 February and 1 March 2024, 31 December 2024, 1 January 2025, 18 November 2026.
        assert_eq!([days(19_782), days(19_783)], [202_402, 202_403]);
        assert_eq!([days(20_088), days(20_089), days(20_775)], [202_412, 202_501, 202_611]);
        assert_eq!(month_of(31 * MS_PER_DAY - 1), 197_001, "the last millisecond");
    }
}
