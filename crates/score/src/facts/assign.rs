//! Optimal assignment of rows to columns (Kuhn-Munkres): maximises the sum of gains.

/// Returns the column of each row, each column at most once. Every gain is at least 1, so a row stays empty only if columns run out.
/// Time is O(rows² × (rows + columns)), so long trials need no limit.
pub(crate) fn assign(gain: &[Vec<i64>]) -> Vec<Option<usize>> {
    let columns = gain.first().map_or(0, Vec::len);
    // One dummy column per row, without gain.
    let width = columns + gain.len();
    let cost = |row: usize, column: usize| if column < columns { -gain[row][column] } else { 0 };
    let mut potentials = DualPotentials { rows: vec![0; gain.len() + 1], columns: vec![0; width + 1] };
    // Indices start at 1. Row 0 means free; column 0 holds the row to place.
    let mut holder = vec![0; width + 1];
    for row in 1..=gain.len() {
        holder[0] = row;
        augment_row(&cost, &mut potentials, &mut holder);
    }
    let mut assigned = vec![None; gain.len()];
    for (column, row) in holder.iter().enumerate().skip(1).take(columns).filter(|(_, row)| **row > 0) {
        assigned[row - 1] = Some(column - 1);
    }
    assigned
}

struct DualPotentials {
    rows: Vec<i64>,
    columns: Vec<i64>,
}

/// Places the row in column 0 along the cheapest augmenting path.
fn augment_row(cost: &impl Fn(usize, usize) -> i64, potentials: &mut DualPotentials, holder: &mut [usize]) {
    let mut slack = vec![i64::MAX; holder.len()];
    let mut came_from = vec![0; holder.len()];
    let mut used = vec![false; holder.len()];
    let mut at = 0;
    loop {
        used[at] = true;
        let row = holder[at];
        let (mut least, mut next) = (i64::MAX, 0);
        for column in (1..holder.len()).filter(|column| !used[*column]) {
            let reduced = cost(row - 1, column - 1) - potentials.rows[row] - potentials.columns[column];
            if reduced < slack[column] {
                (slack[column], came_from[column]) = (reduced, at);
            }
            if slack[column] < least {
                (least, next) = (slack[column], column);
            }
        }
        for column in 0..holder.len() {
            if used[column] {
                potentials.rows[holder[column]] += least;
                potentials.columns[column] -= least;
            } else {
                slack[column] -= least;
            }
        }
        at = next;
        if holder[at] == 0 {
            break;
        }
    }
    while at != 0 {
        holder[at] = holder[came_from[at]];
        at = came_from[at];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn total_gain(gain: &[Vec<i64>], assigned: &[Option<usize>]) -> i64 {
        assigned.iter().enumerate().filter_map(|(row, column)| column.map(|column| gain[row][column])).sum()
    }

    /// Tries every assignment.
    fn brute_force_gain(gain: &[Vec<i64>], row: usize, taken: &mut Vec<usize>) -> i64 {
        if row == gain.len() {
            return 0;
        }
        let mut most = brute_force_gain(gain, row + 1, taken);
        for column in 0..gain[row].len() {
            if !taken.contains(&column) {
                taken.push(column);
                most = most.max(gain[row][column] + brute_force_gain(gain, row + 1, taken));
                taken.pop();
            }
        }
        most
    }

    #[test]
    fn assign_handles_empty_rows_and_columns() {
        assert_eq!(assign(&[]), Vec::<Option<usize>>::new());
        assert_eq!(assign(&[vec![], vec![]]), vec![None, None]);
        assert_eq!(assign(&[vec![1], vec![5]]), vec![None, Some(0)]);
    }

    proptest! {
        #[test]
        fn assign_finds_maximum_gain(rows in 1_usize..5, columns in 1_usize..6, cells in proptest::collection::vec(1_i64..9, 30)) {
            let gain: Vec<Vec<i64>> = (0..rows).map(|row| cells[row * columns..(row + 1) * columns].to_vec()).collect();
            let assigned = assign(&gain);
            let mut taken: Vec<usize> = assigned.iter().flatten().copied().collect();
            taken.sort_unstable();
            taken.dedup();
            prop_assert_eq!(taken.len(), rows.min(columns), "each column at most once, and no row empty if a column is free");
            prop_assert_eq!(total_gain(&gain, &assigned), brute_force_gain(&gain, 0, &mut vec![]));
        }
    }
}
