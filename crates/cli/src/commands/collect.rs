//! `collect`: receives production traces until stopped.

use crate::args::CollectArgs;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use crate::{env, files, report};
use ::run::Clock;
use campaign::{ProductionAlert, ProductionWorker};
use model::{UserError, Workspace};
use serve::collector::{
    Access, BearerToken, Collector, CollectorError, CollectorLimits, CollectorMetrics, CollectorSettings, GaugeText, Redactor, TlsFiles,
    Webhook,
};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use store::production::ProductionStore;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Pause between two steps of the worker.
const STEP_PAUSE: Duration = Duration::from_millis(500);

pub(crate) fn collect(io: &CliOutput, source: &WorkspaceSource, args: &CollectArgs) -> ExitKind {
    let workspace = match super::open_checked_workspace(io, source, "collect") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    match super::block_on(serve_until_stopped(io, &workspace, args)) {
        Ok(Ok(())) => ExitKind::Clean,
        Ok(Err(why)) => report::print_refusal(io, "collect", &[why]),
        Err(error) => {
            io.print_message(&format!("cannot start the async runtime: {error}"));
            ExitKind::Incomplete
        }
    }
}

/// Alert with its number in the store.
type NumberedAlert = (u64, ProductionAlert);

async fn serve_until_stopped(io: &CliOutput, workspace: &Workspace, args: &CollectArgs) -> Result<(), UserError> {
    let clock = Clock::system();
    let gauges = GaugeText::default();
    let webhook = webhook(args)?;
    let lines = args.alerts.as_deref().map(files::open_append).transpose().map_err(UserError::caused_by)?;
    let settings = settings(workspace, args, clock, gauges.clone())?;
    create_parent(&args.traces.traces)?;
    let store = ProductionStore::open(&args.traces.traces)?.with_relaxed_commits()?;
    let mut delivery = AlertDelivery { io, store: ProductionStore::open(&args.traces.traces)?, lines, webhook, clock };
    let collector = Collector::start(settings).await.map_err(collector_error)?;
    for at in collector.addresses() {
        io.print_message(&format!("listening on {at} for OTLP over HTTP (/v1/traces) and gRPC"));
    }
    let stop = AtomicBool::new(false);
    let (sender, mut alerts) = unbounded_channel::<NumberedAlert>();
    let mut stopped = Ok(());
    std::thread::scope(|scope| {
        scope.spawn(|| work(io, ProductionWorker::new(workspace, store), clock, &gauges, sender, &stop));
        let runtime = tokio::runtime::Handle::current();
        let serving = async {
            let mut ended = std::pin::pin!(crate::signals::stop_requested());
            loop {
                tokio::select! {
                    ended = &mut ended => break ended,
                    Some(alert) = alerts.recv() => delivery.deliver(alert).await,
                }
            }
        };
        stopped = tokio::task::block_in_place(|| runtime.block_on(serving));
        stop.store(true, Ordering::Relaxed);
    });
    drop(collector);
    // Those that were raised while the collector stopped.
    delivery.webhook = None;
    while let Ok(alert) = alerts.try_recv() {
        delivery.deliver(alert).await;
    }
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
fn work(
    io: &CliOutput,
    mut worker: ProductionWorker<'_>,
    clock: Clock,
    gauges: &GaugeText,
    alerts: UnboundedSender<NumberedAlert>,
    stop: &AtomicBool,
) {
    let mut failure = String::new();
    while !stop.load(Ordering::Relaxed) {
        match worker.step(unix_ms(clock), &|| !stop.load(Ordering::Relaxed)) {
            Ok(step) => {
                failure.clear();
                if let Some(text) = step.gauges {
                    *gauges.lock().unwrap_or_else(PoisonError::into_inner) = text;
                }
                // The receiver lives until the worker ended.
                step.alerts.into_iter().for_each(|alert| drop(alerts.send(alert)));
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

/// Receivers of alerts.
struct AlertDelivery<'a> {
    io: &'a CliOutput,
    store: ProductionStore,
    lines: Option<Box<dyn std::io::Write + Send>>,
    webhook: Option<Webhook>,
    clock: Clock,
}

impl AlertDelivery<'_> {
    /// Prints an alert, appends it to the file and sends it to the webhook.
    async fn deliver(&mut self, (n, alert): NumberedAlert) {
        self.io.print_message(&format!("alert: {}", report::escape_control(&alert.title)));
        let body = serde_json::to_string(&alert).unwrap_or_default();
        if let Some(lines) = &mut self.lines
            && let Err(error) = writeln!(lines, "{body}").and_then(|()| lines.flush())
        {
            self.io.print_message(&format!("the alert cannot be written: {error}"));
        }
        let Some(webhook) = &self.webhook else { return };
        let noted = match webhook.send(&alert.key, &body).await {
            Ok(()) => self.store.alert_sent(n, unix_ms(self.clock) / 1000).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = noted {
            self.io.print_message(&why);
        }
    }
}
