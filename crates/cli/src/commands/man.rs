//! `man`: the manual page, from the definitions of the arguments.

use crate::args::command_line;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use clap::{Arg, Command};
use std::fmt::Write;

const EXIT_CODES: &[(&str, &str)] = &[
    ("0", "clean"),
    ("1", "a gate was missed or a check failed"),
    ("2", "invalid arguments or files; nothing was run"),
    ("3", "incomplete: interrupted, aborted trials, missing evidence, failed trials that no gate reads, an empty selection"),
];

pub(crate) fn man(io: &CliOutput) -> ExitKind {
    let mut command = command_line();
    command.build();
    io.print_result(&manual_page(&command), ExitKind::Clean)
}

/// Renders the page in the language of `man`.
fn manual_page(command: &Command) -> String {
    let mut page = format!(".TH BARDO-EVAL 1 \"\" \"bardo-eval {}\"\n", env!("CARGO_PKG_VERSION"));
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    page += &format!(".SH NAME\nbardo\\-eval \\- {}\n", escape(&about));
    page += &format!(".SH SYNOPSIS\n{}\n", escape(&synopsis(command)));
    add_options(&mut page, ".SH OPTIONS\n", command);
    page += ".SH COMMANDS\n";
    for below in command.get_subcommands() {
        add_command(&mut page, below);
    }
    page += ".SH EXIT STATUS\n";
    for (code, meaning) in EXIT_CODES {
        add_item(&mut page, code, meaning);
    }
    page
}

fn add_command(page: &mut String, command: &Command) {
    if command.get_name() == "help" || command.is_hide_set() {
        return;
    }
    let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string).unwrap_or_default();
    *page += &format!(".SS {}\n{}\n", escape(&synopsis(command)), escape(&about));
    add_options(page, "", command);
    for below in command.get_subcommands() {
        add_command(page, below);
    }
}

/// Returns the usage of a command on one line.
fn synopsis(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    usage.trim_start_matches("Usage:").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Adds the arguments of a command. Global ones are listed once, with the program.
fn add_options(page: &mut String, heading: &str, command: &Command) {
    let is_program = !heading.is_empty();
    let is_shown =
        |arg: &&Arg| !arg.is_hide_set() && arg.is_global_set() == is_program && !matches!(arg.get_id().as_str(), "help" | "version");
    let shown: Vec<&Arg> = command.get_arguments().filter(is_shown).collect();
    if shown.is_empty() {
        return;
    }
    *page += heading;
    for arg in shown {
        let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
        add_item(page, &arg.to_string(), &help);
    }
}

fn add_item(page: &mut String, name: &str, text: &str) {
    // Writing to a text cannot fail.
    let _ = write!(page, ".TP\n\\fB{}\\fR\n{}\n", escape(name), escape(text));
}

/// Escapes a text: backslashes, hyphens, and points and quotes at the beginning of a line, which would be commands.
fn escape(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    let lines: Vec<String> =
        escaped.lines().map(|line| if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_owned() }).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manual_page_has_every_command_and_flag() {
        let mut command = command_line();
        command.build();
        let page = manual_page(&command);
        let mut open: Vec<&Command> = command.get_subcommands().filter(|one| one.get_name() != "help").collect();
        let mut seen = 0;
        while let Some(one) = open.pop() {
            assert!(page.contains(&format!(".SS {}", escape(&synopsis(one)))), "{}", one.get_name());
            for flag in one.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(Arg::get_long) {
                assert!(matches!(flag, "help" | "version") || page.contains(&escape(&format!("--{flag}"))), "{} --{flag}", one.get_name());
                seen += 1;
            }
            open.extend(one.get_subcommands().filter(|below| below.get_name() != "help"));
        }
        assert!(seen > 100, "{seen}");
        assert!(page.lines().all(|line| !line.starts_with('.') || [".TH", ".SH", ".SS", ".TP"].contains(&&line[..3])), "{page}");
    }

    #[test]
    fn escaped_text_has_no_commands() {
        assert_eq!(escape(".TH a-b\n'x \\n"), "\\&.TH a\\-b\n\\&'x \\en");
    }
}
