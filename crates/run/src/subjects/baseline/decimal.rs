//! Decimal numbers as people write them, kept exact as text.

/// "1,250.50", "1'000", "0,5", "1.250,75" as plain digits with at most one point; nothing where it is no number.
pub(super) fn plain(text: &str) -> Option<String> {
    if let Some(positive) = text.strip_prefix('-') {
        return plain(positive).filter(|_| !positive.starts_with('-')).map(|number| format!("-{number}"));
    }
    let text: String = text.chars().filter(|c| !matches!(c, '\'' | '_')).collect();
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.') || !text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',')) {
        return None;
    }
    let text = match (text.rfind(','), text.rfind('.')) {
        (Some(comma), Some(point)) if comma > point => text.replace('.', "").replace(',', "."),
        (Some(_), Some(_)) => text.replace(',', ""),
        (Some(_), None) if groups_of_three(&text) => text.replace(',', ""),
        (Some(_), None) => text.replacen(',', ".", 1),
        (None, _) => text,
    };
    let points = text.matches('.').count();
    (points <= 1 && text.chars().any(|c| c.is_ascii_digit())).then(|| tidy(&text))
}

fn groups_of_three(text: &str) -> bool {
    let mut groups = text.split(',');
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len()) && first != "0" && groups.all(|group| group.len() == 3)
}

/// No zeros that say nothing.
fn tidy(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

/// Times ten to the power of `places`.
pub(super) fn shifted(number: &str, places: i32) -> String {
    if let Some(positive) = number.strip_prefix('-') {
        return format!("-{}", shifted(positive, places));
    }
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut digits = format!("{whole}{fraction}");
    let mut point = i32::try_from(whole.len()).unwrap_or(i32::MAX).saturating_add(places);
    while point <= 0 {
        digits.insert(0, '0');
        point += 1;
    }
    let point = usize::try_from(point).unwrap_or(0);
    while digits.len() < point {
        digits.push('0');
    }
    tidy(&format!("{}.{}", &digits[..point], &digits[point..]))
}

pub(super) fn float(number: &str) -> f64 {
    number.parse().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_understood() {
        for (text, number) in [
            ("250", "250"),
            ("1,250.50", "1250.5"),
            ("1,000", "1000"),
            ("1,000,000", "1000000"),
            ("1'000", "1000"),
            ("0,5", "0.5"),
            ("1.250,75", "1250.75"),
            (".5", "0.5"),
            ("007", "7"),
            ("-12.50", "-12.5"),
        ] {
            assert_eq!(plain(text).as_deref(), Some(number), "{text}");
        }
        for text in ["", "v3", "1.2.3", "0x12", "12a", ",5", "."] {
            assert_eq!(plain(text), None, "{text}");
        }
    }

    #[test]
    fn shifting_is_exact() {
        for (number, places, shifted) in
            [("0.5", 2, "50"), ("250", 6, "250000000"), ("1", -4, "0.0001"), ("12.5", 0, "12.5"), ("0.05", 4, "500"), ("3", -1, "0.3")]
        {
            assert_eq!(super::shifted(number, places), shifted, "{number} {places}");
        }
    }
}
