//! Tool files from before operations were one list: `acts` named a class, and `via.deed` the operation in it.
//! They are still read, with a warning that names the value to write.

use super::op_class::OpClass;
use super::operation::ToolOp;
use crate::problem::{ProblemReport, did_you_mean};
use crate::yaml::YamlNode;

/// The old word of an operation, and the line that has it.
#[derive(Debug, Clone)]
pub(super) struct LegacyDeed {
    pub word: String,
    pub line: u32,
}

/// Resolves the operation of a tool from `acts` and, in older files, `via.deed`.
pub(super) fn read_operation(node: &YamlNode, word: &str, deed: Option<&LegacyDeed>, report: &ProblemReport) -> Option<ToolOp> {
    let (op, class) = (ToolOp::parse(word), OpClass::parse(word));
    match (deed, class.or(op.map(ToolOp::class))) {
        (_, None) => {
            report.add(node.line, format!("{} is not known here", node.describe()), known_words(word));
            None
        }
        (None, Some(class)) => Some(op.unwrap_or_else(|| {
            let op = default_op(class);
            report.warn(node.line, format!("acts: {word} is now a class of operations"), format!("write acts: {}", op.word()));
            op
        })),
        (Some(deed), Some(class)) => resolve_deed(word, class, deed, report),
    }
}

fn resolve_deed(word: &str, class: OpClass, deed: &LegacyDeed, report: &ProblemReport) -> Option<ToolOp> {
    let pair = CLASS_DEED_PAIRS.iter().find(|(of, old, _)| *of == class && *old == deed.word).map(|(_, _, op)| *op);
    // An operation in `acts` leaves nothing for a deed to choose.
    let found = pair.filter(|op| OpClass::parse(word).is_some() || op.word() == word);
    match found {
        Some(op) => {
            let what = format!("via.deed: {} is now part of acts", deed.word);
            let remedy = if op.word() == word {
                format!("keep acts: {word} and remove deed")
            } else {
                format!("write acts: {} instead of acts: {word} and remove deed", op.word())
            };
            report.warn(deed.line, what, remedy);
        }
        None => {
            let fits: Vec<&str> = CLASS_DEED_PAIRS.iter().filter(|(_, old, _)| *old == deed.word).map(|(_, _, op)| op.word()).collect();
            let what = format!("acts: {word} and via.deed: {} do not name one operation", deed.word);
            let remedy = if fits.is_empty() { known_words(&deed.word) } else { format!("write acts: {}", fits.join(" or acts: ")) };
            report.add(deed.line, what, format!("{remedy}, and remove deed"));
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

/// The operation of a class whose tool named no deed.
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

/// Every pair of class and deed that has a meaning, and the operation it became.
const CLASS_DEED_PAIRS: &[(OpClass, &str, ToolOp)] = &[
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

    fn resolve(acts: &str, deed: Option<&str>) -> ResolveOutcome {
        let report = ProblemReport::new("tools/a.yaml");
        let node = load(acts, YamlLimits::default(), &report).unwrap();
        let deed = deed.map(|word| LegacyDeed { word: word.into(), line: 2 });
        let op = read_operation(&node, acts, deed.as_ref(), &report);
        let said = |problems: Vec<crate::problem::Problem>| problems.iter().map(ToString::to_string).collect();
        ResolveOutcome { op, warnings: said(report.take_warnings()), problems: said(report.into_problems()) }
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
            let pairs = CLASS_DEED_PAIRS.iter().filter(|(_, _, to)| to == op).count();
            let unpaired = matches!(op, ToolOp::Read | ToolOp::Quote | ToolOp::Simulate | ToolOp::PassThrough);
            assert_eq!(pairs, usize::from(!unpaired), "{word}");
        }
        assert!(CLASS_DEED_PAIRS.iter().all(|(class, _, op)| op.class() == *class));
    }

    #[test]
    fn legacy_pairs_are_converted_with_a_warning() {
        for (class, deed, op) in CLASS_DEED_PAIRS {
            let outcome = resolve(class.word(), Some(deed));
            assert_eq!(outcome.op, Some(*op));
            assert!(outcome.problems.is_empty() && outcome.warnings.len() == 1, "{} {deed}", class.word());
        }
        let warning = &resolve("venue_out", Some("borrow")).warnings[0];
        assert_eq!(
            warning,
            "tools/a.yaml:2  via.deed: borrow is now part of acts  write acts: borrow instead of acts: venue_out and remove deed"
        );
        let warning = &resolve("swap", Some("swap")).warnings[0];
        assert_eq!(warning, "tools/a.yaml:2  via.deed: swap is now part of acts  keep acts: swap and remove deed");
    }

    #[test]
    fn class_without_deed_warns_and_uses_default_op() {
        let outcome = resolve("transfer", None);
        assert_eq!(outcome.op, Some(ToolOp::Send));
        assert_eq!(outcome.warnings, ["tools/a.yaml:1  acts: transfer is now a class of operations  write acts: send"]);
    }

    #[test]
    fn contradicting_acts_and_deed_are_a_problem() {
        let outcome = resolve("transfer", Some("swap"));
        assert_eq!(outcome.op, None);
        let what = "tools/a.yaml:2  acts: transfer and via.deed: swap do not name one operation  write acts: swap, and remove deed";
        assert_eq!(outcome.problems, [what]);
        assert_eq!(resolve("repay", Some("enter")).op, None, "acts already names another operation");
        assert_eq!(resolve("repay", Some("repay")).op, Some(ToolOp::Repay));
    }
}
