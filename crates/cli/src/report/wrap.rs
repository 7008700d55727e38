//! Text that fits a width: rows whose last column wraps at words.

/// Space between two columns.
const GAP: usize = 2;
/// Narrowest last column; on smaller screens the terminal wraps.
const MIN_LAST: usize = 20;

/// Formats rows of equal length. Columns are as wide as their widest cell; the last one wraps at words, indented to its column.
/// `indent` spaces stand before each line.
pub(super) fn fitted_rows(rows: &[Vec<PaintedCell>], width: usize, indent: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(PaintedCell::width).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns.saturating_sub(1)).map(widest).collect();
    let start = indent + widths.iter().map(|width| width + GAP).sum::<usize>();
    let room = width.saturating_sub(start).max(MIN_LAST);
    let mut text = String::new();
    for row in rows {
        let mut line = " ".repeat(indent);
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&cell.painted);
            line.push_str(&" ".repeat(width + GAP - cell.width()));
        }
        if let Some(last) = row.get(widths.len()) {
            let mut parts = wrap(&last.plain, room).into_iter();
            line.push_str(&parts.next().unwrap_or_default());
            for part in parts {
                text.push_str(line.trim_end());
                text.push('\n');
                line = format!("{}{part}", " ".repeat(start));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Breaks text at spaces so that each line has at most `width` characters. Longer words keep their line to themselves.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let line = lines.last_mut().map(|line| (line.chars().count(), line));
        match line {
            Some((length, line)) if length == 0 || length + 1 + word.chars().count() <= width => {
                if length > 0 {
                    line.push(' ');
                }
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Cell of a row: text, and the same with colours, which take no room.
#[derive(Debug, Clone)]
pub(super) struct PaintedCell {
    plain: String,
    painted: String,
}

impl PaintedCell {
    pub(super) fn new(plain: impl Into<String>, paint: impl FnOnce(&str) -> String) -> Self {
        let plain = plain.into();
        Self { painted: paint(&plain), plain }
    }

    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self::new(text, str::to_owned)
    }

    /// Returns a cell whose text stands at the right of `width` characters.
    pub(super) fn right(text: &str, width: usize, paint: impl FnOnce(&str) -> String) -> Self {
        Self::new(format!("{text:>width$}"), paint)
    }

    fn width(&self) -> usize {
        self.plain.chars().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_column_wraps_at_words_below_itself() {
        let rows = vec![
            vec![PaintedCell::plain("a"), PaintedCell::plain("the last column is long")],
            vec![PaintedCell::plain("longer"), PaintedCell::plain("short")],
        ];
        let text = fitted_rows(&rows, 30, 1);
        assert_eq!(text, " a       the last column is\n         long\n longer  short\n");
        assert!(text.lines().all(|line| line.chars().count() <= 30));
    }

    #[test]
    fn wrapped_words_start_no_workflow_command() {
        let text = present::escape::escape_control("a ::error::b  ::stop-commands::c ##[error]d \u{2003}::add-mask::e");
        for width in 1..60 {
            let rows = fitted_rows(&[vec![PaintedCell::plain("x"), PaintedCell::plain(text.as_str())]], width, 1);
            assert!(rows.lines().all(|line| !line.trim_start().starts_with("::") && !line.contains("##[")), "{width}: {rows}");
        }
    }

    #[test]
    fn words_are_never_cut() {
        assert_eq!(wrap("a_very_long_name and more", 8), ["a_very_long_name", "and more"]);
        assert_eq!(wrap("", 8), [""]);
    }
}
