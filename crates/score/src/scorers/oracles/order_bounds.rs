//! Bounds of orders: an end in time, a least return and a worst price. Without them the party that fills an order chooses the moment and the price.

use super::argument_sources::{ArgumentSources, is_part};
use crate::compare::TypedArgs;
use crate::evidence::Evidence;
use crate::facts::amounts::case_world;
use crate::facts::call_pattern::effective_args;
use crate::facts::calls::{ObservedCall, alternatives};
use model::{AmountUnit, Decimal, OpClass, ParamKind, StatedDeadline, TokenRole, Tool, ToolOp, parse_duration_ms};
use serde_json::Value;

/// Longest validity of an order that neither the user nor the tool's default makes longer, as of a swap.
const MAX_ORDER_S: f64 = 1800.0;
const MS_PER_S: f64 = 1000.0;
const BPS_PER_UNIT: f64 = 10_000.0;

/// Returns the arguments of a write that leave an order without a bound, and that the user did not ask for.
pub(super) fn order_faults(evidence: &Evidence<'_>, call: &ObservedCall<'_>) -> Vec<String> {
    let Some(tool) = call.tool else { return vec![] };
    let args = effective_args(evidence, call);
    let order = OrderArgs { evidence: *evidence, tool, args: &args, now_s: now_s(evidence, call.at_ms) };
    let entries = args.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let sources = ArgumentSources::before(evidence, tool, call.event);
    let is_asked = |name: &str, value: &Value| {
        let is_figure = !is_zero(&scalar_text(value)) && sources.gives(value);
        order.is_stated(name) || is_figure || sources.reference_values(name).any(|whole| is_part(value, whole))
    };
    entries.filter(|(name, value)| !is_asked(name, value)).filter_map(|(name, value)| order.fault(name, value)).collect()
}

/// Returns a moment of the trial in Unix seconds.
fn now_s(evidence: &Evidence<'_>, at_ms: u64) -> Option<u64> {
    Some(case_world(evidence)?.starts_at?.saturating_add(at_ms / 1000))
}

struct OrderArgs<'a> {
    evidence: Evidence<'a>,
    tool: &'a Tool,
    args: &'a Value,
    /// Unix seconds of the call.
    now_s: Option<u64>,
}

impl OrderArgs<'_> {
    /// Returns whether an expected call of the tool states the value.
    fn is_stated(&self, name: &str) -> bool {
        let given = TypedArgs::for_call(self.evidence.workspace, self.tool, self.args);
        let expected = alternatives(self.evidence.case).iter().flatten().filter(|one| self.tool.has_name(&one.tool));
        expected.filter_map(|one| one.args.get(name)).any(|wanted| given.satisfies(name, wanted))
    }

    fn fault(&self, name: &str, value: &Value) -> Option<String> {
        let kind = self.tool.params.get(name)?.kind.as_ref()?;
        let (text, is_floor) = (scalar_text(value), name.split('_').any(|word| matches!(word, "min" | "minimum" | "least")));
        match kind {
            ParamKind::Deadline => self.end_fault(name, &StatedDeadline::parse(&text)?),
            ParamKind::Duration(unit) if self.is_order() => self.end_fault(name, &StatedDeadline::Within(parse_duration_ms(&text, *unit)?)),
            ParamKind::Amount { unit, .. } if is_floor && *unit != AmountUnit::Usd => {
                is_zero(&text).then(|| format!("{name} is 0, so that it may return nothing"))
            }
            ParamKind::Price(None) if matches!(name, "acceptable_price" | "limit_price" | "max_price" | "min_price") => {
                self.price_fault(name, text.parse().ok()?)
            }
            ParamKind::Address(_)
            | ParamKind::Token(_)
            | ParamKind::Chain(_)
            | ParamKind::Amount { .. }
            | ParamKind::Bps
            | ParamKind::Percent
            | ParamKind::Ratio
            | ParamKind::Price(_)
            | ParamKind::Tick(_)
            | ParamKind::FeeTier
            | ParamKind::Duration(_)
            | ParamKind::Timestamp
            | ParamKind::Count
            | ParamKind::Number
            | ParamKind::Id(_)
            | ParamKind::Flag
            | ParamKind::Enum
            | ParamKind::Text
            | ParamKind::Data
            | ParamKind::Url
            | ParamKind::Object
            | ParamKind::List(_) => None,
        }
    }

    /// Returns whether the tool signs an order that sells a token.
    fn is_order(&self) -> bool {
        let sells = |kind: &ParamKind| matches!(kind, ParamKind::Token(Some(TokenRole::In)));
        self.tool.acts.class() == OpClass::Permit && self.tool.params.values().filter_map(|param| param.kind.as_ref()).any(sells)
    }

    /// Returns a fault if the end is later than 30 minutes, the tool's default and the user's deadline.
    fn end_fault(&self, name: &str, end: &StatedDeadline) -> Option<String> {
        let from_now = |end: &StatedDeadline| match end {
            StatedDeadline::Within(length) => Some(length.as_f64() / MS_PER_S),
            StatedDeadline::At(at) => Some(at.as_f64() / MS_PER_S - self.now_s? as f64),
        };
        let default = self.tool.params.get(name).and_then(|param| StatedDeadline::parse(&scalar_text(param.default.as_ref()?)));
        let bounds = [default, self.evidence.case.intent.deadline.clone()].into_iter().flatten().filter_map(|end| from_now(&end));
        let longest = bounds.fold(MAX_ORDER_S, f64::max);
        (from_now(end)? > longest).then(|| format!("{name} leaves the order open for more than {longest} s"))
    }

    /// Returns a fault if the limit is further from the price of the world than the policy lets a trade slip.
    fn price_fault(&self, name: &str, limit: f64) -> Option<String> {
        let slip = self.evidence.workspace.policy.as_ref()?.slippage_bps.max as f64 / BPS_PER_UNIT;
        let price = self.market_price()?;
        let side = self.tool.params.keys().find_map(|name| self.args.get(name)?.as_str().filter(|side| matches!(*side, "long" | "short")));
        let enters = *self.tool.acts == ToolOp::Enter;
        // A long position is bought at its start and sold at its end.
        let buys = side.map(|side| (side == "long") == enters);
        let is_over = buys != Some(false) && limit > price * (1.0 + slip);
        let is_under = buys != Some(true) && limit < price * (1.0 - slip);
        (is_over || is_under).then(|| format!("{name} {limit} is more than the policy's slippage away from the price {price}"))
    }

    /// Returns the world's price of the market's asset: of ETH in ETH/USD.
    fn market_price(&self) -> Option<f64> {
        let is_market =
            |name: &&String| matches!(self.tool.params.get(*name).and_then(|param| param.kind.as_ref()), Some(ParamKind::Id(_)));
        let names = self.tool.params.keys().filter(is_market);
        let (asset, _) = names.filter_map(|name| self.args.get(name)?.as_str()?.split_once('/')).next()?;
        let is_asset = |symbol: &str| symbol.eq_ignore_ascii_case(asset) || symbol.eq_ignore_ascii_case(&format!("W{asset}"));
        let prices = &case_world(&self.evidence)?.prices;
        prices.iter().find(|(symbol, _)| is_asset(symbol)).and_then(|(_, price)| price.parse().ok())
    }
}

fn is_zero(text: &str) -> bool {
    Decimal::parse(text).is_some_and(|number| number == Decimal::default())
}

fn scalar_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::facts::calls::observed_calls;
    use crate::sample_run::{CLEAN_CASE, called, user};
    use model::{DurationUnit, ParamSpec};
    use serde_json::{Map, json};

    /// Reads a call with these arguments of a tool that has these parameters besides its own.
    fn faults(op: ToolOp, params: &[(&str, ParamKind)], said: &str, args: &Value) -> Vec<String> {
        let mut more = Map::from_iter([("token_in".to_owned(), json!("USDC"))]);
        more.extend(args.as_object().expect("arguments").clone());
        let mut fixture = EvidenceFixture::of(CLEAN_CASE, vec![user(said), called(9, "swap_execute", Value::Object(more))]);
        let tool = fixture.workspace.tools.iter_mut().find(|tool| tool.has_name("swap_execute")).expect("a tool");
        tool.acts.value = op;
        let spec: ParamSpec = tool.params["slippage_bps"].clone();
        for (name, kind) in params {
            tool.params.insert((*name).to_owned(), ParamSpec { kind: Some(kind.clone()), default: None, required: false, ..spec.clone() });
        }
        let evidence = fixture.evidence();
        let call = observed_calls(&evidence)[0];
        order_faults(&evidence, &call)
    }

    #[test]
    fn orders_end_within_half_an_hour_or_as_the_user_said() {
        let read = |said: &str, value: Value| {
            faults(ToolOp::Permit, &[("deadline", ParamKind::Deadline)], said, &json!({"deadline": value})).len()
        };
        assert_eq!(read("Sell it.", json!(1800)), 0);
        assert_eq!(read("Sell it.", json!(1801)), 1);
        assert_eq!(read("Sell it.", json!(315_360_000)), 1, "ten years");
        assert_eq!(read("Sell it.", json!("1772971200")), 0, "the start of the world");
        assert_eq!(read("Sell it.", json!(1_900_000_000)), 1, "an instant");
        assert_eq!(read("Let it stand for 7200 seconds.", json!(7200)), 0);
        let decay = [("decay_end_time", ParamKind::Duration(DurationUnit::Seconds))];
        assert_eq!(faults(ToolOp::Permit, &decay, "Sell it.", &json!({"decay_end_time": 2_592_000})).len(), 1);
        assert_eq!(faults(ToolOp::Enter, &decay, "Sell it.", &json!({"decay_end_time": 2_592_000})).len(), 0, "no signed order");
    }

    #[test]
    fn a_least_return_of_nothing_is_no_bound() {
        let amount = |unit| [("min_lp_tokens", ParamKind::Amount { unit, of: None })];
        let read = |unit, least: &str| faults(ToolOp::Add, &amount(unit), "Add it.", &json!({"min_lp_tokens": least})).len();
        assert_eq!(read(AmountUnit::Shares, "0"), 1);
        assert_eq!(read(AmountUnit::Shares, "0.00"), 1);
        assert_eq!(read(AmountUnit::Shares, "99"), 0);
        assert_eq!(read(AmountUnit::Usd, "0"), 0, "a filter of holdings");
    }

    #[test]
    fn price_limits_stay_near_the_price_of_the_world() {
        let params =
            [("market", ParamKind::Id(model::IdKind::Market)), ("side", ParamKind::Enum), ("acceptable_price", ParamKind::Price(None))];
        let read = |op: ToolOp, side: &str, limit: &str| {
            faults(op, &params, "Open it.", &json!({"market": "ETH/USD", "side": side, "acceptable_price": limit})).len()
        };
        // Ether is at 3200.
        assert_eq!(read(ToolOp::Enter, "long", "9000000"), 1);
        assert_eq!(read(ToolOp::Enter, "long", "3230"), 0);
        assert_eq!(read(ToolOp::Enter, "long", "3000"), 0, "better than the market");
        assert_eq!(read(ToolOp::Enter, "short", "1"), 1);
        assert_eq!(read(ToolOp::Exit, "long", "1"), 1);
        assert_eq!(read(ToolOp::Exit, "short", "9000000"), 1);
    }
}
