//! Rate of judged cases with the errors of the judge taken out (Rogan and Gladen), and an interval that carries the uncertainty of both
//! the cases and the calibration (Lang and Reiczigel).

use super::interval::Z;

/// Errors of a judge on labelled examples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgeErrorRates {
    /// Examples labelled as passing, and the share of them that the judge passed.
    pub passing: f64,
    pub sensitivity: f64,
    /// Examples labelled as failing, and the share of them that the judge failed.
    pub failing: f64,
    pub specificity: f64,
}

/// Rate without the errors of the judge, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorrectedRate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl JudgeErrorRates {
    /// Corrects a rate over `n` observations. `None` without examples of both labels, or if the judge is no better than chance.
    pub fn correct(&self, rate: f64, n: f64) -> Option<CorrectedRate> {
        let skill = self.sensitivity + self.specificity - 1.0;
        if n <= 0.0 || self.passing <= 0.0 || self.failing <= 0.0 || skill <= 0.0 {
            return None;
        }
        let value = ((rate + self.specificity - 1.0) / skill).clamp(0.0, 1.0);
        // Added observations, as in the interval of Agresti and Coull, keep the variance of a perfect calibration above 0.
        let (n, rate) = (n + Z * Z, (n * rate + Z * Z / 2.0) / (n + Z * Z));
        let (passing, sensitivity) = (self.passing + 2.0, (self.passing * self.sensitivity + 1.0) / (self.passing + 2.0));
        let (failing, specificity) = (self.failing + 2.0, (self.failing * self.specificity + 1.0) / (self.failing + 2.0));
        let skill = sensitivity + specificity - 1.0;
        if skill <= 0.0 {
            return None;
        }
        let middle = (rate + specificity - 1.0) / skill;
        let of_sensitivity = sensitivity * (1.0 - sensitivity) / passing;
        let of_specificity = specificity * (1.0 - specificity) / failing;
        let shift = 2.0 * Z * Z * (middle * of_sensitivity - (1.0 - middle) * of_specificity);
        let variance = rate * (1.0 - rate) / n + (1.0 - middle).powi(2) * of_specificity + middle.powi(2) * of_sensitivity;
        let half = Z * variance.sqrt() / skill;
        Some(CorrectedRate { value, low: (middle + shift - half).clamp(0.0, value), high: (middle + shift + half).clamp(value, 1.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(passing: f64, sensitivity: f64, failing: f64, specificity: f64) -> JudgeErrorRates {
        JudgeErrorRates { passing, sensitivity, failing, specificity }
    }

    #[test]
    fn rogan_gladen_takes_the_errors_out() {
        // 0.8 × 0.9 + 0.2 × 0.3 = 0.78 pass a judge with these errors.
        let corrected = judge(100.0, 0.9, 100.0, 0.7).correct(0.78, 200.0).unwrap();
        assert!((corrected.value - 0.8).abs() < 1e-12, "{corrected:?}");
        assert!(corrected.low < 0.75 && corrected.high > 0.85, "{corrected:?}");
    }

    #[test]
    fn interval_is_wider_than_that_of_the_cases_alone() {
        let (low, high) = super::super::wilson(160, 200).unwrap();
        let perfect = judge(1e9, 1.0, 1e9, 1.0).correct(0.8, 200.0).unwrap();
        assert!((perfect.low - low).abs() < 0.01 && (perfect.high - high).abs() < 0.01, "{perfect:?}");
        let few = judge(10.0, 0.9, 10.0, 0.9).correct(0.8, 200.0).unwrap();
        assert!(few.high - few.low > 1.5 * (high - low), "{few:?}");
    }

    #[test]
    fn useless_judges_correct_nothing() {
        assert_eq!(judge(50.0, 0.5, 50.0, 0.5).correct(0.8, 20.0), None);
        assert_eq!(judge(0.0, 1.0, 50.0, 1.0).correct(0.8, 20.0), None);
        assert_eq!(judge(50.0, 1.0, 50.0, 1.0).correct(0.8, 0.0), None);
    }
}
