//! Answers made up from the schemas of the tools: right in shape, meaningless in content, the same for the same seed and question.

use std::collections::BTreeMap;

use async_trait::async_trait;
use model::Hash;
use serde_json::{Map, Value, json};

use super::passed::unknown;
use super::stub::stub;
use super::{Offer, Source, SourceError};
use crate::mcp::shown::shown;

#[derive(Debug, Clone)]
pub struct Stubbed {
    offers: Vec<Offer>,
    seed: u64,
}

impl Stubbed {
    pub fn new(offers: Vec<Offer>, seed: u64) -> Self {
        Self { offers, seed }
    }

    /// Tools for which nothing can be made up, with the reason: to be told before a run, not in the middle of it.
    pub fn gaps(&self) -> BTreeMap<String, SourceError> {
        let tried = self.offers.iter().map(|offer| (offer.listing.name.clone(), self.made(offer, &Map::new())));
        tried.filter_map(|(name, made)| made.err().map(|error| (name, error))).collect()
    }

    fn made(&self, offer: &Offer, args: &Map<String, Value>) -> Result<Value, SourceError> {
        let tool = shown(&offer.listing.name, 100);
        let Some(schema) = &offer.output_schema else { return Err(SourceError::NoSchema { tool }) };
        let unfit = |why: String| SourceError::Unstubbable { tool: tool.clone(), why: shown(&why, 300) };
        let question = json!([self.seed, offer.listing.name, args]);
        let value = stub(schema, &Hash::of(&question)).map_err(unfit)?;
        // What was made up is checked, not trusted: a schema can ask for more than we understand.
        let validator = jsonschema::validator_for(schema).map_err(|error| unfit(error.to_string()))?;
        match validator.validate(&value) {
            Ok(()) => Ok(value),
            Err(error) => Err(unfit(error.to_string())),
        }
    }
}

#[async_trait]
impl Source for Stubbed {
    async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError> {
        match self.offers.iter().find(|offer| offer.listing.name == tool) {
            None => Err(unknown(tool, &self.offers)),
            Some(offer) => self.made(offer, args),
        }
    }
}
