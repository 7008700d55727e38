//! Resource limits, set for the launcher and inherited by the program.

use crate::ResourceLimits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Lowers the limits. One that is already lower stays.
pub(super) fn apply(limits: &ResourceLimits) {
    lower(Resource::Core, Some(0));
    lower(Resource::Nofile, limits.open_files);
    lower(Resource::Fsize, limits.file_bytes);
}

fn lower(resource: Resource, limit: Option<u64>) {
    let Some(limit) = limit else { return };
    let now = getrlimit(resource);
    let least = |current: Option<u64>| Some(current.map_or(limit, |current| current.min(limit)));
    // Lowering needs no rights and cannot fail.
    let _ = setrlimit(resource, Rlimit { current: least(now.current), maximum: least(now.maximum) });
}
