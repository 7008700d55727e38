//! What a call may cost at most, and what it did cost, from prices that are data.

use super::talk::Usage;
use model::{Money, Price};

/// Vendors put words of their own before ours, for tools above all; no call is thought to be smaller than this.
const AROUND: u64 = 2_048;

/// The most a call can cost: every byte a token, at the dearest price for input, and all the output it may use.
pub fn ceiling(price: &Price, input_bytes: u64, max_output: u64) -> Money {
    dearest(price).for_tokens(input_bytes.saturating_add(AROUND)).plus(price.output_per_mtok.for_tokens(max_output))
}

/// What a call cost. Cached input without a price of its own is charged so that it cannot be too little.
pub fn cost(price: &Price, usage: &Usage) -> Money {
    let plain = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
    let read = price.cache_read_per_mtok.unwrap_or(price.input_per_mtok);
    [
        price.input_per_mtok.for_tokens(plain),
        read.for_tokens(usage.cache_read),
        cache_write(price).for_tokens(usage.cache_write),
        price.output_per_mtok.for_tokens(usage.output),
    ]
    .into_iter()
    .sum()
}

/// Without a price, what the dearest vendor takes for keeping a prompt: twice the input.
fn cache_write(price: &Price) -> Money {
    price.cache_write_per_mtok.unwrap_or(price.input_per_mtok.plus(price.input_per_mtok))
}

fn dearest(price: &Price) -> Money {
    let read = price.cache_read_per_mtok.unwrap_or(price.input_per_mtok);
    price.input_per_mtok.max(read).max(cache_write(price))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(read: Option<u64>, write: Option<u64>) -> Price {
        Price {
            input_per_mtok: Money::dollars(2),
            output_per_mtok: Money::dollars(10),
            cache_read_per_mtok: read.map(Money::dollars),
            cache_write_per_mtok: write.map(Money::dollars),
            as_of: "2026-11-15".into(),
        }
    }

    #[test]
    fn cached_tokens_have_their_own_price_and_are_not_counted_twice() {
        let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 600_000, cache_write: 300_000, reasoning: 50_000 };
        // 0.1 × 2 + 0.6 × 1 + 0.3 × 3 + 0.1 × 10
        assert_eq!(cost(&price(Some(1), Some(3)), &usage).to_string(), "2.70");
        // 0.1 × 2 + 0.6 × 2 + 0.3 × 4 + 0.1 × 10
        assert_eq!(cost(&price(None, None), &usage).to_string(), "3.60");
    }

    #[test]
    fn the_ceiling_is_at_the_dearest_price() {
        assert_eq!(ceiling(&price(Some(1), Some(3)), 1_000_000 - AROUND, 100_000), Money::dollars(4));
        assert_eq!(ceiling(&price(None, None), 1_000_000 - AROUND, 0), Money::dollars(4));
    }
}
