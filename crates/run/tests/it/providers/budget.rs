//! The budget is never exceeded: 64 concurrent callers with random prices and sizes, in a thousand random schedules.

use model::{ModelPrice, Money};
use proptest::prelude::*;
use run::providers::{TokenUsage, ceiling, cost};
use run::{Budget, BudgetExhausted};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// Caller with its request size, actual usage and ending.
#[derive(Debug, Clone)]
struct BudgetCaller {
    price: ModelPrice,
    bytes: u64,
    max_output: u64,
    used: TokenUsage,
    /// Number of polls until its reply is ready.
    takes: usize,
    ends: CallerEnding,
}

#[derive(Debug, Clone, Copy)]
enum CallerEnding {
    Settled,
    /// Rejected without cost.
    Free,
    /// Killed before it settles.
    Killed,
}

fn price() -> impl Strategy<Value = ModelPrice> {
    (0..50_000_000_000u64, 0..200_000_000_000u64, proptest::option::of(0..60_000_000_000u64), proptest::option::of(0..90_000_000_000u64))
        .prop_map(|(input, output, read, write)| ModelPrice {
            input_per_mtok: Money::from_nanos(input),
            output_per_mtok: Money::from_nanos(output),
            cache_read_per_mtok: read.map(Money::from_nanos),
            cache_write_per_mtok: write.map(Money::from_nanos),
            as_of: "2026-11-15".into(),
        })
}

fn caller() -> impl Strategy<Value = BudgetCaller> {
    let ends = prop_oneof![8 => Just(CallerEnding::Settled), 1 => Just(CallerEnding::Free), 1 => Just(CallerEnding::Killed)];
    (price(), 1..200_000u64, 1..20_000u64, (0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64), 0..6usize, ends).prop_map(
        |(price, bytes, max_output, (input, output, read, write), takes, ends)| {
            let part = |whole: u64, share: f64| (whole as f64 * share) as u64;
            // A token has at least one byte.
            let input = part(bytes, input);
            let cache_read = part(input, read);
            let used = TokenUsage {
                input,
                output: part(max_output, output),
                cache_read,
                cache_write: part(input - cache_read, write),
                reasoning: 0,
            };
            BudgetCaller { price, bytes, max_output, used, takes, ends }
        },
    )
}

/// Amount charged, or the reason of the refusal.
type CallerOutcome = Result<Money, BudgetExhausted>;

async fn call(budget: Arc<Budget>, caller: BudgetCaller, outcomes: Arc<Mutex<Vec<CallerOutcome>>>) {
    let most = ceiling(&caller.price, caller.bytes, caller.max_output);
    let outcome = match budget.reserve(most).await {
        Ok(reservation) => {
            let mut left = caller.takes;
            std::future::poll_fn(|_| {
                if left == 0 {
                    Poll::Ready(())
                } else {
                    left -= 1;
                    Poll::Pending
                }
            })
            .await;
            match caller.ends {
                CallerEnding::Settled => {
                    let paid = cost(&caller.price, &caller.used);
                    assert!(paid <= most, "a call cost more than its ceiling");
                    reservation.settle(paid);
                    Ok(paid)
                }
                CallerEnding::Free => {
                    reservation.settle(Money::ZERO);
                    Ok(Money::ZERO)
                }
                CallerEnding::Killed => {
                    drop(reservation);
                    Ok(most)
                }
            }
        }
        Err(unfunded) => Err(unfunded),
    };
    outcomes.lock().unwrap().push(outcome);
}

/// Polls the callers in the given order until all are done, as the only scheduler.
fn run_callers(limit: Money, callers: &[BudgetCaller], order: &mut dyn FnMut(usize) -> usize) -> Result<(), TestCaseError> {
    let budget = Budget::new(Some(limit));
    let outcomes = Arc::new(Mutex::new(vec![]));
    let mut under_way: Vec<Pin<Box<dyn Future<Output = ()>>>> = callers
        .iter()
        .map(|caller| Box::pin(call(budget.clone(), caller.clone(), outcomes.clone())) as Pin<Box<dyn Future<Output = ()>>>)
        .collect();
    let mut context = Context::from_waker(Waker::noop());
    let mut looks = 0;
    while !under_way.is_empty() {
        let chosen = order(under_way.len());
        if under_way[chosen].as_mut().poll(&mut context).is_ready() {
            drop(under_way.swap_remove(chosen));
        }
        prop_assert!(budget.committed() <= limit, "{} committed of {limit}", budget.committed());
        looks += 1;
        prop_assert!(looks < 2_000_000, "{} callers wait forever", under_way.len());
    }
    let outcomes = outcomes.lock().unwrap();
    prop_assert_eq!(outcomes.len(), callers.len());
    let charged: Money = outcomes.iter().filter_map(|outcome| outcome.as_ref().ok().copied()).sum();
    prop_assert_eq!(budget.spent(), charged);
    prop_assert_eq!(budget.committed(), charged);
    prop_assert!(charged <= limit);
    // A caller is refused only if its ceiling did not fit.
    for refused in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        let is_too_little = matches!(refused, BudgetExhausted::TooLittle { left, ceiling } if ceiling > left);
        prop_assert!(is_too_little);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn concurrent_calls_never_exceed_the_budget(
        callers in proptest::collection::vec(caller(), 64),
        // From zero to more than the total cost.
        budget in prop_oneof![0..2_000_000_000u64, 0..400_000_000_000u64],
        mut seed in any::<u64>(),
    ) {
        let mut order = |many: usize| {
            // Linear congruential generator, so that a schedule is one number and shrinks as one.
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap_or_default() % many
        };
        run_callers(Money::from_nanos(budget), &callers, &mut order)?;
    }
}
