//! Evidence that gates demand.

use clap::Args;
use model::UserError;

/// Evidence a gate must have before it is met.
#[derive(Debug, Args)]
pub(crate) struct EvidenceArgs {
    /// Hold each bound to its one-sided limit at this confidence, such as 0.95, instead of to the rate seen
    #[arg(long, value_name = "C", value_parser = parse_fraction)]
    pub confidence: Option<f64>,
    /// Gates that allow no miss must rule out, at 95 %, failing this often, such as 0.05
    #[arg(long, value_name = "P", value_parser = parse_fraction)]
    pub rule_out: Option<f64>,
    /// Count what finished agents merely claim (delegations, verdicts of their own guard) as if it had been seen
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub trust_claims: Option<bool>,
}

/// Parses a number between 0 and 1, both excluded.
fn parse_fraction(text: &str) -> Result<f64, UserError> {
    let number: f64 = text.parse().map_err(|_| UserError::without_remedy("it is not a number"))?;
    if number > 0.0 && number < 1.0 { Ok(number) } else { Err(UserError::without_remedy("it must lie between 0 and 1, as in 0.95")) }
}
