//! Figures multiplied by a power of ten, digit by digit.

/// Digits after a comma that separates thousands.
const GROUP: usize = 3;

/// Returns a figure, times a power of ten, without separators of thousands. A comma is a decimal one unless three digits follow it, a dot
/// unless there are several.
pub(super) fn shifted(figure: &str, power: i32) -> String {
    let mark = figure.rfind(['.', ',']).filter(|at| {
        let same = figure.matches(&figure[*at..=*at]).count();
        same == 1 && (figure[*at..].starts_with('.') || figure[*at + 1..].len() != GROUP || figure.contains('.'))
    });
    let (whole, fraction) = mark.map_or((figure, ""), |at| (&figure[..at], &figure[at + 1..]));
    let digits_of = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let (mut whole, fraction) = (digits_of(whole), digits_of(fraction));
    let moved = usize::try_from(power).unwrap_or_default();
    whole.push_str(&fraction[..moved.min(fraction.len())]);
    whole.extend(std::iter::repeat_n('0', moved.saturating_sub(fraction.len())));
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let rest = fraction.get(moved..).unwrap_or_default().trim_end_matches('0');
    if rest.is_empty() { whole.to_owned() } else { format!("{whole}.{rest}") }
}
