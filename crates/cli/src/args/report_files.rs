//! Further reports of one run, each in a file of its own.

use super::ReportFormat;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ReportFileArgs {
    /// Also write a report to a file, as in junit=report.xml (text, json, junit, markdown, github, sarif or html); may be repeated
    #[arg(long = "report", value_name = "KIND=FILE", value_parser = parse_report_file)]
    pub reports: Vec<ReportFile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportFile {
    pub kind: ReportKind,
    pub path: PathBuf,
}

/// Kind of a report in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportKind {
    Format(ReportFormat),
    /// One page with everything in it, for a browser.
    Html,
}

const HTML: &str = "html";

impl ReportFileArgs {
    /// Returns the formats of these files and of the usual output.
    pub(crate) fn formats(&self, usual: ReportFormat) -> Vec<ReportFormat> {
        let format = |report: &ReportFile| match report.kind {
            ReportKind::Format(format) => format,
            // A page lists the same trials.
            ReportKind::Html => ReportFormat::Junit,
        };
        self.reports.iter().map(format).chain([usual]).collect()
    }
}

fn parse_report_file(text: &str) -> Result<ReportFile, String> {
    let kinds = || {
        let names: Vec<String> =
            ReportFormat::value_variants().iter().filter_map(|kind| Some(kind.to_possible_value()?.get_name().to_owned())).collect();
        format!("{}, {HTML}", names.join(", "))
    };
    let (kind, path) = text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or("write KIND=FILE, as in junit=report.xml")?;
    if kind == HTML {
        return Ok(ReportFile { kind: ReportKind::Html, path: path.into() });
    }
    let format = ReportFormat::from_str(kind, false).map_err(|_| format!("there is no report \"{kind}\", only {}", kinds()))?;
    Ok(ReportFile { kind: ReportKind::Format(format), path: path.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_files_name_kind_and_file() {
        let report = parse_report_file("junit=a=b.xml").unwrap();
        assert_eq!(report, ReportFile { kind: ReportKind::Format(ReportFormat::Junit), path: "a=b.xml".into() });
        assert_eq!(
            parse_report_file("pdf=a").unwrap_err(),
            "there is no report \"pdf\", only text, json, junit, markdown, github, sarif, html"
        );
        for bad in ["junit", "junit="] {
            assert!(parse_report_file(bad).is_err(), "{bad}");
        }
    }
}
