//! The help text of every command.

use super::compare;
use crate::harness::TestFolder;

/// Returns the names below `Commands:`.
fn subcommands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Returns the help of a command and of all below it.
fn help(folder: &TestFolder, command: &[&str]) -> String {
    let text = folder.run(&[command, &["--help"]].concat()).assert_exit(0).stdout;
    let below = subcommands(&text);
    below.iter().fold(format!("$ bardo-eval {} --help\n{text}\n", command.join(" ")), |all, name| {
        all + &help(folder, &[command, &[name.as_str()]].concat())
    })
}

#[test]
fn help_of_every_command() {
    let folder = TestFolder::new();
    let top = folder.run(&["--help"]).assert_exit(0).stdout;
    compare("help", "--help", &top);
    let commands = subcommands(&top);
    assert!(commands.len() >= 17 && commands.contains(&"run".to_owned()), "{commands:?}");
    for command in &commands {
        compare(&format!("help_{command}"), &format!("{command} --help"), &help(&folder, &[command]));
    }
}

#[test]
fn short_help_and_usage_errors() {
    let folder = TestFolder::new();
    for (name, args) in [
        ("usage_none", &[][..]),
        ("usage_unknown_command", &["smok"]),
        ("usage_unknown_flag", &["run", "--subjct", "echo"]),
        ("usage_bad_value", &["smoke", "--format", "xml"]),
        ("usage_conflict", &["run", "--resume", "--trials", "3"]),
        ("usage_short_help", &["smoke", "-h"]),
    ] {
        super::snapshot(name, &folder, args);
    }
}
