//! One encoding per file: `encode`, its inverse `decode`, and `read`, which finds encoded parts in any text.

pub(crate) mod base32;
pub(crate) mod base64;
pub(crate) mod hex;
pub(crate) mod homoglyph;
pub(crate) mod invisible_bits;
pub(crate) mod leet;
pub(crate) mod morse;
pub(crate) mod percent;
pub(crate) mod reversed;
pub(crate) mod rot13;
pub(crate) mod unicode_tags;
pub(crate) mod variation_selectors;
pub(crate) mod zero_width;

/// Replaces characters in words that have no ASCII digit. Numbers, addresses and codes stay usable.
fn map_plain_words(text: &str, replace: impl Fn(char) -> char) -> String {
    let mut mapped = String::with_capacity(text.len());
    for part in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let is_code = part.bytes().any(|c| c.is_ascii_digit());
        mapped.extend(part.chars().map(|c| if is_code { c } else { replace(c) }));
    }
    mapped
}
