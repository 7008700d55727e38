//! Command line of bubblewrap: own mounts, processes, IPC and host name. The network is shared, because the world listens on 127.0.0.1.

use crate::FileGrants;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Returns the arguments of `bwrap` for a command.
pub(super) fn arguments(grants: &FileGrants, command: &[String]) -> Vec<OsString> {
    let fixed = ["--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent"];
    let mut args: Vec<OsString> = fixed.into_iter().map(OsString::from).collect();
    // The grants name the devices and /proc of the machine; inside there are own ones.
    args.extend(["--proc", "/proc", "--dev", "/dev"].map(OsString::from));
    for path in grants.read.iter().filter(|path| is_bound(path)) {
        args.extend(mount("--ro-bind-try", path, path));
    }
    let is_reached = |path: &&PathBuf| grants.read.iter().any(|read| path.starts_with(read));
    for path in grants.withheld.iter().filter(is_reached) {
        if path.is_dir() {
            args.extend(["--tmpfs".into(), path.into()]);
        } else if path.exists() {
            args.extend(mount("--ro-bind", Path::new("/dev/null"), path));
        }
    }
    for path in &grants.files {
        args.extend(mount("--ro-bind-try", path, path));
    }
    for path in grants.write.iter().filter(|path| is_bound(path)) {
        args.extend(mount("--bind", path, path));
    }
    args.push("--".into());
    args.extend(command.iter().map(OsString::from));
    args
}

fn is_bound(path: &Path) -> bool {
    !["/proc", "/dev"].iter().any(|own| path.starts_with(own))
}

fn mount(option: &str, from: &Path, to: &Path) -> [OsString; 3] {
    [option.into(), from.into(), to.into()]
}
