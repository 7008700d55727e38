//! The reference workspace, for tests.

use model::Workspace;
use std::sync::Arc;

pub(super) fn reference() -> Arc<Workspace> {
    testkit::reference_workspace()
}
