//! Facts about a transcript that several scorers share: calls, writes, delegations, amounts, addresses.

pub(crate) mod amounts;
pub(crate) mod assign;
pub(crate) mod calls;
pub(crate) mod delegations;
pub(crate) mod handover;
pub(crate) mod keys;
pub(crate) mod ladder;
pub(crate) mod seats;
pub(crate) mod selection;
pub(crate) mod turns;
pub(crate) mod writes;
