//! Exit code of promptfoo for a run, from its two environment variables.

use crate::test_row::RunTotals;
use model::Decimal;

/// Exit code for failed tests, unless `PROMPTFOO_FAILED_TEST_EXIT_CODE` names another.
const TESTS_FAILED: u8 = 100;
const ALL_PERCENT: f64 = 100.0;

/// Returns the exit code that promptfoo gives a run. `variable` reads the environment. As there, a threshold that is no finite number and a
/// code that no process can have are ignored.
pub fn promptfoo_exit_code(totals: &RunTotals, variable: impl Fn(&str) -> Option<String>) -> u8 {
    let threshold =
        variable("PROMPTFOO_PASS_RATE_THRESHOLD").and_then(|text| text.trim().parse::<f64>().ok()).filter(|wanted| wanted.is_finite());
    let failed = variable("PROMPTFOO_FAILED_TEST_EXIT_CODE").and_then(|text| Decimal::parse_strict(text.trim())?.as_u64()?.try_into().ok());
    // Without tests the rate is not a number, which is not below anything.
    let rate = totals.passed as f64 / totals.total() as f64 * ALL_PERCENT;
    if rate < threshold.unwrap_or(ALL_PERCENT) { failed.unwrap_or(TESTS_FAILED) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(passed: usize, failed: usize, threshold: &str, code: &str) -> u8 {
        let totals = RunTotals { passed, failed, ..RunTotals::default() };
        promptfoo_exit_code(&totals, |name| match name {
            "PROMPTFOO_PASS_RATE_THRESHOLD" => Some(threshold.to_owned()),
            "PROMPTFOO_FAILED_TEST_EXIT_CODE" => Some(code.to_owned()),
            _ => None,
        })
    }

    #[test]
    fn threshold_and_code_are_those_of_the_environment() {
        assert_eq!((code(1, 1, "", ""), code(2, 0, "", "")), (100, 0));
        assert_eq!((code(1, 1, "50", ""), code(1, 1, "50.5", "7"), code(1, 1, " 90 ", " 3.0 ")), (0, 7, 3));
        assert_eq!(code(1, 1, "", "0"), 0, "a user may not want to fail");
        assert_eq!(code(0, 0, "", ""), 0, "no tests");
    }

    #[test]
    fn values_that_are_no_threshold_or_code_are_ignored() {
        for threshold in ["nan", "NaN", "inf", "-inf", "most"] {
            assert_eq!(code(1, 1, threshold, ""), 100, "{threshold}");
        }
        for wrong in ["nan", "-1", "256", "1.5", "inf", "one"] {
            assert_eq!(code(1, 1, "", wrong), 100, "{wrong}");
        }
    }
}
