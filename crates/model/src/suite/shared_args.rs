//! Sharing of equal arguments among the cases of a file, which are many in large workspaces.

use super::arg_matcher::ArgMatcher;
use super::expect::ExpectedCalls;
use super::named_args::ArgPool;
use super::reference::{ArgValue, ReferenceAction, ReferenceStep};
use serde_json::Value;

pub(super) struct SharedArgs {
    expected: ArgPool<ArgMatcher>,
    given: ArgPool<ArgValue>,
}

impl SharedArgs {
    pub(super) fn new() -> Self {
        Self {
            expected: ArgPool::new(|wanted| if let ArgMatcher::Exactly(Value::String(text)) = wanted { Some(text) } else { None }),
            given: ArgPool::new(|arg| if let ArgValue::Given(Value::String(text)) = arg { Some(text) } else { None }),
        }
    }

    /// Replaces the arguments of a case by equal ones of earlier cases.
    pub(super) fn share(&mut self, calls: Option<&mut ExpectedCalls>, reference: &mut [ReferenceStep]) {
        if let Some(ExpectedCalls::AnyOf(alternatives)) = calls {
            for call in alternatives.iter_mut().flatten() {
                self.expected.share(&mut call.args);
            }
        }
        for step in reference {
            match &mut step.action {
                ReferenceAction::Call { args, .. }
                | ReferenceAction::Delegate { params: args, .. }
                | ReferenceAction::Activate { params: args, .. } => self.given.share(args),
                ReferenceAction::Ask(_) | ReferenceAction::Say(_) | ReferenceAction::Report(_) => {}
            }
        }
    }
}
