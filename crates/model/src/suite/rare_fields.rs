//! Fields that most cases leave at their default. All of those share one value, so that a case in memory is small.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Value with a shared default.
pub trait RareValue: Default + Clone + 'static {
    /// Returns the one default that all share.
    fn shared() -> &'static Arc<Self>;
    fn is_default(&self) -> bool;
}

/// Shared value. Changing it copies it first.
#[derive(Debug, Clone)]
pub struct RareFields<T>(Arc<T>);

impl<T: RareValue> Default for RareFields<T> {
    fn default() -> Self {
        Self(T::shared().clone())
    }
}

impl<T: RareValue> From<T> for RareFields<T> {
    fn from(value: T) -> Self {
        if value.is_default() { Self::default() } else { Self(Arc::new(value)) }
    }
}

impl<T> Deref for RareFields<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for RareFields<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}
