//! User with fixed turns: says them in order, regardless of the answers.

use super::{User, UserFault, UserInput, UserReply};
use async_trait::async_trait;
use std::collections::VecDeque;

#[derive(Debug, Clone)]
pub struct FixedTurns(VecDeque<String>);

impl FixedTurns {
    pub fn new(turns: impl IntoIterator<Item = String>) -> Self {
        Self(turns.into_iter().collect())
    }
}

#[async_trait]
impl User for FixedTurns {
    async fn respond(&mut self, _: UserInput<'_>) -> Result<UserReply, UserFault> {
        Ok(self.0.pop_front().map_or(UserReply::Leaves, UserReply::plain))
    }
}
