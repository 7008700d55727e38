//! Disguised text: encodings with their inverses, and the search for a marker that may be encoded. Independent of attacks and transcripts.

mod encodings;
mod folded_readings;
mod folding;
mod invisible;
mod look_alikes;
mod marker;
mod readings;
mod text_pieces;

pub use folding::{append_folded_char, append_folded_words, normalize};
pub use invisible::{is_invisible, strip_invisible};
pub use marker::contains_marker;
pub use readings::{encoded_readings, readings};

/// Encoders. An encoder that cannot carry every text returns `None` for the others.
pub mod encode {
    pub use crate::encodings::base32::encode as base32;
    pub use crate::encodings::base64::{encode as base64, encode_url_safe as base64_url_safe};
    pub use crate::encodings::hex::encode as hex;
    pub use crate::encodings::homoglyph::encode as homoglyph;
    pub use crate::encodings::invisible_bits::encode as invisible_bits;
    pub use crate::encodings::leet::encode as leet;
    pub use crate::encodings::morse::encode as morse;
    pub use crate::encodings::percent::encode as percent;
    pub use crate::encodings::reversed::encode as reversed;
    pub use crate::encodings::rot13::encode as rot13;
    pub use crate::encodings::unicode_tags::encode as unicode_tags;
    pub use crate::encodings::variation_selectors::encode as variation_selectors;
    pub use crate::encodings::zero_width::encode as zero_width;
}

/// Exact inverses of the encoders. Morse returns upper case; leetspeak has no inverse.
pub mod decode {
    pub use crate::encodings::base32::decode as base32;
    pub use crate::encodings::base64::decode as base64;
    pub use crate::encodings::hex::decode as hex;
    pub use crate::encodings::homoglyph::decode as homoglyph;
    pub use crate::encodings::invisible_bits::decode as invisible_bits;
    pub use crate::encodings::morse::decode as morse;
    pub use crate::encodings::percent::decode as percent;
    pub use crate::encodings::reversed::encode as reversed;
    pub use crate::encodings::rot13::encode as rot13;
    pub use crate::encodings::unicode_tags::decode as unicode_tags;
    pub use crate::encodings::variation_selectors::decode as variation_selectors;
    pub use crate::encodings::zero_width::decode as zero_width;
}

#[cfg(test)]
mod tests;
