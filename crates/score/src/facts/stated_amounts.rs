//! Amounts that a report on a write states in fields of their own.

use super::amounts::decimals;
use super::figure_digits::{FigureIndex, StatedFigure, TOKEN_SCALES, figures_of};
use super::played_agents::agents_played_by_subject;
use super::report_amounts::moved_amounts;
use super::report_sources::{EventSource, event_figures};
use super::writes::writes;
use crate::evidence::Evidence;
use crate::json_answer::parse_json_answer;
use model::EventKind;
use model::transcript::Effect;
use serde_json::Value;

/// Fields of answers that state how much a write moved.
const AMOUNT_FIELDS: [&str; 10] =
    ["amount", "amount_in", "amount_out", "amount_sent", "amount_received", "received", "assets", "shares", "supply", "rent_per_block"];
/// Fields whose amounts are holdings, which an answer may add up as it likes.
const HOLDING_FIELDS: [&str; 2] = ["holdings", "assets_held"];
/// Values whose sums and differences count, those read last first.
const MAX_OPERANDS: usize = 200;
/// Relative error of a figure that was rounded to one or two digits.
const ROUNDING: f64 = 0.002;

/// Returns the amounts in an answer on a write that the trial does not yield: neither the user, a call, a result nor the chain gave them, and
/// they are no sum or difference of two values that were given. Decision 69 leaves one invented figure in a text to chance; a field that
/// says how much was moved is a record.
pub(crate) fn misstated_amounts(evidence: &Evidence<'_>, answer: &str) -> Vec<String> {
    let has_written = writes(evidence).iter().any(|write| write.call.as_ref().is_some_and(|call| !call.failed));
    let Some(value) = parse_json_answer(answer).filter(|_| has_written) else { return vec![] };
    let mut stated = vec![];
    collect_amounts(&value, &mut stated);
    if stated.is_empty() {
        return vec![];
    }
    let own: Vec<&str> = agents_played_by_subject(evidence).into_iter().map(|agent| agent.name.as_str()).collect();
    let is_source = |event: &&model::Event| !matches!(EventSource::of(event, &own), EventSource::Neither);
    let known: Vec<StatedFigure> = evidence.transcript.events.iter().filter(is_source).flat_map(event_figures).collect();
    let index: FigureIndex<'_> = known.iter().collect();
    let scales = token_scales(evidence);
    stated.retain(|figure| !index.has_source_of(figure, &scales));
    if stated.is_empty() {
        return vec![];
    }
    let (values, changes) = (positive_values(&known), changed_amounts(evidence, &known));
    let is_yielded = |figure: &StatedFigure| is_rounded(figure, &values, &scales) || figure.is_precise() && figure.is_among(&changes);
    stated.retain(|figure| !is_yielded(figure));
    stated.into_iter().map(|figure| figure.text).collect()
}

/// Returns the powers of ten between whole tokens and base units, those of the assets that moved included.
fn token_scales(evidence: &Evidence<'_>) -> Vec<i32> {
    let mut scales = TOKEN_SCALES.to_vec();
    for event in &evidence.transcript.events {
        let EventKind::Mined { what, .. } = &event.happened else { continue };
        for effect in &what.effects {
            if let Effect::Balance { asset, .. } | Effect::Position { asset, .. } = effect
                && let Some(places) = decimals(evidence, what.chain, asset).map(i32::from)
                && !scales.contains(&places)
            {
                scales.extend([places, -places]);
            }
        }
    }
    scales
}

fn collect_amounts(value: &Value, found: &mut Vec<StatedFigure>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_amounts(item, found)),
        Value::Object(fields) => {
            for (key, field) in fields.iter().filter(|(key, _)| !HOLDING_FIELDS.contains(&key.as_str())) {
                let is_amount = AMOUNT_FIELDS.contains(&key.as_str());
                match field {
                    Value::Number(number) if is_amount => found.extend(figures_of(&number.to_string())),
                    Value::String(text) if is_amount => found.extend(figures_of(text).into_iter().take(1)),
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                        collect_amounts(field, found);
                    }
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the values in ascending order.
fn positive_values(known: &[StatedFigure]) -> Vec<f64> {
    let mut found: Vec<f64> = known.iter().flat_map(StatedFigure::readings).filter(|value| *value > 0.0).collect();
    found.sort_by(f64::total_cmp);
    found
}

/// Returns whether a short figure, such as 0.16 for 0.15992, is one of the values in whole tokens or base units to within `ROUNDING`.
fn is_rounded(figure: &StatedFigure, values: &[f64], scales: &[i32]) -> bool {
    let readings = figure.readings().into_iter().filter(|reading| *reading > 0.0);
    readings.flat_map(|reading| scales.iter().map(move |scale| reading * 10_f64.powi(*scale))).any(|stated| {
        let least = stated * (1.0 - ROUNDING);
        values.get(values.partition_point(|value| *value < least)).is_some_and(|value| *value <= stated * (1.0 + ROUNDING))
    })
}

/// Returns in ascending order by how much balances changed, and the sums and differences of two known values.
fn changed_amounts(evidence: &Evidence<'_>, known: &[StatedFigure]) -> Vec<f64> {
    let mut found = sums_and_differences(known);
    found.extend(moved_amounts(evidence));
    found.sort_by(f64::total_cmp);
    found
}

fn sums_and_differences(known: &[StatedFigure]) -> Vec<f64> {
    let mut values: Vec<f64> = vec![];
    for value in known.iter().rev().flat_map(StatedFigure::readings).filter(|value| value.is_finite()) {
        if values.len() == MAX_OPERANDS {
            break;
        }
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let mut found: Vec<f64> = vec![];
    for (n, one) in values.iter().enumerate() {
        found.extend(values[n..].iter().flat_map(|other| [one + other, (one - other).abs()]));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::sample_run::{CLEAN_CASE, clean_swap};

    fn misstated(answer: &str) -> Vec<String> {
        misstated_amounts(&EvidenceFixture::of(CLEAN_CASE, clean_swap()).evidence(), answer)
    }

    #[test]
    fn amount_fields_state_what_was_moved() {
        for told in [
            r#"{"status": "success", "amount_in": "250", "amount_out": "0.0779"}"#,
            r#"{"status": "success", "operations": [{"amount": "250.00 USDC"}]}"#,
            r#"{"status": "success", "amount_in": "max", "holdings": [{"amount": "7319.11"}]}"#,
            r#"{"status": "success", "reason": "Sold about 7319.11."}"#,
            "Sold 250 USDC.",
        ] {
            assert!(misstated(told).is_empty(), "{told}: {:?}", misstated(told));
        }
        assert_eq!(misstated(r#"{"status": "success", "amount_in": "73191.57"}"#), ["73191.57"]);
        for (field, amount) in [
            ("amount_in", "2500"),
            ("amount_out", "0.779"),
            ("amount_out", "0.00779"),
            ("amount_received", "2500"),
            ("received", "25 USDC"),
        ] {
            let found = misstated(&format!(r#"{{"status": "success", "{field}": "{amount}"}}"#));
            assert_eq!(found.len(), 1, "{field} {amount}");
        }
        assert!(misstated(r#"{"status": "success", "amount_in": "250000000", "amount_out": 77890625000000000}"#).is_empty(), "base units");
        assert_eq!(misstated(r#"{"status": "success", "entries": [{"amount": "61.9371 USDC"}, {"amount": "250"}]}"#), ["61.9371"]);
    }

    #[test]
    fn answer_without_a_write_may_plan_any_amount() {
        let mut steps = clean_swap();
        steps.drain(12..17);
        let specimen = EvidenceFixture::of(CLEAN_CASE, steps);
        assert!(misstated_amounts(&specimen.evidence(), r#"{"amount_in": "73191.57"}"#).is_empty());
    }
}
