//! Faults reported by the stream itself. The SDK reports a broken stream only as "closed"; this keeps the reason.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::McpFault;
use super::printable::printable;

/// Shared by the stream, which records faults, and the caller, which reports them.
#[derive(Debug, Clone, Default)]
pub(super) struct StreamDiagnostics(Arc<Mutex<DiagnosticsState>>);

#[derive(Debug, Default)]
struct DiagnosticsState {
    fault: Option<McpFault>,
    /// First line on stdout that is not a message.
    stray: String,
}

impl StreamDiagnostics {
    /// Keeps the first fault: later ones are its consequences.
    pub(super) fn record_fault(&self, fault: McpFault) {
        self.lock().fault.get_or_insert(fault);
    }

    /// Records a line that is not a message; only the first is kept.
    pub(super) fn record_stray(&self, line: &[u8]) {
        let mut state = self.lock();
        if state.stray.is_empty() {
            state.stray = printable(&String::from_utf8_lossy(line), 200);
        }
    }

    /// Returns the recorded fault, or `reported` (the fault reported by the SDK) if there is none.
    pub(super) fn fault_or(&self, reported: McpFault) -> McpFault {
        self.lock().fault.clone().unwrap_or(reported)
    }

    /// Returns the first line that is not a message; empty if there is none.
    pub(super) fn first_stray(&self) -> String {
        self.lock().stray.clone()
    }

    // Poisoning can be ignored: every change is a single assignment.
    fn lock(&self) -> MutexGuard<'_, DiagnosticsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
