//! `import`: turns configs of other frameworks into workspaces.

use super::promptfoo::ConfigFolder;
use crate::args::{ConfigImport, ConfigImportArgs};
use crate::exit::ExitKind;
use crate::files;
use crate::io::CliOutput;
use crate::report;
use model::UserError;
use promptfoo::{ImportedSuite, import_suite, read_for_import};

pub(crate) fn import(io: &CliOutput, command: &ConfigImport) -> ExitKind {
    let ConfigImport::Promptfoo(args) = command;
    match imported(args) {
        Err(why) => report::print_refusal(io, "import", &[why]),
        Ok(imported) if imported.cases == 0 => {
            list(io, &imported);
            let why = UserError::new("nothing of the config can be carried over", "nothing was written");
            report::print_refusal(io, "import", &[why])
        }
        Ok(imported) => match write(args, &imported) {
            Err(why) => report::print_refusal(io, "import", &[why]),
            Ok(()) => {
                list(io, &imported);
                let exit = if imported.left_out.is_empty() { ExitKind::Clean } else { ExitKind::Incomplete };
                let counts = format!("{}, {} left out", model::count(imported.cases, "case"), imported.left_out.len());
                io.print_result(&format!("{}: {counts}\n", args.out.display()), exit)
            }
        },
    }
}

fn imported(args: &ConfigImportArgs) -> Result<ImportedSuite, UserError> {
    let name = args.config.display().to_string();
    let text = files::read_tests(&args.config).map_err(|why| UserError::new(format!("{name} cannot be read: {why}"), "check the path"))?;
    let (suite, mistakes) = read_for_import(&name, &text, &ConfigFolder::of(&args.config));
    Ok(import_suite(&suite, mistakes))
}

fn list(io: &CliOutput, imported: &ImportedSuite) {
    for problem in &imported.left_out {
        io.print_message(&format!("left out  {problem}"));
    }
    imported.notes.iter().for_each(|note| io.print_message(note));
}

/// Writes the files into a folder that must be new.
fn write(args: &ConfigImportArgs, imported: &ImportedSuite) -> Result<(), UserError> {
    if files::exists(&args.out) {
        let what = format!("{} exists", args.out.display());
        return Err(UserError::new(what, "name another folder with --out"));
    }
    for (path, text) in &imported.files {
        let path = args.out.join(path);
        files::write(&path, text).map_err(|why| UserError::without_remedy(format!("{} cannot be written: {why}", path.display())))?;
    }
    Ok(())
}
