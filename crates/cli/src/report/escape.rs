//! Escapes untrusted text of files and agents for terminals and tables.

/// Returns text for a cell of a Markdown table.
pub(super) fn escape_cell(text: &str) -> String {
    escape_control(text).replace('|', "\\|")
}

/// Returns text with its control characters escaped, so that it cannot steer a terminal.
pub(crate) fn escape_control(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect()
}
