//! Operations of tools: the effect of a call on the world, set by `acts` in a tool file.

use super::op_class::OpClass;

macro_rules! operations {
    ($($class:ident: $($op:ident $word:literal),+;)+) => {
        /// Operation of a tool. Each operation belongs to one [`OpClass`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ToolOp { $($($op),+),+ }

        impl ToolOp {
            /// Every operation with its word in tool files.
            pub const ALL: &'static [(&'static str, ToolOp)] = &[$($(($word, ToolOp::$op)),+),+];

            /// Returns the word for this operation in tool files.
            pub fn word(self) -> &'static str {
                match self { $($(ToolOp::$op => $word),+),+ }
            }

            /// Returns the class that rules and scorers match on.
            pub fn class(self) -> OpClass {
                match self { $($(ToolOp::$op)|+ => OpClass::$class),+ }
            }
        }
    };
}

operations! {
    Read: Read "read";
    Quote: Quote "quote";
    Simulate: Simulate "simulate";
    Transfer: Send "send", Receive "receive", Sweep "sweep";
    Approve: Approve "approve", Revoke "revoke";
    Permit: Permit "permit";
    Swap: Swap "swap";
    AddPosition: Add "add", Increase "increase", Reposition "reposition", JoinPool "join_pool", Rebalance "rebalance";
    RemovePosition: Remove "remove", CollectFees "collect_fees", LeavePool "leave_pool";
    VaultIn: Deposit "deposit";
    VaultOut: Redeem "redeem", CollectVaultFees "collect_vault_fees";
    VenueIn: Enter "enter", Repay "repay", ConvertIn "convert_in", Leverage "leverage", Burn "burn";
    VenueOut: Exit "exit", QueueExit "queue_exit", Borrow "borrow", Claim "claim", ConvertOut "convert_out", Deleverage "deleverage";
    Bridge: Bridge "bridge";
    Register: Register "register", Feedback "feedback", Metadata "metadata", Validate "validate", Record "record", Publish "publish";
    Configure: Configure "configure", SignSetting "sign_setting", Halt "halt";
    Remember: Remember "remember";
    PassThrough: PassThrough "pass_through", Commit "commit", Batch "batch", Flash "flash", RunJob "run_job", Execute "execute";
}

impl ToolOp {
    /// Returns the operation with this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, op)| *op)
    }

    /// Returns whether the call only sends an action that another call prepared.
    pub fn sends_prepared(self) -> bool {
        matches!(self, ToolOp::Commit | ToolOp::PassThrough)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn operation_words_are_unique_and_resolve() {
        let words: BTreeSet<&str> = ToolOp::ALL.iter().map(|(word, _)| *word).collect();
        assert_eq!(words.len(), ToolOp::ALL.len());
        for (word, op) in ToolOp::ALL {
            assert_eq!((op.word(), ToolOp::parse(word)), (*word, Some(*op)));
        }
    }

    #[test]
    fn every_class_has_an_operation_and_a_word() {
        for (word, class) in OpClass::ALL {
            assert_eq!((class.word(), OpClass::parse(word)), (*word, Some(*class)));
            assert!(ToolOp::ALL.iter().any(|(_, op)| op.class() == *class), "{word} is empty");
        }
    }

    #[test]
    fn operation_named_like_a_class_belongs_to_it() {
        for (word, op) in ToolOp::ALL {
            assert!(OpClass::parse(word).is_none_or(|class| class == op.class()), "{word}");
        }
    }

    #[test]
    fn guide_lists_every_operation() {
        let guide = include_str!("../../../../docs/guide/workspace.md");
        for (word, op) in ToolOp::ALL {
            let row = guide.lines().find(|line| line.starts_with(&format!("| `{}` |", op.class().word())));
            let row = row.unwrap_or_else(|| panic!("the guide has no row for the class {}", op.class().word()));
            assert!(row.contains(&format!("`{word}`")), "the guide does not list {word} under {}", op.class().word());
        }
    }
}
