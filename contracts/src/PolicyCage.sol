// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {CageLedger} from "./CageLedger.sol";
import {CageRules} from "./CageRules.sol";
import {CageValue} from "./CageValue.sol";
import {Reverts} from "./Reverts.sol";
import {Signatures} from "./Signatures.sol";
import {Transfers} from "./Transfers.sol";

/// The agent's account. It holds the funds; the operator can act only through `execute` and `executeBatch`, within the owner's policy.
///
/// Each call is checked before it is made (CageRules). The whole account is valued before and after it (CageValue), and the limits are applied to
/// the difference and to the records of earlier calls (CageLedger). Return values and events of the called contract are never trusted.
///
/// The amount spent by a call is the larger of two measures: the USD value of plain assets that left, and the USD value that the whole account,
/// including shares, positions and debts, lost. So withdrawing the account's own money from a vault costs nothing, and withdrawing it to
/// another address counts in full.
///
/// Not covered: assets that others pull later with an allowance or a signature of the operator. They show as a loss in the next call.
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

    /// An `execute` or `executeBatch` in progress.
    struct Execution {
        Valuation account;
        uint256 openingLevel;
        uint256 spentUsd;
        bool rebalanced;
    }

    // Losses up to a hundredth of a cent are rounding, not slippage.
    uint256 private constant DUST_USD = 1e4;

    receive() external payable {
        emit Received(msg.sender, msg.value);
    }

    // --- the operator

    function execute(address target, uint256 value, bytes calldata data) external guarded returns (bytes memory answer) {
        _requireOperator();
        _dropExpired();
        _requireRate(1);
        CallTerms memory terms = _checkCall(target, value, data);
        _trackVenue(target);
        Execution memory execution = _startExecution();
        answer = _perform(execution, target, value, data, terms);
        _finishExecution(execution, 1);
    }

    /// Makes all calls or none. All are checked before the first is made. The spending limits see one transaction, the rebalance limits one
    /// rebalance. The rate limit counts the calls without approvals, and at least one.
    function executeBatch(Call[] calldata calls) external guarded returns (bytes[] memory answers) {
        if (calls.length == 0) revert EmptyBatch();
        _requireOperator();
        _dropExpired();
        CallTerms[] memory terms = new CallTerms[](calls.length);
        uint256 writes = 0;
        for (uint256 i = 0; i < calls.length; i++) {
            terms[i] = _checkCall(calls[i].target, calls[i].value, calls[i].data);
            _trackVenue(calls[i].target);
            if (!terms[i].isApproval) writes++;
        }
        if (writes == 0) writes = 1;
        _requireRate(writes);
        Execution memory execution = _startExecution();
        answers = new bytes[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            answers[i] = _perform(execution, calls[i].target, calls[i].value, calls[i].data, terms[i]);
        }
        _finishExecution(execution, writes);
    }

    function _requireOperator() private view {
        if (msg.sender != operator) revert NotOperator(msg.sender);
        if (halted) revert Halted();
    }

    function _startExecution() private view returns (Execution memory execution) {
        execution.account = _valuate();
        execution.openingLevel = _levelOf(execution.account.totalUsd);
    }

    /// Makes one call and applies the limits that hold for each call.
    function _perform(Execution memory execution, address target, uint256 value, bytes calldata data, CallTerms memory terms)
        private
        returns (bytes memory answer)
    {
        if (terms.isRebalance && !execution.rebalanced) {
            _requireRebalanceAllowed();
            execution.rebalanced = true;
        }
        bool isSwapForOther = terms.isPayment && terms.isSwap;
        uint256 recipientHad = isSwapForOther ? Transfers.balance(terms.boughtAsset, terms.recipient) : 0;

        bool ok;
        (ok, answer) = target.call{value: value}(data);
        if (!ok) Reverts.bubble(answer);

        Change memory change = _measure(execution.account);
        uint256 lossUsd = change.lostUsd > change.gainedUsd ? change.lostUsd - change.gainedUsd : 0;
        uint256 spentUsd = change.outflowUsd > lossUsd ? change.outflowUsd : lossUsd;
        execution.spentUsd += spentUsd;
        _requireBudget(execution.spentUsd);
        if (isSwapForOther) {
            uint256 boughtUsd = _usdValue(terms.boughtAsset, Transfers.balance(terms.boughtAsset, terms.recipient) - recipientHad);
            _requireFairTrade(boughtUsd < change.outflowUsd ? change.outflowUsd - boughtUsd : 0, change.outflowUsd);
        } else if (!terms.isPayment && (terms.isTrade || (terms.isTradeIfPaid && change.gainedUsd > 0))) {
            _requireFairTrade(lossUsd, change.lostUsd);
        }
        if (terms.isPayment) _recordPayment(lossUsd);
        emit Executed(target, data.length < 4 ? bytes4(0) : bytes4(data), spentUsd);
    }

    /// Applies the limits that hold for the execution as a whole, and records it.
    function _finishExecution(Execution memory execution, uint256 writes) private {
        uint256 totalUsd = execution.account.totalUsd;
        _requireSpread(execution.account.assets, totalUsd);
        _requireHealthyVenues(execution.account.venues, totalUsd);
        _requireNoDrawdown(totalUsd, execution.openingLevel);
        _recordLevels(execution.openingLevel, _levelOf(totalUsd));
        _recordExecution(writes, execution.rebalanced, execution.spentUsd);
    }

    // --- limits on the result of a call

    function _requireFairTrade(uint256 lossUsd, uint256 givenUsd) private view {
        uint256 max = _limits.maxSlippageBps;
        if (lossUsd <= DUST_USD || lossUsd * 10_000 <= givenUsd * max) return;
        revert SlippageExceeded(givenUsd == 0 ? 10_000 : lossUsd * 10_000 / givenUsd, max);
    }

    // Only holdings that grew are checked, so that an account that price moves have unbalanced can still be rebalanced.
    function _requireSpread(AssetValue[] memory held, uint256 totalUsd) private view {
        for (uint256 i = 0; i < held.length; i++) {
            AssetValue memory holding = held[i];
            if (holding.balance <= holding.startBalance) continue;
            Asset memory info = assetInfo[holding.asset];
            if (info.base) continue;
            uint256 bps = _shareBps(holding.usd, totalUsd);
            if (info.kind == AssetKind.Plain) {
                if (bps > _limits.maxConcentrationBps) revert ConcentrationExceeded(holding.asset, bps, _limits.maxConcentrationBps);
            } else if (bps > _limits.maxPositionBps) {
                revert PositionExceeded(holding.asset, bps, _limits.maxPositionBps);
            }
        }
    }

    // Likewise: a position must not grow too large, and a collateral ratio below the minimum must not become worse.
    function _requireHealthyVenues(VenueValue[] memory venues, uint256 totalUsd) private view {
        (uint256 minRatio, uint256 maxShare) = (_limits.minCollateralRatioBps, _limits.maxPositionBps);
        for (uint256 i = 0; i < venues.length; i++) {
            VenueValue memory position = venues[i];
            if (position.suppliedUsd > position.startSuppliedUsd) {
                uint256 bps = _shareBps(position.suppliedUsd, totalUsd);
                if (bps > maxShare) revert PositionExceeded(position.venue, bps, maxShare);
            }
            if (position.suppliedUsd * 10_000 >= position.owedUsd * minRatio) continue;
            bool isWorse = position.startOwedUsd == 0 || position.suppliedUsd * position.startOwedUsd < position.startSuppliedUsd * position.owedUsd;
            if (isWorse) revert CollateralRatioTooLow(position.suppliedUsd * 10_000 / position.owedUsd, minRatio);
        }
    }

    function _shareBps(uint256 partUsd, uint256 totalUsd) private pure returns (uint256) {
        if (partUsd == 0) return 0;
        return totalUsd == 0 ? 10_000 : partUsd * 10_000 / totalUsd;
    }

    // --- the owner

    function withdraw(address asset, uint256 amount, address to) external onlyOwner {
        if (isApprovedAsset(asset)) _recordPayment(usdValue(asset, amount));
        Transfers.send(asset, to, amount);
        emit Withdrawn(asset, amount, to);
    }

    // --- views

    function checkConcentration(address asset) external view returns (bool ok, uint256 bps) {
        bps = _shareBps(usdValue(asset, Transfers.balance(asset, address(this))), nav());
        Asset memory info = assetInfo[asset];
        ok = info.base || bps <= (info.kind == AssetKind.Plain ? _limits.maxConcentrationBps : _limits.maxPositionBps);
    }

    function checkCollateralRatio(address venue) external view returns (bool ok, uint256 bps) {
        _requireProtocol(venue);
        (uint256 suppliedUsd, uint256 owedUsd) = _venueValue(venue);
        bps = owedUsd == 0 ? type(uint256).max : suppliedUsd * 10_000 / owedUsd;
        ok = bps >= _limits.minCollateralRatioBps;
    }

    function checkDrawdown() external view returns (bool ok, uint256 bps) {
        bps = _drawdownBps(nav(), 0);
        ok = bps <= _limits.maxDrawdownBps;
    }

    /// Reverts with the error that the worst swap within these bounds would cause; otherwise returns the amount it would count as spent.
    function validateTrade(address protocol, address assetIn, uint256 amountIn, address assetOut, uint256 minOut, address recipient)
        external
        view
        returns (uint256 spentUsd)
    {
        if (halted) revert Halted();
        _requireRate(1);
        _requireNotSanctioned(protocol);
        _requireProtocol(protocol);
        _requireAsset(assetIn);
        _requireAsset(assetOut);
        _requireNotSanctioned(recipient);
        _requireRebalanceAllowed();
        spentUsd = usdValue(assetIn, amountIn);
        _requireBudget(spentUsd);
        uint256 boughtUsd = usdValue(assetOut, minOut);
        _requireFairTrade(boughtUsd < spentUsd ? spentUsd - boughtUsd : 0, spentUsd);
        if (recipient != address(this) || assetInfo[assetOut].base) return spentUsd;
        uint256 totalUsd = nav() + boughtUsd;
        uint256 heldUsd = usdValue(assetOut, Transfers.balance(assetOut, address(this))) + boughtUsd;
        uint256 bps = _shareBps(heldUsd, totalUsd > spentUsd ? totalUsd - spentUsd : 0);
        if (bps > _limits.maxConcentrationBps) revert ConcentrationExceeded(assetOut, bps, _limits.maxConcentrationBps);
    }

    /// ERC-1271: the operator signs for the account, but not while it is halted.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        bool valid = !halted && operator != address(0) && Signatures.recover(hash, signature) == operator;
        return valid ? Signatures.MAGIC : bytes4(0xffffffff);
    }
}
