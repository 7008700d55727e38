//! YAML as a tree with line numbers. Scalars keep their text until a reader converts them to the expected type,
//! so `no`, `0x12` and a 78-digit amount are never misread.

mod emit;
mod fields;
mod json;
mod load;
mod node;
#[cfg(test)]
pub(crate) mod test_support;

pub use emit::emit;
pub use fields::{YamlFields, flag, list, map, name, number, one_of, spanned, text, unsigned};
pub use json::json;
pub use load::{YamlLimits, load};
pub use node::{YamlKey, YamlNode, YamlShape};
