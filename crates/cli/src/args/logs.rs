//! Arguments about logs of other frameworks.

use super::run::parse_tier;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use foreign::{ForbiddenCall, LogFormat};
use model::UserError;

/// Logs of other frameworks.
#[derive(Debug, Args)]
#[command(next_help_heading = "Logs of other frameworks")]
pub(crate) struct LogArgs {
    /// Format of the logs [default: recognised from the first item of each file]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    pub from: Option<LogFormat>,
    /// Judge every gate of this tier, with its minimum of cases [default: the gates that the recorded cases concern]
    #[arg(long, value_name = "N", value_parser = parse_tier)]
    pub tier: Option<u64>,
    /// Text that only the attacker's payload has, such as an address; repeatable
    #[arg(long, value_name = "TEXT")]
    pub canary: Vec<String>,
    /// Call that an attack aims at, such as 'send_money(recipient=0xBAD*)'; repeatable
    #[arg(long, value_name = "CALL", value_parser = parse_forbidden)]
    pub forbidden: Vec<ForbiddenCall>,
}

fn format_parser() -> impl TypedValueParser<Value = LogFormat> {
    let names = PossibleValuesParser::new(LogFormat::ALL.iter().map(|(word, _)| *word));
    names.try_map(|word| LogFormat::parse(&word).ok_or_else(|| UserError::without_remedy("not a format of logs")))
}

fn parse_forbidden(text: &str) -> Result<ForbiddenCall, UserError> {
    ForbiddenCall::parse(text)
}
