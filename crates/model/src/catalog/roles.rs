//! Roles in parameter kinds: `address(recipient)`, `token(in)`, `duration(s)`.

use crate::text_enum::text_enum;

text_enum! {
    /// Role of an address in a call.
    AddressRole {
        Recipient "recipient", Spender "spender", Wallet "wallet", Owner "owner", Pool "pool", Vault "vault", Token "token",
        Contract "contract", Market "market", Agent "agent", Operator "operator", Executor "executor", Hook "hook", Router "router",
        Borrower "borrower",
    }
}

text_enum! {
    /// Side of a token in an action.
    TokenRole { In "in", Out "out", Asset "asset", Collateral "collateral", Debt "debt", A "a", B "b" }
}

text_enum! {
    /// End of a transfer between chains.
    ChainRole { Source "source", Destination "destination" }
}

text_enum! {
    /// End of a price or tick range.
    RangeBound { Lower "lower", Upper "upper" }
}

text_enum! {
    /// Unit of a number in a duration; `text` accepts "7 days" unchanged.
    DurationUnit { Seconds "s", Milliseconds "ms", Hours "h", Days "d", Text "text" }
}

text_enum! {
    /// Object that an id refers to.
    IdKind {
        Position "position", Order "order", Action "action", Bridge "bridge", Bid "bid", Market "market", Agent "agent",
        Request "request", Announcement "announcement", Transaction "transaction", Subscription "subscription", Alert "alert",
        Key "key", Episode "episode", Insight "insight", Execution "execution", Golem "golem", Pool "pool", Vault "vault", Job "job",
        Option "option", Withdrawal "withdrawal", Artifact "artifact", Permit "permit",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_reads_back_from_its_word() {
        fn check<T: Copy + PartialEq + std::fmt::Debug>(
            all: &[(&str, T)],
            word: impl Fn(T) -> &'static str,
            parse: impl Fn(&str) -> Option<T>,
        ) {
            for (text, role) in all {
                assert_eq!((word(*role), parse(text)), (*text, Some(*role)));
            }
        }
        check(AddressRole::ALL, AddressRole::word, AddressRole::parse);
        check(TokenRole::ALL, TokenRole::word, TokenRole::parse);
        check(ChainRole::ALL, ChainRole::word, ChainRole::parse);
        check(RangeBound::ALL, RangeBound::word, RangeBound::parse);
        check(DurationUnit::ALL, DurationUnit::word, DurationUnit::parse);
        check(IdKind::ALL, IdKind::word, IdKind::parse);
        assert_eq!(AddressRole::parse("Recipient"), None);
    }
}
