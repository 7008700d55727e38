//! Markdown with YAML front matter, used by agents and skills.

use crate::problem::ProblemReport;

/// Splits a file into front matter and body. A byte order mark is ignored. The front matter starts on line 2 of the file.
pub(crate) fn split<'t>(text: &'t str, report: &ProblemReport) -> Option<(&'t str, &'t str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"));
    let Some(rest) = rest else {
        report.add(0, "the file does not start with front matter", "start it with a line ---, keys, and a line ---");
        return None;
    };
    let end = rest.match_indices("\n---").map(|(at, _)| at).find(|at| matches!(rest.as_bytes().get(at + 4), None | Some(b'\n' | b'\r')));
    let Some(end) = end else {
        report.add(0, "the front matter is not closed", "end it with a line ---");
        return None;
    };
    let body = rest[end + 4..].trim_start_matches(['\r', '\n']);
    Some((&rest[..=end], body))
}
