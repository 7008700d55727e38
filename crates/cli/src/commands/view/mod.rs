//! `view`: serves stored runs to a browser on this machine until stopped.

mod attacks;
mod production;
mod reports;

use crate::args::{ReportFormat, ViewArgs};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, FORMAT};
use crate::workspace_source::WorkspaceSource;
use crate::{files, stored_runs};
use model::{UserError, Workspace};
use production::ProductionReader;
use reports::StoredReports;
use serde_json::json;
use serve::viewer::{ViewerSecrets, ViewerServer, ViewerSources};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use world::endpoints::TrialToken;

/// File beside the store that a browser opens.
const OPENER: &str = "view-open.html";

pub(crate) fn view(io: &CliOutput, source: &WorkspaceSource, args: &ViewArgs) -> ExitKind {
    let workspace = match super::open_workspace(io, source, "view") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let first_page = match first_page(args) {
        Ok(page) => page,
        Err(why) => return report::print_refusal(io, "view", &[why]),
    };
    match super::block_on_with_stdin(serve(io, source, workspace, args, &first_page)) {
        Ok(Ok(())) => ExitKind::Clean,
        Ok(Err(why)) => report::print_error(io, "view", &why),
        Err(error) => {
            io.print_message(&format!("cannot start the async runtime: {error}"));
            ExitKind::Incomplete
        }
    }
}

/// Returns the path of the first page. Fails if there is no store, or the named run is not in it.
fn first_page(args: &ViewArgs) -> Result<String, UserError> {
    match args.run.as_deref() {
        None => stored_runs::check_store(&args.store.store).map(|()| "/runs".to_owned()),
        Some(run) => stored_runs::open_run(&args.store.store, Some(run)).map(|opened| format!("/runs/{}", opened.run.short_run_id())),
    }
}

async fn serve(io: &CliOutput, source: &WorkspaceSource, workspace: Workspace, args: &ViewArgs, first_page: &str) -> Result<(), UserError> {
    let server =
        ViewerServer::bind(args.port).await.map_err(|error| UserError::caused_by(error).with_context(format!("port {}", args.port)))?;
    let random = || TrialToken::random().map(|token| token.as_str().to_owned()).map_err(UserError::caused_by);
    let secrets = ViewerSecrets { token: random()?, cookie: random()? };
    let url = format!("http://{}{first_page}?token={}", server.address(), secrets.token);
    let text = match io.format {
        ReportFormat::Json => format!("{:#}\n", json!({ "format": FORMAT, "command": "view", "url": url })),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            format!("{url}\n")
        }
    };
    let requested = crate::signals::stop_requested();
    io.print_result(&text, ExitKind::Clean);
    io.print_message("the address works once, then a cookie opens the pages; press Ctrl-C to stop");
    if args.open {
        open_browser(io, &args.store.store.folder(), &url);
    }
    let workspace = Arc::new(workspace);
    let reports = StoredReports {
        store: args.store.store.clone(),
        workspace: workspace.clone(),
        production: ProductionReader::new(args.traces.traces.clone(), args.store.store.clone()),
    };
    let sources = ViewerSources { workspace, label: source.label(), reports: Arc::new(reports) };
    let stop = async {
        // Without signals the server runs until the process is killed.
        if requested.await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let served = server.serve(sources, secrets, stop).await.map_err(UserError::caused_by);
    if args.open {
        // The token in it was used or will never be.
        drop(files::remove_if_exists(&args.store.store.folder().join(OPENER)));
    }
    served
}

/// Page that leads to the address. Other users of the machine can see the arguments of a program, so the browser is given this file instead of the
/// address with its token.
fn write_opener(folder: &Path, url: &str) -> std::io::Result<PathBuf> {
    let path = std::path::absolute(folder.join(OPENER))?;
    let page = format!(
        "<!DOCTYPE html><title>bardo-eval</title><meta http-equiv=\"refresh\" content=\"0;url={url}\"><a href=\"{url}\">Open the viewer</a>\n"
    );
    files::write_private(&path, &page)?;
    Ok(path)
}

/// Opens the default browser. The address is printed as well, so a failure is only a message.
fn open_browser(io: &CliOutput, folder: &Path, url: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let start =
        |opener: PathBuf| Command::new(program).arg(opener).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Err(error) = write_opener(folder, url).and_then(start) {
        io.print_message(&format!("cannot start {program}: {error}; open the address yourself"));
    }
}
