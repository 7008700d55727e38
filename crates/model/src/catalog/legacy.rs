//! Older tool files: `acts` named a class, and [`LEGACY_OP_KEY`] under `via` named the operation in it.
//! Still read, with a warning that contains the new value.

use super::op_class::OpClass;
use super::operation::ToolOp;
use crate::problem::{ProblemReport, did_you_mean};
use crate::yaml::YamlNode;

/// Key under `via` in older files.
pub(super) const LEGACY_OP_KEY: &str = "deed";

/// Older word of an operation, with its line.
#[derive(Debug, Clone)]
pub(super) struct LegacyOp {
    pub word: String,
    pub line: u32,
}

/// Resolves the operation of a tool from `acts` and, in older files, the legacy key.
pub(super) fn read_operation(node: &YamlNode, word: &str, legacy: Option<&LegacyOp>, report: &ProblemReport) -> Option<ToolOp> {
    let (op, class) = (ToolOp::parse(word), OpClass::parse(word));
    match (legacy, class.or(op.map(ToolOp::class))) {
        (_, None) => {
            report.add(node.line, format!("{} is not a known value", node.describe()), known_words(word));
            None
        }
        (None, Some(class)) => Some(op.unwrap_or_else(|| {
            let op = default_op(class);
            report.warn(node.line, format!("acts: {word} is now a class of operations"), format!("write acts: {}", op.word()));
            op
        })),
        (Some(legacy), Some(class)) => resolve_legacy_op(word, class, legacy, report),
    }
}

fn resolve_legacy_op(word: &str, class: OpClass, legacy: &LegacyOp, report: &ProblemReport) -> Option<ToolOp> {
    let pair = LEGACY_PAIRS.iter().find(|(of, old, _)| *of == class && *old == legacy.word).map(|(_, _, op)| *op);
    // If `acts` already names an operation, the legacy word must agree with it.
    let found = pair.filter(|op| OpClass::parse(word).is_some() || op.word() == word);
    match found {
        Some(op) => {
            let what = format!("via.{LEGACY_OP_KEY}: {} is now part of acts", legacy.word);
            let remedy = if op.word() == word {
                format!("keep acts: {word} and remove {LEGACY_OP_KEY}")
            } else {
                format!("write acts: {} instead of acts: {word} and remove {LEGACY_OP_KEY}", op.word())
            };
            report.warn(legacy.line, what, remedy);
        }
        None => {
            let fits: Vec<&str> = LEGACY_PAIRS.iter().filter(|(_, old, _)| *old == legacy.word).map(|(_, _, op)| op.word()).collect();
            let what = format!("acts: {word} and via.{LEGACY_OP_KEY}: {} do not name one operation", legacy.word);
            let remedy = if fits.is_empty() { known_words(&legacy.word) } else { format!("write acts: {}", fits.join(" or acts: ")) };
            report.add(legacy.line, what, format!("{remedy}, and remove {LEGACY_OP_KEY}"));
        }
    }
    found
}

fn known_words(word: &str) -> String {
    let words = || ToolOp::ALL.iter().map(|(known, _)| *known);
    match did_you_mean(word, words()) {
        guess if guess.is_empty() => format!("one of: {}", words().collect::<Vec<_>>().join(", ")),
        guess => guess,
    }
}

/// Returns the operation of a class for tools without the legacy key.
fn default_op(class: OpClass) -> ToolOp {
    match class {
        OpClass::Read => ToolOp::Read,
        OpClass::Quote => ToolOp::Quote,
        OpClass::Simulate => ToolOp::Simulate,
        OpClass::Transfer => ToolOp::Send,
        OpClass::Approve => ToolOp::Approve,
        OpClass::Permit => ToolOp::Permit,
        OpClass::Swap => ToolOp::Swap,
        OpClass::AddPosition => ToolOp::Add,
        OpClass::RemovePosition => ToolOp::Remove,
        OpClass::VaultIn => ToolOp::Deposit,
        OpClass::VaultOut => ToolOp::Redeem,
        OpClass::VenueIn => ToolOp::Enter,
        OpClass::VenueOut => ToolOp::Exit,
        OpClass::Bridge => ToolOp::Bridge,
        OpClass::Register => ToolOp::Register,
        OpClass::Configure => ToolOp::Configure,
        OpClass::Remember => ToolOp::Remember,
        OpClass::PassThrough => ToolOp::PassThrough,
    }
}

/// Valid pairs of class and legacy word, with the operation that replaces them.
const LEGACY_PAIRS: &[(OpClass, &str, ToolOp)] = &[
    (OpClass::Transfer, "send", ToolOp::Send),
    (OpClass::Transfer, "receive", ToolOp::Receive),
    (OpClass::Transfer, "sweep", ToolOp::Sweep),
    (OpClass::Approve, "approve", ToolOp::Approve),
    (OpClass::Approve, "revoke", ToolOp::Revoke),
    (OpClass::Permit, "sign", ToolOp::Permit),
    (OpClass::Swap, "swap", ToolOp::Swap),
    (OpClass::AddPosition, "add", ToolOp::Add),
    (OpClass::AddPosition, "increase", ToolOp::Increase),
    (OpClass::AddPosition, "reposition", ToolOp::Reposition),
    (OpClass::AddPosition, "enter", ToolOp::JoinPool),
    (OpClass::AddPosition, "configure", ToolOp::Rebalance),
    (OpClass::RemovePosition, "remove", ToolOp::Remove),
    (OpClass::RemovePosition, "claim", ToolOp::CollectFees),
    (OpClass::RemovePosition, "exit", ToolOp::LeavePool),
    (OpClass::VaultIn, "deposit", ToolOp::Deposit),
    (OpClass::VaultOut, "redeem", ToolOp::Redeem),
    (OpClass::VaultOut, "claim", ToolOp::CollectVaultFees),
    (OpClass::VenueIn, "enter", ToolOp::Enter),
    (OpClass::VenueIn, "repay", ToolOp::Repay),
    (OpClass::VenueIn, "convert", ToolOp::ConvertIn),
    (OpClass::VenueIn, "leverage", ToolOp::Leverage),
    (OpClass::VenueIn, "burn", ToolOp::Burn),
    (OpClass::VenueOut, "exit", ToolOp::Exit),
    (OpClass::VenueOut, "enter", ToolOp::QueueExit),
    (OpClass::VenueOut, "borrow", ToolOp::Borrow),
    (OpClass::VenueOut, "claim", ToolOp::Claim),
    (OpClass::VenueOut, "convert", ToolOp::ConvertOut),
    (OpClass::VenueOut, "deleverage", ToolOp::Deleverage),
    (OpClass::Bridge, "bridge", ToolOp::Bridge),
    (OpClass::Register, "register", ToolOp::Register),
    (OpClass::Register, "feedback", ToolOp::Feedback),
    (OpClass::Register, "metadata", ToolOp::Metadata),
    (OpClass::Register, "validate", ToolOp::Validate),
    (OpClass::Register, "configure", ToolOp::Record),
    (OpClass::Register, "sign", ToolOp::Publish),
    (OpClass::Configure, "configure", ToolOp::Configure),
    (OpClass::Configure, "sign", ToolOp::SignSetting),
    (OpClass::Configure, "halt", ToolOp::Halt),
    (OpClass::Remember, "remember", ToolOp::Remember),
    (OpClass::PassThrough, "commit", ToolOp::Commit),
    (OpClass::PassThrough, "batch", ToolOp::Batch),
    (OpClass::PassThrough, "flash", ToolOp::Flash),
    (OpClass::PassThrough, "claim", ToolOp::RunJob),
    (OpClass::PassThrough, "configure", ToolOp::Execute),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{YamlLimits, load};

    struct ResolveOutcome {
        op: Option<ToolOp>,
        warnings: Vec<String>,
        problems: Vec<String>,
    }

    fn resolve(acts: &str, legacy: Option<&str>) -> ResolveOutcome {
        let report = ProblemReport::new("tools/a.yaml");
        let node = load(acts, YamlLimits::default(), &report).unwrap();
        let legacy = legacy.map(|word| LegacyOp { word: word.into(), line: 2 });
        let op = read_operation(&node, acts, legacy.as_ref(), &report);
        let texts = |problems: Vec<crate::problem::Problem>| problems.iter().map(ToString::to_string).collect();
        ResolveOutcome { op, warnings: texts(report.take_warnings()), problems: texts(report.into_problems()) }
    }

    #[test]
    fn operations_are_read_without_a_warning() {
        for (word, op) in ToolOp::ALL {
            let outcome = resolve(word, None);
            assert_eq!(outcome.op, Some(*op));
            assert!(outcome.warnings.is_empty() && outcome.problems.is_empty(), "{word}");
        }
    }

    #[test]
    fn each_write_operation_has_one_legacy_pair() {
        for (word, op) in ToolOp::ALL {
            let pairs = LEGACY_PAIRS.iter().filter(|(_, _, to)| to == op).count();
            let unpaired = matches!(op, ToolOp::Read | ToolOp::Quote | ToolOp::Simulate | ToolOp::PassThrough);
            assert_eq!(pairs, usize::from(!unpaired), "{word}");
        }
        assert!(LEGACY_PAIRS.iter().all(|(class, _, op)| op.class() == *class));
    }

    #[test]
    fn legacy_pairs_are_converted_with_a_warning() {
        for (class, legacy, op) in LEGACY_PAIRS {
            let outcome = resolve(class.word(), Some(legacy));
            assert_eq!(outcome.op, Some(*op));
            assert!(outcome.problems.is_empty() && outcome.warnings.len() == 1, "{} {legacy}", class.word());
        }
        let warning = &resolve("venue_out", Some("borrow")).warnings[0];
        let replaced = "is now part of acts; write acts: borrow instead of acts: venue_out and remove";
        assert_eq!(*warning, format!("tools/a.yaml:2  via.{LEGACY_OP_KEY}: borrow {replaced} {LEGACY_OP_KEY}"));
        let warning = &resolve("swap", Some("swap")).warnings[0];
        let kept = "is now part of acts; keep acts: swap and remove";
        assert_eq!(*warning, format!("tools/a.yaml:2  via.{LEGACY_OP_KEY}: swap {kept} {LEGACY_OP_KEY}"));
    }

    #[test]
    fn class_without_deed_warns_and_uses_default_op() {
        let outcome = resolve("transfer", None);
        assert_eq!(outcome.op, Some(ToolOp::Send));
        assert_eq!(outcome.warnings, ["tools/a.yaml:1  acts: transfer is now a class of operations; write acts: send"]);
    }

    #[test]
    fn contradicting_acts_and_deed_are_a_problem() {
        let outcome = resolve("transfer", Some("swap"));
        assert_eq!(outcome.op, None);
        let what = "do not name one operation; write acts: swap, and remove";
        assert_eq!(outcome.problems, [format!("tools/a.yaml:2  acts: transfer and via.{LEGACY_OP_KEY}: swap {what} {LEGACY_OP_KEY}")]);
        assert_eq!(resolve("repay", Some("enter")).op, None, "acts already names another operation");
        assert_eq!(resolve("repay", Some("repay")).op, Some(ToolOp::Repay));
    }
}
