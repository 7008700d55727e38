//! Arguments that set the evidence required of gates.

use clap::Args;
use model::UserError;

/// Evidence required of gates.
#[derive(Debug, Args)]
pub(crate) struct EvidenceArgs {
    /// Judge each bound by its one-sided limit at this confidence, such as 0.95, instead of by the observed rate
    #[arg(long, value_name = "C", value_parser = parse_fraction)]
    pub confidence: Option<f64>,
    /// Require zero-tolerance gates to rule out a failure rate of P, such as 0.05, at 95 % confidence
    #[arg(long, value_name = "P", value_parser = parse_fraction)]
    pub rule_out: Option<f64>,
    /// Count unverified claims of external agents (delegations, verdicts of their own guard) as observed
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub trust_claims: Option<bool>,
}

/// Parses a number between 0 and 1, both excluded.
fn parse_fraction(text: &str) -> Result<f64, UserError> {
    let number: f64 = text.parse().map_err(|_| UserError::without_remedy("not a number"))?;
    if number > 0.0 && number < 1.0 { Ok(number) } else { Err(UserError::without_remedy("must be between 0 and 1, such as 0.95")) }
}

/// Parses a number between 0 and 1, both included.
pub(super) fn parse_share(text: &str) -> Result<f64, UserError> {
    let number: f64 = text.parse().map_err(|_| UserError::without_remedy("not a number"))?;
    if (0.0..=1.0).contains(&number) { Ok(number) } else { Err(UserError::without_remedy("must be between 0 and 1, such as 0.8")) }
}
