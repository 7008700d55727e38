//! `collect`: receives production traces until stopped.

use super::traffic;
use crate::args::CollectArgs;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use crate::{env, files, report};
use ::run::Clock;
use campaign::{ProductionWorker, ReceiptFetcher, TraceReviewer};
use model::{UserError, Workspace};
use serve::collector::{
    Access, BearerToken, Collector, CollectorError, CollectorLimits, CollectorMetrics, CollectorSettings, GaugeText, Redactor, TlsFiles,
    Webhook,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use store::production::{ProductionStore, StoredAlert};

/// Pause between two steps of the worker.
const STEP_PAUSE: Duration = Duration::from_millis(500);

pub(crate) fn collect(io: &CliOutput, source: &WorkspaceSource, args: &CollectArgs) -> ExitKind {
    let mut workspace = match super::open_checked_workspace(io, source, "collect") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    workspace.production.rpc.extend(args.rpc.iter().cloned());
    if let Err(why) = traffic::read_sampling_key(&mut workspace) {
        return report::print_refusal(io, "collect", &[why]);
    }
    match super::block_on(serve_until_stopped(io, &workspace, args)) {
        Ok(Ok(())) => ExitKind::Clean,
        Ok(Err(why)) => report::print_refusal(io, "collect", &[why]),
        Err(error) => {
            io.print_message(&format!("cannot start the async runtime: {error}"));
            ExitKind::Incomplete
        }
    }
}

async fn serve_until_stopped(io: &CliOutput, workspace: &Workspace, args: &CollectArgs) -> Result<(), UserError> {
    let clock = Clock::system();
    let gauges = GaugeText::default();
    let webhook = webhook(args)?;
    let lines = args.alerts.as_deref().map(files::open_append).transpose().map_err(UserError::caused_by)?;
    let settings = settings(workspace, args, clock, gauges.clone())?;
    let traces = &args.traces.traces;
    if let Some(path) = traces.file() {
        create_parent(path)?;
    }
    let drift = traffic::drift_replay(workspace, &args.reference)?;
    let fetchers = traffic::receipt_fetchers(workspace, traces)?;
    let reviewer = args.judge.as_deref().map(|judge| traffic::reviewer(workspace, traces, judge)).transpose()?;
    let store = ProductionStore::open(traces)?.with_relaxed_commits()?;
    let mut delivery = AlertDelivery::new(io, ProductionStore::open(traces)?, lines, webhook, clock);
    let requested = crate::signals::stop_requested();
    let collector = Collector::start(settings).await.map_err(collector_error)?;
    for at in collector.addresses() {
        io.print_message(&format!("listening on {at} for OTLP over HTTP (/v1/traces) and gRPC"));
    }
    let stop = AtomicBool::new(false);
    let has_nodes = !fetchers.is_empty();
    let mut stopped = Ok(());
    std::thread::scope(|scope| {
        scope.spawn(|| work(io, ProductionWorker::new(workspace, store, drift), clock, &gauges, &stop));
        let runtime = tokio::runtime::Handle::current();
        let fetching = futures::future::join_all(fetchers.into_iter().map(|fetcher| fetch(io, fetcher, clock)));
        let serving = async {
            tokio::select! {
                ended = requested => ended,
                () = delivery.run() => Ok(()),
                _ = fetching, if has_nodes => Ok(()),
                () = review(io, reviewer, clock) => Ok(()),
            }
        };
        stopped = tokio::task::block_in_place(|| runtime.block_on(serving));
        stop.store(true, Ordering::Relaxed);
    });
    drop(collector);
    // Alerts that were raised while the collector stopped are delivered by the next one.
    stopped.map_err(UserError::caused_by)
}

fn settings(workspace: &Workspace, args: &CollectArgs, clock: Clock, gauges: GaugeText) -> Result<CollectorSettings, UserError> {
    let token = env::var("BARDO_EVAL_COLLECT_TOKEN").map(|token| BearerToken::new(&token)).transpose();
    let token = token.map_err(|error| UserError::new(error.to_string(), error.remedy()))?;
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificates), Some(key)) => {
            let read = |path: &Path| files::read_file(path).map_err(|error| UserError::caused_by(error).with_context(path.display()));
            Some(TlsFiles { certificates: read(certificates)?.into_bytes(), key: read(key)?.into_bytes() })
        }
        (Some(_) | None, Some(_) | None) => None,
    };
    let own: Vec<&str> = workspace.production.redact.iter().map(|pattern| pattern.value.as_str()).collect();
    let redactor = Redactor::new(&own).map_err(|error| UserError::new(error.to_string(), "correct redact in production.yaml"))?;
    Ok(CollectorSettings {
        listen: args.listen.clone(),
        traces: args.traces.traces.clone(),
        access: Access { token, has_tls: tls.is_some() },
        tls,
        limits: CollectorLimits::default(),
        redactor,
        metrics: CollectorMetrics::with_gauges(gauges),
        clock: Arc::new(move || unix_ms(clock)),
    })
}

fn webhook(args: &CollectArgs) -> Result<Option<Webhook>, UserError> {
    let Some(url) = &args.webhook else { return Ok(None) };
    let made = Webhook::new(url, env::var("BARDO_EVAL_WEBHOOK_SECRET"));
    made.map(Some).map_err(|error| UserError::new(error.to_string(), "name the whole URL, such as https://hooks.example/alerts"))
}

fn collector_error(error: CollectorError) -> UserError {
    let remedy = match &error {
        CollectorError::Access(error) => error.remedy(),
        CollectorError::Listen { .. } => "name another address with --listen",
        CollectorError::Tls(_) => "name PEM files with --tls-cert and --tls-key",
        CollectorError::Store(error) => error.remedy(),
        CollectorError::Writer(_) => "",
    };
    UserError::new(error.to_string(), remedy)
}

pub(super) fn create_parent(path: &Path) -> Result<(), UserError> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => files::create_folder(folder).map_err(|error| UserError::caused_by(error).with_context(folder.display())),
        None => Ok(()),
    }
}

pub(super) fn unix_ms(clock: Clock) -> u64 {
    let since = clock.utc().duration_since(std::time::SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Runs the worker until it is told to stop.
fn work(io: &CliOutput, mut worker: ProductionWorker<'_>, clock: Clock, gauges: &GaugeText, stop: &AtomicBool) {
    let mut failure = String::new();
    while !stop.load(Ordering::Relaxed) {
        match worker.step(unix_ms(clock), &|| !stop.load(Ordering::Relaxed)) {
            Ok(step) => {
                failure.clear();
                if let Some(text) = step.gauges {
                    *gauges.lock().unwrap_or_else(PoisonError::into_inner) = text;
                }
            }
            Err(error) if error.to_string() != failure => {
                failure = error.to_string();
                io.print_message(&format!("traces cannot be read: {failure}; trying again"));
            }
            Err(_) => {}
        }
        std::thread::sleep(STEP_PAUSE);
    }
}

/// Reads receipts of one chain as they are wanted.
async fn fetch(io: &CliOutput, mut fetcher: ReceiptFetcher, clock: Clock) {
    let mut failure = String::new();
    loop {
        if let Err(error) = fetcher.step(unix_ms(clock)).await {
            report_once(io, &mut failure, format!("receipts cannot be stored: {error}; trying again"));
        }
        tokio::time::sleep(STEP_PAUSE).await;
    }
}

/// Grades traces as they are kept; without a judge it waits forever.
async fn review(io: &CliOutput, reviewer: Option<TraceReviewer<'_>>, clock: Clock) {
    let Some(mut reviewer) = reviewer else { return std::future::pending().await };
    let mut failure = String::new();
    loop {
        match reviewer.step(unix_ms(clock)).await {
            Ok(step) if step.is_unfunded => {
                report_once(io, &mut failure, "the judge has no money left for today; traces stay unjudged".to_owned());
            }
            Ok(_) => failure.clear(),
            Err(error) => report_once(io, &mut failure, format!("traces cannot be judged: {error}; trying again")),
        }
        tokio::time::sleep(STEP_PAUSE).await;
    }
}

/// Prints a failure unless it is the last one.
fn report_once(io: &CliOutput, last: &mut String, text: String) {
    if *last != text {
        io.print_message(&text);
        *last = text;
    }
}

/// Seconds after which an alert is not delivered any more, and between two tries of one that was not accepted.
const MAX_ALERT_AGE_S: u64 = 7 * 86_400;
const RETRY_S: u64 = 60;
const MAX_ALERTS: usize = 100;

/// Receivers of alerts. Alerts are delivered from the file, so that those of a process that died are too.
struct AlertDelivery<'a> {
    io: &'a CliOutput,
    store: ProductionStore,
    lines: Option<Box<dyn std::io::Write + Send>>,
    webhook: Option<Webhook>,
    clock: Clock,
    /// Alerts that this process has printed, and the time before which one is not tried again.
    printed: BTreeSet<u64>,
    not_before_s: BTreeMap<u64, u64>,
}

impl<'a> AlertDelivery<'a> {
    fn new(
        io: &'a CliOutput,
        store: ProductionStore,
        lines: Option<Box<dyn std::io::Write + Send>>,
        webhook: Option<Webhook>,
        clock: Clock,
    ) -> Self {
        Self { io, store, lines, webhook, clock, printed: BTreeSet::new(), not_before_s: BTreeMap::new() }
    }

    /// Delivers alerts until the future is dropped.
    async fn run(&mut self) {
        let mut failure = String::new();
        loop {
            let now_s = unix_ms(self.clock) / 1000;
            match self.store.undelivered_alerts(now_s.saturating_sub(MAX_ALERT_AGE_S), MAX_ALERTS) {
                Ok(alerts) => {
                    for alert in alerts {
                        if self.not_before_s.get(&alert.n).is_none_or(|time| *time <= now_s) {
                            self.deliver(&alert).await;
                        }
                    }
                }
                Err(error) => report_once(self.io, &mut failure, format!("alerts cannot be read: {error}; trying again")),
            }
            tokio::time::sleep(STEP_PAUSE).await;
        }
    }

    /// Prints an alert, appends it to the file and sends it to the webhook. It is delivered once the webhook accepts it.
    async fn deliver(&mut self, alert: &StoredAlert) {
        let body: serde_json::Value = serde_json::from_str(&alert.body).unwrap_or_default();
        let text = |key: &str| body.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        if self.printed.insert(alert.n) {
            self.io.print_message(&format!("alert: {}", report::escape_control(&text("title"))));
            if let Some(lines) = &mut self.lines
                && let Err(error) = writeln!(lines, "{}", alert.body).and_then(|()| lines.flush())
            {
                self.io.print_message(&format!("the alert cannot be written: {error}"));
            }
        }
        let sent = match &self.webhook {
            Some(webhook) => webhook.send(&text("id"), &alert.body).await.map_err(|error| error.to_string()),
            None => Ok(()),
        };
        let now_s = unix_ms(self.clock) / 1000;
        let noted = sent.and_then(|()| self.store.alert_sent(alert.n, now_s).map_err(|error| error.to_string()));
        if let Err(why) = noted {
            self.not_before_s.insert(alert.n, now_s + RETRY_S);
            self.io.print_message(&why);
        }
    }
}
