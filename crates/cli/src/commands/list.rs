//! `list`: parts of the workspace, and built-in checks and scorers.

mod tables;

use crate::args::{ListArgs, ListTarget, ReportFormat};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, FORMAT, escape_control, table};
use crate::workspace_source::WorkspaceSource;
use campaign::{CaseSelection, select};
use model::suite::ExpectedCalls;
use model::{Case, UserError, Workspace};
use serde_json::{Map, Value, json};

pub(crate) fn list(io: &CliOutput, source: &WorkspaceSource, args: &ListArgs) -> ExitKind {
    let workspace = match super::open_workspace(io, source, "list") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let cases = match listed_cases(&workspace, args) {
        Ok(cases) => cases,
        Err(unknown) => return report::print_refusal(io, "list", &unknown),
    };
    let (header, rows) = list_table(io, &workspace, args.what, &cases);
    let text = match io.format {
        ReportFormat::Json => {
            let items: Vec<Value> = rows
                .iter()
                .map(|row| {
                    header.iter().zip(row).map(|(key, cell)| ((*key).to_owned(), Value::String(cell.clone()))).collect::<Map<_, _>>()
                })
                .map(Value::Object)
                .collect();
            format!("{:#}\n", json!({ "format": FORMAT, "command": "list", "items": items, "exit": ExitKind::Clean.code() }))
        }
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            // A prompt may have several lines; a row has one.
            let row = |row: Vec<String>| row.iter().map(|cell| escape_control(cell)).collect();
            format!("{}\n", table(&header, rows.into_iter().map(row).collect()))
        }
    };
    io.print_result(&text, ExitKind::Clean)
}

/// Names of the columns, and the rows.
type ListTable = (Vec<&'static str>, Vec<Vec<String>>);

fn list_table(io: &CliOutput, workspace: &Workspace, what: ListTarget, cases: &[&Case]) -> ListTable {
    let is_whole = io.verbose || io.format == ReportFormat::Json;
    match what {
        ListTarget::Tools => tables::tools(workspace),
        ListTarget::Profiles => tables::profiles(workspace),
        ListTarget::Agents => tables::agents(workspace),
        ListTarget::Skills => tables::skills(workspace),
        ListTarget::Suites => tables::suites(workspace),
        ListTarget::Cases => tables::cases(io, cases, is_whole),
        ListTarget::Tags => tables::tags(cases),
        ListTarget::Coverage => super::coverage::coverage_table(workspace, is_whole),
        ListTarget::Worlds => tables::worlds(workspace),
        ListTarget::Subjects => tables::subjects(workspace),
        ListTarget::Chains => tables::chains(workspace),
        ListTarget::Tiers => tables::tiers(workspace),
        ListTarget::Gates => tables::gates(workspace),
        ListTarget::Checks => tables::checks(workspace),
        ListTarget::Scorers => tables::scorers(workspace),
        ListTarget::Probes => tables::probes(workspace),
        ListTarget::Strategies => tables::strategies(),
        ListTarget::Faults => tables::faults(workspace),
        ListTarget::Oracles => tables::oracles(workspace),
    }
}

/// Returns the cases that the filters select.
fn listed_cases<'w>(workspace: &'w Workspace, args: &ListArgs) -> Result<Vec<&'w Case>, Vec<UserError>> {
    let selection = CaseSelection {
        suites: args.suite.clone(),
        profiles: args.profile.clone(),
        agents: args.agent.clone(),
        skills: args.skill.clone(),
        tags: args.tag.clone(),
        ..CaseSelection::default()
    };
    let unknown_tools = args.tool.iter().filter(|name| workspace.tool(name).is_none());
    let tool_names = || workspace.tools.iter().map(|tool| tool.name.as_str());
    let mut unknown: Vec<UserError> = unknown_tools.map(|name| UserError::unknown("tool", name, tool_names())).collect();
    let cases = select(workspace, &selection).map_err(|names| names.into_iter().map(UserError::from).collect::<Vec<_>>());
    unknown.extend(cases.as_ref().err().into_iter().flatten().cloned());
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let tools: Vec<&model::Tool> = args.tool.iter().filter_map(|name| workspace.tool(name)).collect();
    let expects = |case: &&Case| {
        let mut calls = case.expect.calls.iter().flat_map(ExpectedCalls::expected_calls);
        tools.is_empty() || calls.any(|call| tools.iter().any(|tool| tool.has_name(&call.tool)))
    };
    Ok(cases.unwrap_or_default().into_iter().filter(expects).collect())
}
