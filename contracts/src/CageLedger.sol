// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {CageConfig} from "./CageConfig.sol";

/// Records executions and checks the limits over time: spending per transaction, session and rolling day, writes per rolling hour, rebalances per
/// rolling day, and drawdown from the highest value of the last day.
/// Windows are exact to the second: an execution at time t counts until just before t plus the length of the window.
abstract contract CageLedger is CageConfig {
    error RateLimitExceeded();
    error SpendingLimitExceeded(uint8 scope, uint256 spent, uint256 limit);
    error RebalanceTooSoon(uint256 notBefore);
    error RebalanceLimitExceeded(uint256 max);
    error DrawdownExceeded(uint256 bps, uint256 max);

    event SessionStarted(uint256 indexed session);
    event DrawdownAcknowledged();

    // Scopes of `SpendingLimitExceeded`.
    uint8 private constant TRANSACTION = 0;
    uint8 private constant SESSION = 1;
    uint8 private constant DAY = 2;

    /// One execution.
    struct Entry {
        uint48 time;
        uint32 writes;
        bool rebalance;
        uint168 spentUsd;
    }

    /// A high of the account. A level is the account's value plus all payments made so far, so that a payment does not look like a loss.
    struct Level {
        uint48 time;
        uint208 usd;
    }

    uint256 public session;
    uint256 public spentSession;
    // All executions in order of time. The two starts are the first entries within the last day and hour; the sums cover the entries from there on.
    Entry[] private _entries;
    uint64 private _dayStart;
    uint64 private _hourStart;
    uint256 private _daySpentUsd;
    uint32 private _dayRebalances;
    uint32 private _hourWrites;
    uint48 private _lastRebalance;
    // Highs of the last day at the places `_levelsStart` to `_levelsEnd`: from the oldest to the newest each is lower than the one before, because
    // a new level removes all that are not higher.
    mapping(uint256 => Level) private _levels;
    uint64 private _levelsStart;
    uint64 private _levelsEnd;
    uint208 private _lastLevel;
    uint256 private _paidOutUsd;
    // Several executions in one transaction share its limit.
    uint256 private transient _transactionSpentUsd;

    /// Starts a session and resets its spending.
    function startSession() external onlyOwner {
        _dropExpired();
        spentSession = 0;
        emit SessionStarted(++session);
    }

    /// Clears all highs, so that the operator may act again after a drawdown.
    function acknowledgeDrawdown() external onlyOwner {
        _levelsStart = _levelsEnd;
        _lastLevel = 0;
        _paidOutUsd = 0;
        emit DrawdownAcknowledged();
    }

    // --- views

    function spentDay() public view returns (uint256 spent) {
        spent = _daySpentUsd;
        for (uint256 i = _dayStart; _isExpired(i, 1 days); i++) spent -= _entries[i].spentUsd;
    }

    function writesLastHour() public view returns (uint256 writes) {
        writes = _hourWrites;
        for (uint256 i = _hourStart; _isExpired(i, 1 hours); i++) writes -= _entries[i].writes;
    }

    /// Returns whether one more transaction may spend this much, and the most it may spend.
    function checkSpendingLimit(uint256 usd) external view returns (bool ok, uint256 remaining) {
        remaining = _remaining(_limits.perTxUsd8, _transactionSpentUsd);
        remaining = _min(remaining, _remaining(_limits.perSessionUsd8, spentSession));
        remaining = _min(remaining, _remaining(_limits.perDayUsd8, spentDay()));
        ok = usd <= remaining;
    }

    // --- checks

    function _requireRate(uint256 writes) internal view {
        if (writesLastHour() + writes > _limits.maxWritesPerHour) revert RateLimitExceeded();
    }

    function _requireRebalanceAllowed() internal view {
        uint256 notBefore = uint256(_lastRebalance) + _limits.minRebalanceInterval;
        if (_lastRebalance != 0 && block.timestamp < notBefore) revert RebalanceTooSoon(notBefore);
        uint256 max = _limits.maxRebalancesPerDay;
        if (max == 0) return;
        uint256 done = _dayRebalances;
        for (uint256 i = _dayStart; _isExpired(i, 1 days); i++) {
            if (_entries[i].rebalance) done--;
        }
        if (done >= max) revert RebalanceLimitExceeded(max);
    }

    function _requireBudget(uint256 spentUsd) internal view {
        _requireWithin(TRANSACTION, _transactionSpentUsd + spentUsd, _limits.perTxUsd8);
        _requireWithin(SESSION, spentSession + spentUsd, _limits.perSessionUsd8);
        _requireWithin(DAY, spentDay() + spentUsd, _limits.perDayUsd8);
    }

    function _requireWithin(uint8 scope, uint256 spent, uint256 limit) private pure {
        if (spent > limit) revert SpendingLimitExceeded(scope, spent, limit);
    }

    /// `openingLevel` is the level before the execution, which is not recorded yet.
    function _requireNoDrawdown(uint256 valueUsd, uint256 openingLevel) internal view {
        uint256 bps = _drawdownBps(valueUsd, openingLevel);
        if (bps > _limits.maxDrawdownBps) revert DrawdownExceeded(bps, _limits.maxDrawdownBps);
    }

    function _drawdownBps(uint256 valueUsd, uint256 openingLevel) internal view returns (uint256) {
        uint256 high = _max(_lastLevel, openingLevel);
        // The first high that is not expired is the highest.
        for (uint256 i = _levelsStart; i < _levelsEnd; i++) {
            if (_levels[i].time + 1 days <= block.timestamp) continue;
            high = _max(high, _levels[i].usd);
            break;
        }
        high = _remaining(high, _paidOutUsd);
        return valueUsd < high ? (high - valueUsd) * 10_000 / high : 0;
    }

    // --- records

    function _levelOf(uint256 valueUsd) internal view returns (uint256) {
        return valueUsd + _paidOutUsd;
    }

    function _recordPayment(uint256 usd) internal {
        _paidOutUsd += usd;
    }

    function _recordExecution(uint256 writes, bool rebalance, uint256 spentUsd) internal {
        _entries.push(Entry(uint48(block.timestamp), uint32(writes), rebalance, uint168(spentUsd)));
        _transactionSpentUsd += spentUsd;
        spentSession += spentUsd;
        _daySpentUsd += spentUsd;
        _hourWrites += uint32(writes);
        if (!rebalance) return;
        _dayRebalances++;
        _lastRebalance = uint48(block.timestamp);
    }

    /// Records the level that held until now, the one before the execution and the one after it.
    function _recordLevels(uint256 opening, uint256 closing) internal {
        while (_levelsStart < _levelsEnd && _levels[_levelsStart].time + 1 days <= block.timestamp) _levelsStart++;
        _addLevel(_lastLevel);
        _addLevel(uint208(opening));
        _addLevel(uint208(closing));
        _lastLevel = uint208(closing);
    }

    function _addLevel(uint208 usd) private {
        while (_levelsEnd > _levelsStart && _levels[_levelsEnd - 1].usd <= usd) _levelsEnd--;
        _levels[_levelsEnd++] = Level(uint48(block.timestamp), usd);
    }

    /// Moves the starts of both windows past expired entries, so that the sums are exact at this time.
    function _dropExpired() internal {
        for (; _isExpired(_hourStart, 1 hours); _hourStart++) _hourWrites -= _entries[_hourStart].writes;
        for (; _isExpired(_dayStart, 1 days); _dayStart++) {
            _daySpentUsd -= _entries[_dayStart].spentUsd;
            if (_entries[_dayStart].rebalance) _dayRebalances--;
        }
    }

    function _isExpired(uint256 index, uint256 window) private view returns (bool) {
        return index < _entries.length && _entries[index].time + window <= block.timestamp;
    }

    // --- arithmetic

    function _remaining(uint256 limit, uint256 used) private pure returns (uint256) {
        return limit > used ? limit - used : 0;
    }

    function _min(uint256 a, uint256 b) private pure returns (uint256) {
        return a < b ? a : b;
    }

    function _max(uint256 a, uint256 b) private pure returns (uint256) {
        return a > b ? a : b;
    }
}
