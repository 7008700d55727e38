// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {CageLedger} from "./CageLedger.sol";
import {CageRules} from "./CageRules.sol";
import {CageValue} from "./CageValue.sol";
import {Signatures} from "./Signatures.sol";
import {Transfers} from "./Transfers.sol";

/// The agent's account. It holds the funds; the operator acts only through it, and what the owner forbade reverts.
/// A call is read before it is made (CageRules) and measured after it was made (CageValue); nothing is believed.
///
/// Spent is the larger of two measures: USD that left in plain assets, and USD by which the whole account (shares, positions and
/// debts included) became poorer. So taking one's own money out of a vault costs nothing, and sending it elsewhere on the way does.
/// Not seen, because it does not pass through here: what others pull later by an allowance or a signature of the operator.
contract PolicyCage is CageRules, CageValue, CageLedger {
    error NotOperator(address caller);
    error Halted();
    error EmptyBatch();
    error SlippageExceeded(uint256 lossBps, uint256 maxBps);
    error ConcentrationExceeded(address asset, uint256 bps, uint256 max);
    error PositionExceeded(address protocol, uint256 bps, uint256 max);
    error CollateralRatioTooLow(uint256 bps, uint256 min);

    event Executed(address indexed target, bytes4 indexed selector, uint256 spentUsd);
    event Received(address indexed from, uint256 amount);
    event Withdrawn(address indexed asset, uint256 amount, address indexed to);

    struct Call {
        address target;
        uint256 value;
        bytes data;
    }

    struct Totals {
        uint256 opening; // level before the first call
        uint256 spent;
        bool rebalanced;
    }

    // Rounding of a few values is no slippage: a hundredth of a cent.
    uint256 private constant CRUMB = 1e4;

    receive() external payable {
        emit Received(msg.sender, msg.value);
    }

    // --- the operator

    function execute(address target, uint256 value, bytes calldata data) external guarded returns (bytes memory answer) {
        _needOperator();
        _expire();
        _needRate(1);
        _visit(target);
        Ruling memory r = _judge(target, value, data);
        address[] memory named = new address[](3);
        _note(named, 0, target, r);
        Sheet memory s = _measure(!r.told, named);
        Totals memory totals;
        totals.opening = _level(_net(s));
        answer = _act(target, value, data, r, s, totals);
        _close(1, totals, s);
    }

    /// All or nothing, and judged as a whole before the first call is made. Limits see the batch as one transaction, the rebalance limits as one
    /// rebalance, the rate as so many writes as there are calls that are no approvals, but one at least.
    function executeBatch(Call[] calldata calls) external guarded returns (bytes[] memory answers) {
        if (calls.length == 0) revert EmptyBatch();
        _needOperator();
        _expire();
        for (uint256 i = 0; i < calls.length; i++) _visit(calls[i].target);
        Ruling[] memory rulings = new Ruling[](calls.length);
        address[] memory named = new address[](3 * calls.length);
        (uint256 writes, bool all) = (0, false);
        for (uint256 i = 0; i < calls.length; i++) {
            Ruling memory r = rulings[i] = _judge(calls[i].target, calls[i].value, calls[i].data);
            _note(named, 3 * i, calls[i].target, r);
            if (!r.approves) writes++;
            if (!r.told) all = true;
        }
        if (writes == 0) writes = 1;
        _needRate(writes);
        Sheet memory s = _measure(all, named);
        Totals memory totals;
        totals.opening = _level(_net(s));
        answers = new bytes[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            answers[i] = _act(calls[i].target, calls[i].value, calls[i].data, rulings[i], s, totals);
        }
        _close(writes, totals, s);
    }

    function _needOperator() private view {
        if (msg.sender != operator) revert NotOperator(msg.sender);
        if (halted) revert Halted();
    }

    function _note(address[] memory named, uint256 place, address target, Ruling memory r) private pure {
        (named[place], named[place + 1], named[place + 2]) = (target, r.named, r.alsoNamed);
    }

    function _act(address target, uint256 value, bytes calldata data, Ruling memory r, Sheet memory s, Totals memory totals)
        private
        returns (bytes memory answer)
    {
        if (r.rebalances && !totals.rebalanced) {
            _needRebalance();
            totals.rebalanced = true;
        }
        bool soldForOther = r.pays && r.swaps;
        uint256 had = soldForOther ? Transfers.balance(r.soldFor, r.recipient) : 0;

        answer = _call(target, value, data);

        Change memory c = _compare(s);
        uint256 loss = c.given > c.got ? c.given - c.got : 0;
        uint256 spent = c.outflow > loss ? c.outflow : loss;
        totals.spent += spent;
        _needBudget(totals.spent);
        if (soldForOther) {
            uint256 gotUsd = _value(r.soldFor, Transfers.balance(r.soldFor, r.recipient) - had);
            _needFairness(gotUsd < c.outflow ? c.outflow - gotUsd : 0, c.outflow);
        } else if (!r.pays && (r.trades || (r.tradesIfPaid && c.got > 0))) {
            _needFairness(loss, c.given);
        }
        if (r.pays) _bookPayment(loss);
        emit Executed(target, data.length < 4 ? bytes4(0) : bytes4(data), spent);
    }

    function _close(uint256 writes, Totals memory totals, Sheet memory s) private {
        uint256 value = _net(s);
        _needSpread(s, value);
        if (s.stirred) _needStays(s, value);
        _needNoDrawdown(value, totals.opening);
        _bookLevels(totals.opening, _level(value));
        if (!s.quiet) _keep(s);
        _book(writes, totals.rebalanced, totals.spent);
    }

    function _call(address target, uint256 value, bytes calldata data) private returns (bytes memory) {
        (bool ok, bytes memory answer) = target.call{value: value}(data);
        if (!ok) {
            assembly ("memory-safe") { revert(add(answer, 32), mload(answer)) }
        }
        return answer;
    }

    // --- what must hold after a call

    function _needFairness(uint256 loss, uint256 given) private view {
        uint256 max = _limits.maxSlippageBps;
        if (loss > CRUMB && loss * 10_000 > given * max) revert SlippageExceeded(given == 0 ? 10_000 : loss * 10_000 / given, max);
    }

    // Only what grew is asked: an account that is out of proportion by the market may still be put right.
    function _needSpread(Sheet memory s, uint256 total) private view {
        Line[] memory lines = s.lines;
        for (uint256 i = 0; i < lines.length;) {
            Line memory line = lines[i];
            unchecked { i++; }
            if (line.balance <= line.first || _isBase(line.row)) continue;
            uint256 bps = _share(line.value, total);
            if (!_isPlain(line.row)) {
                if (bps > _limits.maxPositionBps) revert PositionExceeded(_asset(line.row), bps, _limits.maxPositionBps);
            } else if (bps > _limits.maxConcentrationBps) {
                revert ConcentrationExceeded(_asset(line.row), bps, _limits.maxConcentrationBps);
            }
        }
    }

    function _needStays(Sheet memory s, uint256 total) private view {
        (uint256 min, uint256 max) = (_limits.minCollateralRatioBps, _limits.maxPositionBps);
        for (uint256 i = 0; i < s.stays.length;) {
            Stay memory stay = s.stays[i];
            unchecked { i++; }
            if (stay.supplied > stay.firstSupplied) {
                uint256 bps = _share(stay.supplied, total);
                if (bps > max) revert PositionExceeded(stay.venue, bps, max);
            }
            if (stay.owed == 0 || stay.supplied * 10_000 >= stay.owed * min) continue;
            bool worse = stay.firstOwed == 0 || stay.supplied * stay.firstOwed < stay.firstSupplied * stay.owed;
            if (worse) revert CollateralRatioTooLow(stay.supplied * 10_000 / stay.owed, min);
        }
    }

    function _share(uint256 part, uint256 total) private pure returns (uint256) {
        return part == 0 ? 0 : total == 0 ? 10_000 : part * 10_000 / total;
    }

    // --- the owner

    function withdraw(address asset, uint256 amount, address to) external onlyOwner {
        if (isApprovedAsset(asset)) _bookPayment(usdValue(asset, amount));
        Transfers.send(asset, to, amount);
        emit Withdrawn(asset, amount, to);
    }

    // --- views

    function checkConcentration(address asset) external view returns (bool ok, uint256 bps) {
        bps = _share(usdValue(asset, Transfers.balance(asset, address(this))), nav());
        Asset memory info = assetInfo[asset];
        ok = info.base || bps <= (info.kind == AssetKind.Plain ? _limits.maxConcentrationBps : _limits.maxPositionBps);
    }

    function checkCollateralRatio(address venue) external view returns (bool ok, uint256 bps) {
        _needProtocol(venue);
        (uint256 supplied, uint256 owed,) = _walk(venue);
        bps = owed == 0 ? type(uint256).max : supplied * 10_000 / owed;
        ok = bps >= _limits.minCollateralRatioBps;
    }

    function checkDrawdown() external view returns (bool ok, uint256 bps) {
        bps = _drawdown(nav(), 0);
        ok = bps <= _limits.maxDrawdownBps;
    }

    /// Fails with the error that a swap with these bounds would fail with at worst; otherwise says what it would count as spent.
    function validateTrade(address protocol, address assetIn, uint256 amountIn, address assetOut, uint256 minOut, address recipient)
        external
        view
        returns (uint256 spentUsd)
    {
        if (halted) revert Halted();
        _needRate(1);
        _needClean(protocol);
        _needProtocol(protocol);
        _needAsset(assetIn);
        _needAsset(assetOut);
        _needClean(recipient);
        _needRebalance();
        spentUsd = usdValue(assetIn, amountIn);
        _needBudget(spentUsd);
        uint256 got = usdValue(assetOut, minOut);
        _needFairness(got < spentUsd ? spentUsd - got : 0, spentUsd);
        Asset memory info = assetInfo[assetOut];
        if (recipient != address(this) || info.base) return spentUsd;
        uint256 total = nav() + got;
        uint256 held = usdValue(assetOut, Transfers.balance(assetOut, address(this))) + got;
        uint256 bps = _share(held, total > spentUsd ? total - spentUsd : 0);
        if (bps > _limits.maxConcentrationBps) revert ConcentrationExceeded(assetOut, bps, _limits.maxConcentrationBps);
    }

    /// ERC-1271: the operator signs for the account, but not while it is halted.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        bool valid = !halted && operator != address(0) && Signatures.recover(hash, signature) == operator;
        return valid ? Signatures.MAGIC : bytes4(0xffffffff);
    }
}
