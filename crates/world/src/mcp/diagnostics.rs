//! What our end of the wire noticed. The SDK reports a broken stream only as "closed"; this keeps the reason.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::McpFault;
use super::printable::printable;

/// Shared between the stream that notices and the caller that reports.
#[derive(Debug, Clone, Default)]
pub(super) struct StreamDiagnostics(Arc<Mutex<DiagnosticsState>>);

#[derive(Debug, Default)]
struct DiagnosticsState {
    fault: Option<McpFault>,
    stray: String,
}

impl StreamDiagnostics {
    /// The first fault is the cause; later ones are its consequences.
    pub(super) fn record_fault(&self, fault: McpFault) {
        self.lock().fault.get_or_insert(fault);
    }

    pub(super) fn record_stray(&self, line: &[u8]) {
        let mut noticed = self.lock();
        if noticed.stray.is_empty() {
            noticed.stray = printable(&String::from_utf8_lossy(line), 200);
        }
    }

    /// The noticed cause, else what the SDK made of it.
    pub(super) fn fault_or(&self, seen: McpFault) -> McpFault {
        self.lock().fault.clone().unwrap_or(seen)
    }

    pub(super) fn first_stray(&self) -> String {
        self.lock().stray.clone()
    }

    // A panic elsewhere leaves the notes whole: every change is a single assignment.
    fn lock(&self) -> MutexGuard<'_, DiagnosticsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
