// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {CageConfig} from "./CageConfig.sol";

/// What has been done lately: spending by transaction, session and rolling day, writes by rolling hour, and the highest value of the last day.
/// A window is exact: what happened at t counts until just before t + its length.
abstract contract CageLedger is CageConfig {
    error RateLimitExceeded();
    error SpendingLimitExceeded(uint8 scope, uint256 spent, uint256 limit);
    error RebalanceTooSoon(uint256 notBefore);
    error RebalanceLimitExceeded(uint256 max);
    error DrawdownExceeded(uint256 bps, uint256 max);

    event SessionStarted(uint256 indexed session);
    event DrawdownAcknowledged();

    uint256 private constant HOUR = 3_600;
    uint256 private constant DAY = 86_400;

    struct Entry {
        uint48 time;
        uint32 writes;
        bool rebalance;
        uint168 spent;
    }

    struct Level {
        uint48 time;
        uint208 usd;
    }

    uint256 public session;
    uint256 public spentSession;
    Entry[] private _entries;
    uint256 private _spentDay;
    uint64 private _dayHead; // first entry that is younger than a day
    uint64 private _hourHead;
    uint32 private _hourWrites;
    uint32 private _dayRebalances;
    uint48 private _lastRebalance;
    // Falling levels of the last day, highest first. A level is the value plus all that was paid out until then, so a payment lowers
    // yesterday's high by the same amount as today's value and is not a loss.
    mapping(uint256 => Level) private _levels;
    uint64 private _levelHead;
    uint64 private _levelTail;
    uint208 private _lastLevel;
    uint256 private _paidOut;
    // Two calls of the operator in one transaction share the limit of a transaction.
    uint256 private transient _spentTx;

    /// Resets what the session has spent.
    function startSession() external onlyOwner {
        _expire();
        spentSession = 0;
        emit SessionStarted(++session);
    }

    /// Forgets the highs, so that the operator may act again from here.
    function acknowledgeDrawdown() external onlyOwner {
        _levelHead = _levelTail;
        _lastLevel = 0;
        _paidOut = 0;
        emit DrawdownAcknowledged();
    }

    function spentDay() public view returns (uint256 spent) {
        spent = _spentDay;
        unchecked {
            for (uint256 i = _dayHead; i < _entries.length && _entries[i].time + DAY <= block.timestamp; i++) spent -= _entries[i].spent;
        }
    }

    function writesLastHour() public view returns (uint256 writes) {
        writes = _hourWrites;
        unchecked {
            for (uint256 i = _hourHead; i < _entries.length && _entries[i].time + HOUR <= block.timestamp; i++) writes -= _entries[i].writes;
        }
    }

    /// Whether this much may be spent in one more transaction, and the most that may.
    function checkSpendingLimit(uint256 usd) external view returns (bool ok, uint256 remaining) {
        remaining = _left(_limits.perTxUsd8, _spentTx);
        remaining = _min(remaining, _left(_limits.perSessionUsd8, spentSession));
        remaining = _min(remaining, _left(_limits.perDayUsd8, spentDay()));
        ok = usd <= remaining;
    }

    function _drawdown(uint256 value, uint256 opening) internal view returns (uint256 bps) {
        uint256 high = _lastLevel;
        if (opening > high) high = opening;
        for (uint256 i = _levelHead; i < _levelTail; i++) {
            if (_levels[i].time + DAY <= block.timestamp) continue;
            if (_levels[i].usd > high) high = _levels[i].usd;
            break;
        }
        high = _left(high, _paidOut);
        return value < high ? (high - value) * 10_000 / high : 0;
    }

    function _needRate(uint256 writes) internal view {
        if (writesLastHour() + writes > _limits.maxWritesPerHour) revert RateLimitExceeded();
    }

    function _needRebalance() internal view {
        uint256 notBefore = uint256(_lastRebalance) + _limits.minRebalanceInterval;
        if (_lastRebalance != 0 && block.timestamp < notBefore) revert RebalanceTooSoon(notBefore);
        uint256 max = _limits.maxRebalancesPerDay;
        if (max == 0) return;
        uint256 done = _dayRebalances;
        unchecked {
            for (uint256 i = _dayHead; i < _entries.length && _entries[i].time + DAY <= block.timestamp; i++) {
                if (_entries[i].rebalance) done--;
            }
        }
        if (done >= max) revert RebalanceLimitExceeded(max);
    }

    function _needBudget(uint256 spent) internal view {
        _within(0, _spentTx + spent, _limits.perTxUsd8);
        _within(1, spentSession + spent, _limits.perSessionUsd8);
        _within(2, spentDay() + spent, _limits.perDayUsd8);
    }

    // `opening` is the level before the call, which is not booked yet.
    function _needNoDrawdown(uint256 value, uint256 opening) internal view {
        uint256 bps = _drawdown(value, opening);
        if (bps > _limits.maxDrawdownBps) revert DrawdownExceeded(bps, _limits.maxDrawdownBps);
    }

    function _book(uint256 writes, bool rebalance, uint256 spent) internal {
        _entries.push(Entry(uint48(block.timestamp), uint32(writes), rebalance, uint168(spent)));
        _spentTx += spent;
        spentSession += spent;
        _spentDay += spent;
        _hourWrites += uint32(writes);
        if (!rebalance) return;
        _dayRebalances++;
        _lastRebalance = uint48(block.timestamp);
    }

    function _bookPayment(uint256 usd) internal {
        _paidOut += usd;
    }

    function _level(uint256 value) internal view returns (uint256) {
        return value + _paidOut;
    }

    // The level of the last time stood until now; then there was the one before the call, and now there is this one.
    function _bookLevels(uint256 opening, uint256 closing) internal {
        (uint256 head, uint256 tail) = (_levelHead, _levelTail);
        unchecked { while (head < tail && _levels[head].time + DAY <= block.timestamp) head++; }
        (uint208 was, uint208 before, uint208 is_) = (_lastLevel, uint208(opening), uint208(closing));
        // A level that is not higher than the next one would be struck out again at once.
        if (was > before && was > is_) tail = _raise(head, tail, was);
        if (before > is_) tail = _raise(head, tail, before);
        tail = _raise(head, tail, is_);
        (_levelHead, _levelTail, _lastLevel) = (uint64(head), uint64(tail), is_);
    }

    function _raise(uint256 head, uint256 tail, uint208 level) private returns (uint256) {
        while (tail > head && _levels[tail - 1].usd <= level) tail--;
        _levels[tail] = Level(uint48(block.timestamp), level);
        return tail + 1;
    }

    // What is older than its window no longer counts; the rest of a call reads totals that are true now.
    function _expire() internal {
        uint256 count = _entries.length;
        (uint256 head, uint256 writes) = (_hourHead, _hourWrites);
        unchecked {
            for (; head < count && _entries[head].time + HOUR <= block.timestamp; head++) writes -= _entries[head].writes;
        }
        (_hourHead, _hourWrites) = (uint64(head), uint32(writes));
        (uint256 spent, uint256 rebalances) = (_spentDay, _dayRebalances);
        head = _dayHead;
        unchecked {
            for (; head < count && _entries[head].time + DAY <= block.timestamp; head++) {
                spent -= _entries[head].spent;
                if (_entries[head].rebalance) rebalances--;
            }
        }
        _spentDay = spent;
        (_dayHead, _dayRebalances) = (uint64(head), uint32(rebalances));
    }

    function _within(uint8 scope, uint256 spent, uint256 limit) private pure {
        if (spent > limit) revert SpendingLimitExceeded(scope, spent, limit);
    }

    function _left(uint256 limit, uint256 used) private pure returns (uint256) {
        return limit > used ? limit - used : 0;
    }

    function _min(uint256 a, uint256 b) private pure returns (uint256) {
        return a < b ? a : b;
    }
}
