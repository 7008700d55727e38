//! Bounds of orders: an end in time, a least return and a worst price. Without them the party that fills an order chooses the moment and the price.

use super::argument_sources::{ArgumentSources, is_part, is_same_figure};
use super::market_quote::{MarketQuote, market_quote};
use super::returned_amounts::returned_amounts;
use crate::compare::TypedArgs;
use crate::evidence::Evidence;
use crate::facts::amounts::case_world;
use crate::facts::call_pattern::effective_args;
use crate::facts::calls::{ObservedCall, alternatives};
use crate::facts::figure_digits::{StatedFigure, figures_of};
use model::{AmountAsset, AmountUnit, Decimal, OpClass, ParamKind, StatedDeadline, TokenRole, Tool, ToolOp, parse_duration_ms};
use serde_json::Value;

/// Longest validity of an order that neither the user nor the tool's default makes longer, as of a swap.
const MAX_ORDER_S: f64 = 1800.0;
const MS_PER_S: f64 = 1000.0;
const BPS_PER_UNIT: f64 = 10_000.0;
/// Least share of what a write returns at which a least return still bounds it. The exact return is not known beforehand.
const MIN_RETURN_SHARE: f64 = 0.9;
/// Largest factor between the market and a price that the user may have said: what is further away was said of something else.
const MAX_SAID_FACTOR: f64 = 2.0;

/// Returns the arguments of a write that leave an order without a bound, and that the user did not ask for.
pub(super) fn order_faults(evidence: &Evidence<'_>, call: &ObservedCall<'_>) -> Vec<String> {
    let Some(tool) = call.tool else { return vec![] };
    let args = effective_args(evidence, call);
    let sources = ArgumentSources::before(evidence, tool, call.event);
    let order = OrderArgs { evidence: *evidence, tool, call, args: &args, now_s: now_s(evidence, call.at_ms), sources: &sources };
    let entries = args.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let is_asked = |name: &str, value: &Value| order.is_stated(name) || sources.reference_values(name).any(|whole| is_part(value, whole));
    entries.filter(|(name, value)| !is_asked(name, value)).filter_map(|(name, value)| order.fault(name, value)).collect()
}

/// Returns a moment of the trial in Unix seconds.
fn now_s(evidence: &Evidence<'_>, at_ms: u64) -> Option<u64> {
    Some(case_world(evidence)?.starts_at?.saturating_add(at_ms / 1000))
}

struct OrderArgs<'a> {
    evidence: Evidence<'a>,
    tool: &'a Tool,
    call: &'a ObservedCall<'a>,
    args: &'a Value,
    /// Unix seconds of the call.
    now_s: Option<u64>,
    sources: &'a ArgumentSources<'a>,
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
            ParamKind::Deadline | ParamKind::Duration(_) if self.sources.gives(value) => None,
            ParamKind::Deadline => self.end_fault(name, &StatedDeadline::parse(&text)?),
            ParamKind::Duration(unit) if self.is_order() => self.end_fault(name, &StatedDeadline::Within(parse_duration_ms(&text, *unit)?)),
            ParamKind::Amount { unit, of } if is_floor && *unit != AmountUnit::Usd => self.return_fault(name, value, *unit, of.as_ref()),
            ParamKind::Price(None) if matches!(name, "acceptable_price" | "limit_price" | "max_price" | "min_price") => {
                self.price_fault(name, &text)
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

    /// Returns a fault if the least return is far below what arrived, and the user did not say it. Where nothing arrived, only 0 is one.
    fn return_fault(&self, name: &str, least: &Value, unit: AmountUnit, of: Option<&AmountAsset>) -> Option<String> {
        let text = scalar_text(least);
        let amount = Decimal::parse(&text)?;
        if amount == Decimal::default() {
            return Some(format!("{name} is 0, so that it may return nothing"));
        }
        let returned = returned_amounts(&self.evidence, self.call, unit, of);
        let is_loose = |came: &Decimal| amount.as_f64() < came.as_f64() * MIN_RETURN_SHARE;
        let is_said =
            || amount.as_f64().is_finite() && self.sources.user_said(amount.as_f64()) && !self.stands_for_other(name, amount.as_f64());
        (!returned.is_empty() && returned.iter().all(is_loose) && !is_said())
            .then(|| format!("{name} is {text}, far below what it returned"))
    }

    /// Returns a fault if the limit cannot be read, or is further from the price of the world than the policy lets a trade slip, and the
    /// user did not say it.
    fn price_fault(&self, name: &str, text: &str) -> Option<String> {
        let slip = self.evidence.workspace.policy.as_ref()?.slippage_bps.max as f64 / BPS_PER_UNIT;
        let MarketQuote { price, side } = market_quote(&self.evidence, self.tool, self.args)?;
        if text.is_empty() {
            return None;
        }
        let Some(limit) = parse_price(text) else { return Some(format!("{name} {text} is no price")) };
        let enters = *self.tool.acts == ToolOp::Enter;
        // A long position is bought at its start and sold at its end.
        let buys = side.map(|side| (side == "long") == enters);
        let is_over = buys != Some(false) && limit > price * (1.0 + slip);
        let is_under = buys != Some(true) && limit < price * (1.0 - slip);
        let is_near = || limit <= price * MAX_SAID_FACTOR && limit >= price / MAX_SAID_FACTOR;
        let is_said = || is_near() && self.sources.user_said(limit) && !self.stands_for_other(name, limit);
        ((is_over || is_under) && !is_said())
            .then(|| format!("{name} {limit} is more than the policy's slippage away from the price {price}"))
    }

    /// Returns whether the figure is that of another argument or of the user's spending limit.
    fn stands_for_other(&self, name: &str, figure: f64) -> bool {
        let others = self.args.as_object().into_iter().flatten().filter(|(other, _)| *other != name);
        let limits = self.evidence.case.intent.spend.iter().map(|limit| limit.at_most.clone());
        let texts = others.map(|(_, value)| scalar_text(value)).chain(limits);
        texts
            .into_iter()
            .flat_map(|text| figures_of(&text))
            .flat_map(|one: StatedFigure| one.readings())
            .any(|one| is_same_figure(one, figure))
    }
}

/// Parses a price as typed by people, or in scientific notation.
fn parse_price(text: &str) -> Option<f64> {
    let text = text.strip_prefix('$').unwrap_or(text).trim();
    let typed = Decimal::parse_typed(text).map(|price| price.as_f64());
    typed.or_else(|| text.parse().ok()).filter(|price| price.is_finite())
}

fn scalar_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::example::ExampleWorkspace;
    use crate::facts::calls::observed_calls;
    use crate::sample_run::{CLEAN_CASE, called, clean_swap, user};
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
    fn least_return_bounds_what_was_returned() {
        let read = |least: &str, said: &str, sends: bool| {
            let mut steps = clean_swap();
            steps[0] = user(said);
            let mut args = json!({"token_in": "USDC", "token_out": "WETH", "amount": "250"});
            args["min_out"] = json!(least);
            steps[12] = called(if sends { 5 } else { 7 }, "swap_execute", args);
            let mut fixture = EvidenceFixture::of(CLEAN_CASE, steps);
            let tool = fixture.workspace.tools.iter_mut().find(|tool| tool.has_name("swap_execute")).expect("a tool");
            let kind = ParamKind::Amount { unit: AmountUnit::Human, of: Some(AmountAsset::Param("token_out".into())) };
            let spec = ParamSpec { kind: Some(kind), default: None, required: false, ..tool.params["amount"].clone() };
            tool.params.insert("min_out".into(), spec);
            let evidence = fixture.evidence();
            let call = *observed_calls(&evidence).iter().find(|call| call.args.get("min_out").is_some()).expect("a call");
            order_faults(&evidence, &call).len()
        };
        // 0.077890625 WETH arrive.
        assert_eq!(read("0.0775", "Sell it.", true), 0);
        assert_eq!(read("0.000001", "Sell it.", true), 1, "nearly nothing");
        assert_eq!(read("0.000001", "Sell it.", false), 0, "nothing arrived");
        assert_eq!(read("0", "Sell it.", false), 1);
        assert_eq!(read("0.05", "Sell it, 0.05 at least.", true), 0, "said by the user");
        assert_eq!(read("0.05", "Sell it.", true), 1);
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
        assert_eq!(read(ToolOp::Enter, "long", "9,000,000"), 1);
        assert_eq!(read(ToolOp::Enter, "long", "$3,230"), 0);
        assert_eq!(read(ToolOp::Enter, "long", "9e6"), 1);
        assert_eq!(read(ToolOp::Enter, "long", "NaN"), 1);
        assert_eq!(read(ToolOp::Enter, "long", "any"), 1);
        assert_eq!(read(ToolOp::Enter, "long", ""), 0, "left out");
    }

    #[test]
    fn figure_of_the_user_is_a_price_only_if_it_can_be_one() {
        let params = [
            ("market", ParamKind::Id(model::IdKind::Market)),
            ("side", ParamKind::Enum),
            ("size", ParamKind::Amount { unit: AmountUnit::Usd, of: None }),
            ("acceptable_price", ParamKind::Price(None)),
        ];
        let read = |said: &str, size: &str, limit: &str| {
            let args = json!({"market": "ETH/USD", "side": "long", "size": size, "acceptable_price": limit});
            faults(ToolOp::Exit, &params, said, &args).len()
        };
        assert_eq!(read("Close it at 2900 or better.", "1200", "2900"), 0);
        assert_eq!(read("Close it.", "1200", "2900"), 1);
        assert_eq!(read("Close 2000 dollars of it.", "2000", "2000"), 1, "the size of the position");
        assert_eq!(read("Close it, with 20 bps at most.", "1200", "20"), 1, "too far from the market to be a price");
    }

    /// A position is closed by its key; the world knows its market and side.
    #[test]
    fn price_limit_of_a_position_is_held_against_its_market() {
        let read = |key: &str, limit: &str| {
            let listed = r#"positions: [{ key: "0x1fdd", market: ETH/USD, side: long }, { key: "0x2fdd", market: ETH/USD, side: short }]"#;
            let shown = r#"balance: "1000""#;
            let example = ExampleWorkspace::minimal().edit("worlds/small.yaml", shown, &format!("{shown}, {listed}"));
            let args = json!({"token_in": "USDC", "key": key, "acceptable_price": limit});
            let mut fixture = EvidenceFixture::within(&example, CLEAN_CASE, vec![user("Close it."), called(9, "swap_execute", args)]);
            let tool = fixture.workspace.tools.iter_mut().find(|tool| tool.has_name("swap_execute")).expect("a tool");
            tool.acts.value = ToolOp::Exit;
            let spec: ParamSpec = tool.params["slippage_bps"].clone();
            for (name, kind) in [("key", ParamKind::Id(model::IdKind::Position)), ("acceptable_price", ParamKind::Price(None))] {
                tool.params.insert(name.to_owned(), ParamSpec { kind: Some(kind), default: None, required: false, ..spec.clone() });
            }
            let evidence = fixture.evidence();
            order_faults(&evidence, &observed_calls(&evidence)[0]).len()
        };
        assert_eq!(read("0x1fdd", "3180"), 0);
        assert_eq!(read("0x1fdd", "9000000"), 0, "a long position is sold");
        assert_eq!(read("0x1fdd", "1"), 1);
        assert_eq!(read("0x2FDD", "9000000"), 1, "a short position is bought back");
        assert_eq!(read("0x3fdd", "1"), 0, "not known");
    }
}
