//! Where a finished agent sits: who it is, and what it may use from there.

use model::Listing;

use crate::Who;

#[derive(Debug, Clone, PartialEq)]
pub struct Seat {
    pub who: Who,
    /// As the catalogue lists them; the world may add notes when they are shown.
    pub tools: Vec<Listing>,
    /// Agents it may delegate to.
    pub delegates: Vec<String>,
    /// Skills that can be activated: name and description. Without any there is no `use_skill`.
    pub skills: Vec<(String, String)>,
}
