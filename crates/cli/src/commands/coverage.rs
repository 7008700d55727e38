//! `list coverage`: cases by part of the workspace, beside the minimums.

use model::Workspace;
use score::coverage::{CoverageGroup, CoverageRow, coverage};

/// Returns one row per part, or per group of parts with the least, median and largest number of cases.
pub(super) fn coverage_table(workspace: &Workspace, each: bool) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let rows = coverage(workspace);
    if each {
        let row = |row: &CoverageRow| {
            vec![
                row.group.word().to_owned(),
                row.item.clone(),
                row.cases.to_string(),
                minimum(row.needed),
                shortfall(usize::from(row.is_short())),
            ]
        };
        return (vec!["part", "item", "cases", "needed", "short"], rows.iter().map(row).collect());
    }
    let groups = CoverageGroup::ALL.iter().filter(|group| is_summed(**group));
    let mut table: Vec<Vec<String>> = groups.filter_map(|group| group_row(*group, &rows)).collect();
    table.extend(rows.iter().filter(|row| !is_summed(row.group)).map(item_row));
    (vec!["part", "items", "without", "least", "median", "most", "needed", "short"], table)
}

/// Returns whether a group has too many items for one row each.
fn is_summed(group: CoverageGroup) -> bool {
    match group {
        CoverageGroup::Agent
        | CoverageGroup::Skill
        | CoverageGroup::CarriedOutSkill
        | CoverageGroup::Tool
        | CoverageGroup::WriteTool
        | CoverageGroup::Delegation => true,
        CoverageGroup::Suite
        | CoverageGroup::Chain
        | CoverageGroup::World
        | CoverageGroup::Language
        | CoverageGroup::Turns
        | CoverageGroup::Total => false,
    }
}

fn group_row(group: CoverageGroup, rows: &[CoverageRow]) -> Option<Vec<String>> {
    let rows: Vec<&CoverageRow> = rows.iter().filter(|row| row.group == group).collect();
    let mut cases: Vec<u64> = rows.iter().map(|row| row.cases).collect();
    cases.sort_unstable();
    let (least, most) = (cases.first()?, cases.last()?);
    let needed = rows.iter().map(|row| row.needed).max().unwrap_or_default();
    let without = cases.iter().filter(|cases| **cases == 0).count();
    let short = rows.iter().filter(|row| row.is_short()).count();
    Some(vec![
        group.word().to_owned(),
        rows.len().to_string(),
        without.to_string(),
        least.to_string(),
        cases[cases.len() / 2].to_string(),
        most.to_string(),
        minimum(needed),
        shortfall(short),
    ])
}

fn item_row(row: &CoverageRow) -> Vec<String> {
    let cases = row.cases.to_string();
    let short = shortfall(usize::from(row.is_short()));
    let empty = String::new;
    vec![format!("{} {}", row.group.word(), row.item), empty(), empty(), cases, empty(), empty(), minimum(row.needed), short]
}

fn minimum(needed: u64) -> String {
    if needed == 0 { String::new() } else { needed.to_string() }
}

fn shortfall(short: usize) -> String {
    if short == 0 { String::new() } else { short.to_string() }
}
