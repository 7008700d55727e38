//! Flags under their former names: still read, with a warning.

use model::UserError;

/// Former and current names.
const FORMER_FLAGS: &[(&str, &str)] = &[("--foreign-tools", "--imported-tools"), ("--play", "--run-first")];

/// Returns a warning for each former flag among the arguments.
pub(crate) fn former_flag_warnings(args: impl Iterator<Item = String>) -> Vec<String> {
    let name = |arg: &str| arg.split_once('=').map_or(arg, |(name, _)| name).to_owned();
    let given: Vec<String> = args.map(|arg| name(&arg)).collect();
    let used = FORMER_FLAGS.iter().filter(|(former, _)| given.iter().any(|arg| arg == former));
    let warning = |former: &str, current: &str| {
        UserError::new(format!("warning: {former} is now {current}"), "the former name will be removed").to_string()
    };
    used.map(|(former, current)| warning(former, current)).collect()
}
