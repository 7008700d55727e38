//! Maximum and actual cost of a call, from the price in the subject file.

use super::chat::TokenUsage;
use model::{ModelPrice, Money};

/// Allowance for tokens that vendors add to a request, mostly for tools. The longest prompt for tools that a vendor states has 804.
const OVERHEAD_TOKENS: u64 = 1_024;

/// Returns the maximum cost of a call: one token per byte of input at the highest input price, plus the full output limit. Tokenizers
/// never make more tokens than bytes; prose has about four bytes per token, digits in some of them one.
pub fn ceiling(price: &ModelPrice, input_bytes: u64, max_output: u64) -> Money {
    max_input_price(price)
        .cost_of_tokens(input_bytes.saturating_add(OVERHEAD_TOKENS))
        .saturating_add(price.output_per_mtok.cost_of_tokens(max_output))
}

/// Returns the cost of a call. Cached input without a separate price is charged conservatively.
pub fn cost(price: &ModelPrice, usage: &TokenUsage) -> Money {
    let plain = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
    let read = price.cache_read_per_mtok.unwrap_or(price.input_per_mtok);
    [
        price.input_per_mtok.cost_of_tokens(plain),
        read.cost_of_tokens(usage.cache_read),
        cache_write_price(price).cost_of_tokens(usage.cache_write),
        price.output_per_mtok.cost_of_tokens(usage.output),
    ]
    .into_iter()
    .sum()
}

/// Returns the cache write price; without one, twice the input price, the highest factor among vendors.
fn cache_write_price(price: &ModelPrice) -> Money {
    price.cache_write_per_mtok.unwrap_or(price.input_per_mtok.saturating_add(price.input_per_mtok))
}

fn max_input_price(price: &ModelPrice) -> Money {
    let read = price.cache_read_per_mtok.unwrap_or(price.input_per_mtok);
    price.input_per_mtok.max(read).max(cache_write_price(price))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(read: Option<u64>, write: Option<u64>) -> ModelPrice {
        ModelPrice {
            input_per_mtok: Money::from_dollars(2),
            output_per_mtok: Money::from_dollars(10),
            cache_read_per_mtok: read.map(Money::from_dollars),
            cache_write_per_mtok: write.map(Money::from_dollars),
            as_of: "2026-11-15".into(),
        }
    }

    #[test]
    fn cost_prices_cached_tokens_once() {
        let usage = TokenUsage { input: 1_000_000, output: 100_000, cache_read: 600_000, cache_write: 300_000, reasoning: 50_000 };
        // 0.1 × 2 + 0.6 × 1 + 0.3 × 3 + 0.1 × 10
        assert_eq!(cost(&price(Some(1), Some(3)), &usage).to_string(), "2.70");
        // 0.1 × 2 + 0.6 × 2 + 0.3 × 4 + 0.1 × 10
        assert_eq!(cost(&price(None, None), &usage).to_string(), "3.60");
    }

    #[test]
    fn ceiling_uses_the_highest_input_price() {
        assert_eq!(ceiling(&price(Some(1), Some(3)), 1_000_000 - OVERHEAD_TOKENS, 100_000), Money::from_dollars(4));
        assert_eq!(ceiling(&price(None, None), 1_000_000 - OVERHEAD_TOKENS, 0), Money::from_dollars(4));
    }
}
