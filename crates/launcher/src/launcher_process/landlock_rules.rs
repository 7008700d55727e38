//! Landlock rules of a confined program.

use crate::FileGrants;
use crate::grants::granted_paths;
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, NetPort, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope, path_beneath_rules,
};

/// Newest version of Landlock that we know. Older kernels hold to the part that they have.
const NEWEST: ABI = ABI::V9;

/// Returns true if the kernel has at least the first version of Landlock.
pub(crate) fn landlock_is_available() -> bool {
    let required = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(AccessFs::from_all(ABI::V1));
    required.and_then(Ruleset::create).is_ok()
}

/// Confines the calling thread and all processes that it starts from now on.
pub(super) fn restrict_thread(grants: &FileGrants) -> Result<(), String> {
    match restrict(grants) {
        Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced) => Ok(()),
        Ok(RulesetStatus::NotEnforced) => Err("the kernel did not enforce the Landlock rules".to_owned()),
        Err(error) => Err(format!("the program cannot be confined: {error}")),
    }
}

fn restrict(grants: &FileGrants) -> Result<RulesetStatus, RulesetError> {
    let rules = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::ConnectTcp)?
        .scope(Scope::AbstractUnixSocket)?
        .scope(Scope::Signal)?
        .create()?
        .add_rules(path_beneath_rules(granted_paths(grants), AccessFs::from_read(NEWEST)))?
        .add_rules(path_beneath_rules(&grants.files, AccessFs::from_read(NEWEST)))?
        .add_rules(path_beneath_rules(&grants.list, AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(&grants.write, AccessFs::from_all(NEWEST)))?
        .add_rules(grants.connect.iter().map(|port| Ok::<_, RulesetError>(NetPort::new(*port, AccessNet::ConnectTcp))))?;
    Ok(rules.restrict_self()?.ruleset)
}
