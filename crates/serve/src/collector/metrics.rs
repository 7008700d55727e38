//! Metrics in the text format of Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use store::production::ProductionStore;

/// Reason why a request or a span was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    Unauthorized,
    TooLarge,
    Malformed,
    Unsupported,
    Busy,
    Timeout,
    StoreFailed,
    /// Single spans of a request that was otherwise accepted.
    Spans,
}

impl RefusalKind {
    const ALL: [RefusalKind; 8] = [
        RefusalKind::Unauthorized,
        RefusalKind::TooLarge,
        RefusalKind::Malformed,
        RefusalKind::Unsupported,
        RefusalKind::Busy,
        RefusalKind::Timeout,
        RefusalKind::StoreFailed,
        RefusalKind::Spans,
    ];

    fn word(self) -> &'static str {
        match self {
            RefusalKind::Unauthorized => "unauthorized",
            RefusalKind::TooLarge => "too_large",
            RefusalKind::Malformed => "malformed",
            RefusalKind::Unsupported => "unsupported",
            RefusalKind::Busy => "busy",
            RefusalKind::Timeout => "timeout",
            RefusalKind::StoreFailed => "store_failed",
            RefusalKind::Spans => "spans",
        }
    }
}

/// Lines of metrics that another part computes, such as the values of gates.
pub type GaugeText = Arc<Mutex<String>>;

/// Counts since the start of the process.
#[derive(Debug, Default)]
pub struct CollectorMetrics {
    requests: AtomicU64,
    spans: AtomicU64,
    refused: [AtomicU64; RefusalKind::ALL.len()],
    gauges: GaugeText,
}

impl CollectorMetrics {
    /// Shows the lines in `gauges` beside its own.
    pub fn with_gauges(gauges: GaugeText) -> Self {
        Self { gauges, ..Self::default() }
    }

    pub(super) fn count_request(&self, spans: u64) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.spans.fetch_add(spans, Ordering::Relaxed);
    }

    pub(super) fn count_refusal(&self, kind: RefusalKind, n: u64) {
        if let Some(at) = RefusalKind::ALL.iter().position(|known| *known == kind) {
            self.refused[at].fetch_add(n, Ordering::Relaxed);
        }
    }

    /// Returns all metrics. Counts of the store survive a restart.
    pub(super) fn text(&self, store: &ProductionStore, now_ms: u64) -> Result<String, store::StoreError> {
        let mut text = String::new();
        // Writing to memory cannot fail.
        let mut line = |name: &str, value: u64| {
            let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
            let _ = writeln!(text, "# TYPE bardo_eval_{name} {kind}\nbardo_eval_{name} {value}");
        };
        line("requests_accepted_total", self.requests.load(Ordering::Relaxed));
        line("spans_received_total", self.spans.load(Ordering::Relaxed));
        for (counter, n) in store.counters()? {
            line(&format!("{}_total", counter.word()), n);
        }
        line("open_traces", store.open_trace_count()?);
        line("lag_seconds", store.oldest_open_ms()?.map_or(0, |oldest| now_ms.saturating_sub(oldest) / 1000));
        text.push_str("# TYPE bardo_eval_refused_total counter\n");
        for (kind, n) in RefusalKind::ALL.iter().zip(&self.refused) {
            let _ = writeln!(text, "bardo_eval_refused_total{{reason=\"{}\"}} {}", kind.word(), n.load(Ordering::Relaxed));
        }
        text.push_str(&self.gauges.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(text)
    }
}
