//! Plain columns.

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};

/// Columns without borders; long cells are never wrapped, so that lines can be searched and cut.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled).set_header(header).add_rows(rows);
    let lines: Vec<String> = table.to_string().lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}
