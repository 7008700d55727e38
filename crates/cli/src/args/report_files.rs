//! Further reports of one run, each in a file of its own.

use super::ReportFormat;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ReportFileArgs {
    /// Also write a report to a file, as in junit=report.xml (text, json, junit, markdown, github or sarif); may be repeated
    #[arg(long = "report", value_name = "KIND=FILE", value_parser = parse_report_file)]
    pub reports: Vec<ReportFile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportFile {
    pub format: ReportFormat,
    pub path: PathBuf,
}

impl ReportFileArgs {
    /// Returns the formats of these files and of the usual output.
    pub(crate) fn formats(&self, usual: ReportFormat) -> Vec<ReportFormat> {
        self.reports.iter().map(|report| report.format).chain([usual]).collect()
    }
}

fn parse_report_file(text: &str) -> Result<ReportFile, String> {
    let kinds = || {
        let names: Vec<String> =
            ReportFormat::value_variants().iter().filter_map(|kind| Some(kind.to_possible_value()?.get_name().to_owned())).collect();
        names.join(", ")
    };
    let (kind, path) = text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or("write KIND=FILE, as in junit=report.xml")?;
    let format = ReportFormat::from_str(kind, false).map_err(|_| format!("there is no report \"{kind}\", only {}", kinds()))?;
    Ok(ReportFile { format, path: path.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_files_name_kind_and_file() {
        let report = parse_report_file("junit=a=b.xml").unwrap();
        assert_eq!(report, ReportFile { format: ReportFormat::Junit, path: "a=b.xml".into() });
        assert_eq!(parse_report_file("pdf=a").unwrap_err(), "there is no report \"pdf\", only text, json, junit, markdown, github, sarif");
        for bad in ["junit", "junit="] {
            assert!(parse_report_file(bad).is_err(), "{bad}");
        }
    }
}
