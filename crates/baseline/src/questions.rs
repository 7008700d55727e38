//! Questions for missing parameters, built from their names and descriptions.

use crate::param_slots::ParamSlots;

pub(crate) fn ask_for_missing(shape: &ParamSlots, missing: &[String]) -> String {
    let parts: Vec<String> = missing
        .iter()
        .filter_map(|name| shape.slot(name))
        .map(|slot| format!("the {} ({})", slot.spoken_name(), slot.about.trim_end_matches('.')))
        .collect();
    match parts.as_slice() {
        [] => "Could you rephrase that?".to_owned(),
        [one] => format!("What is {one}?"),
        [first @ .., last] => format!("What are {} and {last}?", first.join(", ")),
    }
}
