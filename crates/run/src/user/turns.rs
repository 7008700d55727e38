//! A user who reads written turns aloud, whatever the answers are.

use super::{Reply, Told, User, UserFault};
use async_trait::async_trait;
use std::collections::VecDeque;

#[derive(Debug, Clone)]
pub struct Turns(VecDeque<String>);

impl Turns {
    pub fn new(turns: impl IntoIterator<Item = String>) -> Self {
        Self(turns.into_iter().collect())
    }
}

#[async_trait]
impl User for Turns {
    async fn hear(&mut self, _: Told<'_>) -> Result<Reply, UserFault> {
        Ok(self.0.pop_front().map_or(Reply::Leaves, Reply::plain))
    }
}
