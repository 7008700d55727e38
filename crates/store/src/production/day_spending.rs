//! Spending of a wallet in a day, from its transactions.

use super::records::DaySpending;

pub(super) const DAY_S: u64 = 86_400;

/// Transaction that took something from a wallet.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpendingRow {
    pub(super) at_s: u64,
    pub(super) nonce: u64,
    /// Millionths of a dollar; absent if the value is not known.
    pub(super) micros: Option<u64>,
    /// The transaction that is noted.
    pub(super) is_noted: bool,
}

impl SpendingRow {
    fn place(&self) -> (u64, u64) {
        (self.at_s, self.nonce)
    }
}

/// Holds the days that end with a transaction or a later one against a limit. `rows` are those of its wallet within a day of it. A later
/// day counts only if this transaction alone brings it over the limit.
pub(super) fn day_spending(mut rows: Vec<SpendingRow>, limit: u64) -> DaySpending {
    rows.sort_unstable_by_key(SpendingRow::place);
    let Some(noted) = rows.iter().find(|row| row.is_noted).copied() else { return DaySpending::Within };
    // Sums and counts of unknown values before each row, so that a day is a difference.
    let (mut sums, mut unknown) = (vec![0_u128], vec![0_u64]);
    for (at, row) in rows.iter().enumerate() {
        sums.push(sums[at] + u128::from(row.micros.unwrap_or(0)));
        unknown.push(unknown[at] + u64::from(row.micros.is_none()));
    }
    let (limit, own) = (u128::from(limit), u128::from(noted.micros.unwrap_or(0)));
    let (mut over, mut is_unknown) = (None, false);
    for last in rows.iter().filter(|row| row.place() >= noted.place()) {
        let begin = rows.partition_point(|row| row.at_s.saturating_add(DAY_S) <= last.at_s);
        let end = rows.partition_point(|row| row.place() <= last.place());
        let total = sums[end] - sums[begin];
        if total > limit && (last.is_noted || total - own <= limit) {
            over = over.max(Some(total));
        }
        is_unknown |= last.is_noted && unknown[end] > unknown[begin];
    }
    match over {
        Some(total) => DaySpending::Over { micros: u64::try_from(total).unwrap_or(u64::MAX) },
        None if is_unknown => DaySpending::Unknown,
        None => DaySpending::Within,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_days_are_exact_and_never_overflow() {
        let row = |nonce, micros, is_noted| SpendingRow { at_s: 5, nonce, micros: Some(micros), is_noted };
        // Ten cents thrice are not more than thirty, as they would be in binary fractions.
        let dimes: Vec<SpendingRow> = (0..3).map(|n| row(n, 100_000, n == 2)).collect();
        assert_eq!(day_spending(dimes, 300_000), DaySpending::Within);
        let huge: Vec<SpendingRow> = (0..3).map(|n| row(n, u64::MAX, n == 2)).collect();
        assert_eq!(day_spending(huge, 7), DaySpending::Over { micros: u64::MAX });
        assert_eq!(day_spending(vec![], 7), DaySpending::Within);
    }
}
