//! Two values of a measure, before and after.

/// Digits after the point, and the most that are shown to tell two values apart.
const DIGITS: usize = 3;
const MAX_DIGITS: usize = 9;

/// Formats both values with as many digits as it takes to see that they differ; an absent one is a dash.
pub fn changed_values(before: Option<f64>, after: Option<f64>) -> [String; 2] {
    let digits = match (before, after) {
        (Some(before), Some(after)) => (DIGITS..=MAX_DIGITS).find(|digits| format!("{before:.digits$}") != format!("{after:.digits$}")),
        (Some(_) | None, _) => None,
    };
    let digits = digits.unwrap_or(DIGITS);
    [before, after].map(|value| value.map_or("–".to_owned(), |value| format!("{value:.digits$}")))
}

#[cfg(test)]
mod tests {
    use super::changed_values;

    #[test]
    fn values_that_differ_look_different() {
        let shown = |before, after| changed_values(before, after).join(" ");
        assert_eq!(shown(Some(0.5), Some(1.0)), "0.500 1.000");
        assert_eq!(shown(Some(0.320_04), Some(0.319_96)), "0.32004 0.31996");
        assert_eq!((shown(Some(0.32), Some(0.32)), shown(Some(0.1), None)), ("0.320 0.320".to_owned(), "0.100 –".to_owned()));
    }
}
