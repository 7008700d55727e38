//! Tables of plain text.

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};

/// Formats columns without borders. Long cells are not wrapped, so that each row stays one line.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled).set_header(header).add_rows(rows);
    let lines: Vec<String> = table.to_string().lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}
