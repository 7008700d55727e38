//! Folders that hold more than one thing and are never granted because a file in them is needed.

use std::path::Path;

const SHARED: &[&str] =
    &["/", "/home", "/root", "/tmp", "/var", "/var/tmp", "/var/lib", "/etc", "/run", "/mnt", "/media", "/dev", "/proc", "/sys", "/Users"];
const SHARED_IN_HOME: &[&str] = &["", ".local", ".local/share", ".config", ".cache", ".cargo", "bin"];

#[derive(Debug, Clone, Copy)]
pub(super) struct TooBroad<'h> {
    pub(super) home: Option<&'h Path>,
}

impl TooBroad<'_> {
    pub(super) fn holds(self, folder: &Path) -> bool {
        let in_home = |home: &Path| home.starts_with(folder) || SHARED_IN_HOME.iter().any(|name| home.join(name) == folder);
        SHARED.iter().any(|shared| Path::new(shared) == folder) || self.home.is_some_and(in_home)
    }
}
