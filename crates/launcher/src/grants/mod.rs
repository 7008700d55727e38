//! Files and ports that an external agent needs: the system's programs and libraries, its interpreter, its own code and its own folder.

mod breadth;
#[cfg(target_os = "linux")]
mod expand;
mod package;
mod program;
mod system;

#[cfg(target_os = "linux")]
pub(crate) use expand::granted_paths;

use crate::FileGrants;
use breadth::TooBroad;
use std::io;
use std::path::{Path, PathBuf};

/// Input for the grants of one agent.
#[derive(Debug)]
pub struct GrantRequest<'g> {
    /// Program and arguments, paths of files absolute.
    pub command: &'g [String],
    /// Search path of the agent.
    pub search_path: Option<&'g str>,
    /// Folder of the agent in this trial.
    pub own_folder: &'g Path,
    /// Home folder of the user, which is never granted as a whole.
    pub home: Option<&'g Path>,
    /// Files and folders granted by the subject file.
    pub read: &'g [PathBuf],
    /// Workspace, store and evaluator.
    pub withheld: &'g [PathBuf],
    pub connect: &'g [u16],
}

impl GrantRequest<'_> {
    /// Collects the grants.
    ///
    /// # Errors
    /// If the program does not exist.
    pub fn resolve(&self) -> io::Result<FileGrants> {
        let withheld: Vec<PathBuf> = self.withheld.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let mut grants = FileGrants { withheld, connect: self.connect.to_vec(), ..FileGrants::default() };
        grants.read.extend(system::FOLDERS.iter().map(PathBuf::from));
        grants.write.extend(system::DEVICES.iter().map(PathBuf::from));
        grants.write.push(self.own_folder.to_owned());
        grants.read.extend(self.read.iter().cloned());
        let broad = TooBroad { home: self.home };
        let program = program::add_program(&mut grants, &self.command[0], self.search_path, broad)?;
        let named = self.named_paths();
        // The script is the program itself or the first file among its arguments; further files come alone.
        let script = named.iter().find(|path| path.is_file()).cloned();
        for script in program.into_iter().chain(script) {
            package::add_package(&mut grants, &script, broad);
        }
        for path in named {
            if path.is_file() {
                grants.files.push(path);
            } else if path.is_dir() && !broad.holds(&path) {
                package::add_folder(&mut grants, &path);
            }
        }
        Ok(grants)
    }

    /// Returns existing absolute paths among the arguments, also behind `=`.
    fn named_paths(&self) -> Vec<PathBuf> {
        let paths = self.command.iter().skip(1).map(|word| Path::new(word.split_once('=').map_or(word.as_str(), |(_, value)| value)));
        paths.filter(|path| path.is_absolute() && path.exists() && !path.starts_with(self.own_folder)).map(Path::to_owned).collect()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{GrantRequest, granted_paths};
    use crate::FileGrants;
    use std::fs;
    use std::path::{Path, PathBuf};

    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::File::create(path).expect("a file");
        }
        folder
    }

    fn resolve(root: &Path, script: &str, withheld: &[&str]) -> FileGrants {
        let withheld: Vec<PathBuf> = withheld.iter().map(|name| root.join(name)).collect();
        let command = ["sh".to_owned(), root.join(script).display().to_string()];
        let request = GrantRequest {
            command: &command,
            search_path: Some("/usr/bin:/bin"),
            own_folder: Path::new("/nowhere"),
            home: None,
            read: &[],
            withheld: &withheld,
            connect: &[],
        };
        request.resolve().expect("grants")
    }

    /// Returns whether a file may be read.
    fn reads(grants: &FileGrants, path: &Path) -> bool {
        granted_paths(grants).iter().chain(&grants.files).any(|granted| path.starts_with(granted))
    }

    #[test]
    fn package_is_granted_without_workspace_store_and_history() {
        let folder =
            folder_with(&["package.json", "dist/agent.js", "node_modules/a/a.js", "evals/suite.yaml", ".store/s.sqlite", ".git/x"]);
        let root = folder.path();
        let grants = resolve(root, "dist/agent.js", &["evals", ".store"]);
        for granted in ["dist/agent.js", "node_modules/a/a.js", "package.json"] {
            assert!(reads(&grants, &root.join(granted)), "{granted}");
        }
        for held in ["evals/suite.yaml", ".store/s.sqlite", ".git/x"] {
            assert!(!reads(&grants, &root.join(held)), "{held}");
        }
    }

    #[test]
    fn script_inside_the_workspace_is_granted_alone() {
        let folder = folder_with(&["evals/agents/agent.sh", "evals/agents/expected.yaml"]);
        let grants = resolve(folder.path(), "evals/agents/agent.sh", &["evals"]);
        assert!(reads(&grants, &folder.path().join("evals/agents/agent.sh")));
        assert!(!reads(&grants, &folder.path().join("evals/agents/expected.yaml")));
    }

    #[test]
    fn script_in_a_home_folder_is_granted_alone() {
        let folder = folder_with(&["agent.sh", "secret"]);
        let command = ["sh".to_owned(), folder.path().join("agent.sh").display().to_string()];
        let home = Some(folder.path());
        let own_folder = Path::new("/nowhere");
        let request =
            GrantRequest { command: &command, search_path: Some("/usr/bin"), own_folder, home, read: &[], withheld: &[], connect: &[] };
        let grants = request.resolve().unwrap();
        assert!(reads(&grants, &folder.path().join("agent.sh")) && !reads(&grants, &folder.path().join("secret")));
    }

    #[test]
    fn program_outside_the_system_brings_its_installation() {
        let folder = folder_with(&["node-22/bin/node", "node-22/lib/modules.js", "other/file"]);
        let command = [folder.path().join("node-22/bin/node").display().to_string()];
        let own_folder = Path::new("/nowhere");
        let request =
            GrantRequest { command: &command, search_path: None, own_folder, home: None, read: &[], withheld: &[], connect: &[443] };
        let grants = request.resolve().unwrap();
        assert!(reads(&grants, &folder.path().join("node-22/lib/modules.js")) && !reads(&grants, &folder.path().join("other/file")));
        assert_eq!(grants.connect, [443]);
    }

    #[test]
    fn missing_program_is_an_error() {
        let command = ["no-such-program-anywhere".to_owned()];
        let own_folder = Path::new("/nowhere");
        let request = GrantRequest {
            command: &command,
            search_path: Some("/usr/bin"),
            own_folder,
            home: None,
            read: &[],
            withheld: &[],
            connect: &[],
        };
        assert_eq!(request.resolve().unwrap_err().kind(), std::io::ErrorKind::NotFound);
    }
}
