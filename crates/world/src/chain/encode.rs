//! Encodes calldata from a Solidity signature and arguments as text.

use super::AddressBook;
use alloy_dyn_abi::{DynSolType, DynSolValue, JsonAbiExt, Specifier};
use alloy_json_abi::Function;
use alloy_primitives::{Address, U256};
use model::UserError;

/// Encodes a call. Arguments may use names of the address book for addresses and `max` for the largest integer.
pub fn encode(book: &AddressBook, signature: &str, words: &[String]) -> Result<Vec<u8>, UserError> {
    if signature.is_empty() {
        return if words.is_empty() { Ok(vec![]) } else { Err(UserError::without_remedy("a plain payment takes no arguments")) };
    }
    let function =
        Function::parse(signature).map_err(|error| UserError::without_remedy(format!("\"{signature}\" is not a function: {error}")))?;
    if function.inputs.len() != words.len() {
        let what = format!("{signature} takes {}, got {}", model::count(function.inputs.len(), "argument"), words.len());
        return Err(UserError::without_remedy(what));
    }
    let values: Result<Vec<DynSolValue>, UserError> = function
        .inputs
        .iter()
        .zip(words)
        .map(|(input, word)| {
            let kind: DynSolType = input.resolve().map_err(|error| UserError::caused_by(error).with_context(&input.ty))?;
            parse_value(book, &kind, word)
        })
        .collect();
    function.abi_encode_input(&values?).map_err(UserError::caused_by)
}

fn parse_value(book: &AddressBook, kind: &DynSolType, word: &str) -> Result<DynSolValue, UserError> {
    if let DynSolType::Uint(bits) = kind
        && word == "max"
    {
        return Ok(DynSolValue::Uint(U256::MAX >> (256 - bits), *bits));
    }
    if matches!(kind, DynSolType::Address) {
        return parse_address(book, word).map(DynSolValue::Address);
    }
    kind.coerce_str(word).map_err(|error| UserError::without_remedy(format!("\"{word}\" is not {kind}: {error}")))
}

/// Parses an address, or a name of the address book.
pub fn parse_address(book: &AddressBook, word: &str) -> Result<Address, UserError> {
    if let Some(found) = book.find(word) {
        return Ok(found);
    }
    word.parse::<Address>().map_err(|_| {
        let guess = model::did_you_mean(word, book.entries().map(|(_, entry)| entry.name.as_str()));
        UserError::new(format!("\"{word}\" is neither an address nor a name of this world"), guess)
    })
}
