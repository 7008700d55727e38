//! Help in workspaces without `policy.yaml`: options of chains are left out, and no text speaks of them. They are parsed all the same.

use clap::{Arg, Command};

/// Trade of the workspace that help is printed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HelpTrade {
    /// The DeFi rules are in force, or there is no workspace.
    Defi,
    General,
}

const ABOUT: &str = "Evaluates LLM-driven agents before their actions are real";
const CHANNEL: &str = "Only attacks through this channel: user, tool_result, tool_description, memory, agent_message or file";
const LISTED: &str = "Part to list: tools, profiles, agents, skills, suites, cases, tags, coverage, worlds, subjects, tiers, gates, checks, \
                      scorers, probes, strategies, oracles or faults";
/// Options that only DeFi workspaces need, by command.
const HIDDEN: &[(&str, &[&str])] =
    &[("run", &["chain", "defence"]), ("redteam", &["chain", "defence", "enforce_too"]), ("chat", &["chain", "defence", "own_peers"])];

impl HelpTrade {
    /// Returns the command line with the help of this trade.
    pub(super) fn adapt(self, command: Command) -> Command {
        if self == HelpTrade::Defi {
            return command;
        }
        let hide = |command: Command, (name, options): &(&str, &[&str])| {
            command.mut_subcommand(*name, |sub| options.iter().fold(sub, |sub, option| sub.mut_arg(*option, |arg| arg.hide(true))))
        };
        let command = HIDDEN.iter().fold(command.about(ABOUT).long_about(ABOUT), hide);
        command
            .mut_subcommand("redteam", |sub| sub.mut_arg("channel", |arg: Arg| arg.help(CHANNEL)))
            .mut_subcommand("list", |sub| sub.mut_arg("what", |arg: Arg| arg.hide_possible_values(true).help(LISTED)))
    }
}
