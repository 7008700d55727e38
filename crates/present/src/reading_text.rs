//! Text of a reading.

use crate::escape::escape_control;
use model::Reading;

/// Formats a reading, such as `2 of 3`.
pub fn reading_text(reading: &Reading) -> String {
    match reading {
        Reading::Tally { of: 0, .. } => "not exercised".to_owned(),
        Reading::Tally { hit, of } => format!("{hit} of {of}"),
        Reading::Level(level) => format!("{level:.3}"),
        Reading::Unscorable { why } => format!("unscorable: {}", escape_control(why)),
    }
}
