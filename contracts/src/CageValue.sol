// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AmmPair} from "./AmmPair.sol";
import {CageConfig} from "./CageConfig.sol";
import {Moves} from "./Moves.sol";
import {IERC20, Transfers} from "./Transfers.sol";
import {Vault} from "./Vault.sol";
import {Venue} from "./Venue.sol";

/// What the cage has, in USD with 8 decimals at the owner's prices: balances, shares and positions less debts.
///
/// Before the first call everything is measured. After a call only what it can have taken: an asset that was not there cannot be lost, so
/// it is looked at again only if a call names it. What arrives unnamed counts nothing until the next transaction measures everything again.
///
/// Positions are walked only if the venue has counted a move since they were last valued, or the owner has set an asset since: both numbers
/// are kept with the worth, and what changes its worth by itself (shares) is never kept. Where all venues count in one place, the worth of all
/// of them together is kept with that count, and they are looked at one by one only if it has gone on.
abstract contract CageValue is CageConfig {
    error ValueOutOfRange();

    /// One approved asset that the account has, or that a call names.
    struct Line {
        uint256 row; // as in `_rows`
        uint256 first; // balance before the first call
        uint256 balance;
        uint256 value;
    }

    /// One venue that the account has been to.
    struct Stay {
        address venue;
        uint256 moves;
        bool walked; // what follows was computed in this transaction, and may be kept
        uint256 firstSupplied;
        uint256 firstOwed;
        uint256 supplied;
        uint256 owed;
    }

    struct Sheet {
        Line[] lines;
        Stay[] stays;
        bool quiet; // nothing has moved in any venue, so `stays` are not listed
        uint256 count; // of moves in all venues
        bool stirred; // some venue was walked: only then can its positions be other than before
        int256 net; // below zero when debts are larger
    }

    /// What a call did.
    struct Change {
        uint256 outflow; // USD that left in plain assets, rounded up so that no crumb is free
        uint256 given; // USD over assets, positions and debts
        uint256 got;
    }

    // What the positions in a venue were worth when the owner had set so many assets and it had counted so many moves, in one word: 32 bits of the one,
    // 32 of the other plus one (zero is nothing kept), 96 supplied, 96 owed.
    mapping(address => uint256) private _worth;
    // The same of all venues together, and their common count.
    uint256 private _worthOfAll;
    // Moves of a venue whose positions change their worth by themselves: too many to be kept.
    uint256 private constant NEVER = type(uint128).max;

    function nav() public view returns (uint256) {
        return _net(_measure(false, new address[](0)));
    }

    function usdValue(address asset, uint256 amount) public view returns (uint256) {
        _needAsset(asset);
        return _value(asset, amount);
    }

    function _net(Sheet memory s) internal pure returns (uint256) {
        return s.net > 0 ? uint256(s.net) : 0;
    }

    /// Everything, as it is now. Lines are kept of what there is, of the native coin and of what is named, or of all.
    /// This and what follows runs in every transaction, much of it for every asset: hence by hand, the question put together only once.
    function _measure(bool all, address[] memory named) internal view returns (Sheet memory s) {
        (uint256 place, uint256 end) = _span(_rows);
        Line[] memory lines;
        assembly ("memory-safe") {
            lines := mload(64) // empty, with room for all
            mstore(lines, 0)
            mstore(64, add(lines, shl(5, add(sub(end, place), 1))))
        }
        uint256 marks = all ? type(uint256).max : _marks(named);
        uint256 have;
        while (true) {
            (uint256 row, uint256 amount) = (0, 0);
            bytes4 question = IERC20.balanceOf.selector;
            // Asset by asset, as far as the next that needs more than a price. A call takes a row for its address: it looks at the lower part only.
            assembly ("memory-safe") {
                mstore(0, question)
                mstore(4, address())
                for {} lt(place, end) { row := 0 } {
                    row := sload(place)
                    place := add(place, 1)
                    let line := mload(64)
                    switch shl(96, row)
                    case 0 { amount := selfbalance() }
                    default {
                        let ok := staticcall(gas(), row, 0, 36, line, 32)
                        if iszero(and(ok, gt(returndatasize(), 31))) {
                            if ok { revert(0, 0) }
                            returndatacopy(line, 0, returndatasize())
                            revert(line, returndatasize())
                        }
                        amount := mload(line)
                    }
                    if iszero(amount) {
                        if and(shr(and(row, 0xff), marks), 1) { break }
                        continue
                    }
                    if or(shr(160, amount), sub(and(shr(160, row), 0xff), 1)) { break }
                    // Plain, and so little that nothing overflows.
                    let value := div(mul(amount, shr(184, row)), exp(10, and(shr(168, row), 0xff)))
                    have := add(have, value)
                    mstore(line, row)
                    mstore(add(line, 32), amount)
                    mstore(add(line, 64), amount)
                    mstore(add(line, 96), value)
                    mstore(64, add(line, 128))
                    let length := add(mload(lines), 1)
                    mstore(lines, length)
                    mstore(add(lines, shl(5, length)), line)
                }
            }
            if (row == 0) break;
            // A mark says only how a name ends.
            if (amount == 0 && !all && _asset(row) != Transfers.NATIVE && !_among(named, _asset(row))) continue;
            uint256 value = _worthOf(row, amount);
            Line memory line = Line(row, amount, amount, value);
            assembly ("memory-safe") {
                let length := add(mload(lines), 1)
                mstore(lines, length)
                mstore(add(lines, shl(5, length)), line)
            }
            have += _bounded(value);
        }
        s.lines = lines;
        _measureStays(s, have);
    }

    // Sums are not checked where they are made by hand; of such parts millions fit.
    function _bounded(uint256 value) private pure returns (uint256) {
        if (value >> 232 != 0) revert ValueOutOfRange();
        return value;
    }

    function _among(address[] memory list, address item) private pure returns (bool) {
        for (uint256 i = 0; i < list.length; i++) {
            if (list[i] == item) return true;
        }
        return false;
    }

    // Where a list lies in storage.
    function _span(uint256[] storage list) private view returns (uint256 place, uint256 end) {
        uint256 count = list.length;
        assembly ("memory-safe") {
            mstore(0, list.slot)
            place := keccak256(0, 32)
            end := add(place, count)
        }
    }

    // One bit for the last byte of each name, and of the native coin: most assets can be passed over by it.
    function _marks(address[] memory named) private pure returns (uint256 marks) {
        assembly ("memory-safe") {
            marks := 1
            let last := add(named, shl(5, mload(named)))
            for { let name := named } lt(name, last) {} {
                name := add(name, 32)
                marks := or(marks, shl(and(mload(name), 0xff), 1))
            }
        }
    }

    function _measureStays(Sheet memory s, uint256 have) private view {
        uint256 kept = _worthOfAll;
        if (kept != 0) {
            uint256 count = _count();
            // A count that does not fit was never kept.
            if (count >> 32 == 0 && kept >> 192 == (_scales << 32) + count + 1) {
                (s.quiet, s.count) = (true, count);
                s.net = int256(have + uint96(kept >> 96)) - int256(uint256(uint96(kept)));
                return;
            }
        }
        (uint256 place, uint256 end) = _span(_venues);
        Stay[] memory stays;
        assembly ("memory-safe") {
            stays := mload(64)
            mstore(stays, 0)
            mstore(64, add(stays, shl(5, add(sub(end, place), 1))))
        }
        uint256 scales = _scales << 32;
        uint256 owes;
        while (true) {
            (address venue, uint256 moves) = (address(0), 0);
            bytes4 question = Venue(payable(address(0))).movesOf.selector;
            // Venue by venue, as far as the next of which nothing true is kept.
            assembly ("memory-safe") {
                mstore(0, question)
                mstore(4, address())
                for {} lt(place, end) { venue := 0 } {
                    venue := sload(place)
                    place := add(place, 1)
                    let stay := mload(64)
                    mstore(64, add(stay, 224))
                    let length := add(mload(stays), 1)
                    mstore(stays, length)
                    mstore(add(stays, shl(5, length)), stay)
                    mstore(stay, venue)
                    mstore(add(stay, 32), _worth.slot)
                    let worth := sload(keccak256(stay, 64))
                    if iszero(staticcall(gas(), venue, 0, 36, add(stay, 32), 32)) { revert(0, 0) }
                    if lt(returndatasize(), 32) { revert(0, 0) }
                    moves := mload(add(stay, 32))
                    // A count that does not fit was never kept.
                    if or(shr(32, moves), xor(shr(192, worth), add(add(scales, moves), 1))) { break }
                    let supplied := shr(160, shl(64, worth))
                    let owed := shr(160, shl(160, worth))
                    mstore(add(stay, 64), 0)
                    mstore(add(stay, 96), supplied)
                    mstore(add(stay, 128), owed)
                    mstore(add(stay, 160), supplied)
                    mstore(add(stay, 192), owed)
                    have := add(have, supplied)
                    owes := add(owes, owed)
                }
            }
            if (venue == address(0)) break;
            Stay memory walked = stays[stays.length - 1];
            (uint256 supplied, uint256 owed,) = _walk(venue);
            (walked.walked, walked.firstSupplied, walked.firstOwed, walked.supplied, walked.owed) = (true, supplied, owed, supplied, owed);
            s.stirred = true;
            have += _bounded(supplied);
            owes += _bounded(owed);
        }
        s.stays = stays;
        s.net = int256(have) - int256(owes);
    }

    /// How the account differs from the last time it was looked at.
    function _compare(Sheet memory s) internal view returns (Change memory c) {
        Line[] memory lines = s.lines;
        for (uint256 i = 0; true; i++) {
            uint256 is_;
            (i, is_) = _moved(lines, i);
            if (i == lines.length) break;
            Line memory line = lines[i];
            (uint256 row, uint256 was, uint256 value) = (line.row, line.balance, _worthOf(line.row, is_));
            if (_isPlain(row) && was > is_) c.outflow += ((was - is_) * (row >> 184) + _unit(row) - 1) / _unit(row);
            _tally(c, line.value, value);
            (line.balance, line.value) = (is_, value);
        }
        if (s.quiet && _count() != s.count) _recall(s);
        Stay[] memory stays = s.stays;
        for (uint256 i = 0; true; i++) {
            uint256 moves;
            (i, moves) = _stirs(stays, i);
            if (i == stays.length) break;
            Stay memory stay = stays[i];
            (uint256 supplied, uint256 owed, bool lasting) = _walk(stay.venue);
            _tally(c, stay.supplied, supplied);
            _tally(c, owed, stay.owed);
            (stay.moves, stay.walked, stay.supplied, stay.owed) = (lasting ? moves : NEVER, true, supplied, owed);
            s.stirred = true;
        }
        s.net = s.net + int256(c.got) - int256(c.given);
    }

    // The next line from `i` on whose worth may be another, and what there is of it now. Shares change their worth by themselves, plain assets do not.
    function _moved(Line[] memory lines, uint256 i) private view returns (uint256, uint256 amount) {
        bytes4 question = IERC20.balanceOf.selector;
        assembly ("memory-safe") {
            mstore(0, question)
            mstore(4, address())
            let free := mload(64)
            for { let count := mload(lines) } lt(i, count) { i := add(i, 1) } {
                let line := mload(add(lines, shl(5, add(i, 1))))
                let row := mload(line)
                switch shl(96, row)
                case 0 { amount := selfbalance() }
                default {
                    let ok := staticcall(gas(), row, 0, 36, free, 32)
                    if iszero(and(ok, gt(returndatasize(), 31))) {
                        if ok { revert(0, 0) }
                        returndatacopy(free, 0, returndatasize())
                        revert(free, returndatasize())
                    }
                    amount := mload(free)
                }
                if sub(amount, mload(add(line, 64))) { break }
                if mul(amount, sub(and(shr(160, row), 0xff), 1)) { break }
            }
        }
        return (i, amount);
    }

    // The next stay from `i` on that has moved, or was not kept because it changes by itself; and the count of its moves.
    function _stirs(Stay[] memory stays, uint256 i) private view returns (uint256, uint256 moves) {
        bytes4 question = Venue(payable(address(0))).movesOf.selector;
        assembly ("memory-safe") {
            mstore(0, question)
            mstore(4, address())
            let free := mload(64)
            for { let count := mload(stays) } lt(i, count) { i := add(i, 1) } {
                let stay := mload(add(stays, shl(5, add(i, 1))))
                if iszero(staticcall(gas(), mload(stay), 0, 36, free, 32)) { revert(0, 0) }
                if lt(returndatasize(), 32) { revert(0, 0) }
                moves := mload(free)
                if or(sub(moves, mload(add(stay, 32))), mload(add(stay, 64))) { break }
            }
        }
        return (i, moves);
    }

    // The venues one by one, as they were while nothing moved: what is kept of all together is the sum of what is kept of each.
    function _recall(Sheet memory s) private view {
        s.quiet = false;
        s.stays = new Stay[](_venues.length);
        for (uint256 i = 0; i < s.stays.length; i++) {
            address venue = _asset(_venues[i]);
            uint256 kept = _worth[venue];
            (uint256 supplied, uint256 owed) = (uint96(kept >> 96), uint96(kept));
            s.stays[i] = Stay(venue, uint32(kept >> 192) - 1, false, supplied, owed, supplied, owed);
        }
    }

    /// Remembers what positions are worth, where that lasts.
    function _keep(Sheet memory s) internal {
        (uint256 scales, uint256 supplied, uint256 owed, bool all) = (_scales, 0, 0, counter != address(0) && !_apart);
        for (uint256 i = 0; i < s.stays.length; i++) {
            Stay memory stay = s.stays[i];
            if (stay.walked) {
                uint256 word = _packed(scales, stay.moves, stay.supplied, stay.owed);
                _worth[stay.venue] = word;
                if (word == 0) all = false;
            }
            (supplied, owed) = (supplied + stay.supplied, owed + stay.owed);
        }
        if (counter != address(0)) _worthOfAll = all ? _packed(scales, _count(), supplied, owed) : 0;
    }

    function _packed(uint256 scales, uint256 count, uint256 supplied, uint256 owed) private pure returns (uint256) {
        bool fits = (scales | count + 1) >> 32 == 0 && (supplied | owed) >> 96 == 0;
        return fits ? scales << 224 | count + 1 << 192 | supplied << 96 | owed : 0;
    }

    function _count() private view returns (uint256) {
        return _at(_ask(uint160(counter), Moves(address(0)).movesOf.selector, uint160(address(this)), 32), 0);
    }

    function _tally(Change memory c, uint256 was, uint256 is_) private pure {
        if (was > is_) c.given += was - is_;
        else c.got += is_ - was;
    }

    /// `lasting`: the worth stays the same until the venue or the owner does something.
    function _walk(address venue) internal view returns (uint256 supplied, uint256 owed, bool lasting) {
        Venue.Holding[] memory held = Venue(payable(venue)).holdings(address(this));
        lasting = true;
        for (uint256 i = 0; i < held.length; i++) {
            uint256 row = _row(held[i].asset);
            if (row >> 160 == 0) continue;
            if (!_isPlain(row)) lasting = false;
            supplied += _worthOf(row, held[i].supplied);
            owed += _worthOf(row, held[i].borrowed);
        }
    }

    function _value(address asset, uint256 amount) internal view returns (uint256) {
        return _worthOf(_row(asset), amount);
    }

    // --- rows

    function _asset(uint256 row) internal pure returns (address) {
        return address(uint160(row));
    }

    function _isPlain(uint256 row) internal pure returns (bool) {
        return uint8(row >> 160) == uint8(AssetKind.Plain);
    }

    function _isBase(uint256 row) internal pure returns (bool) {
        return row >> 176 & 1 == 1;
    }

    function _unit(uint256 row) private pure returns (uint256) {
        unchecked { return 10 ** (row >> 168 & 0xff); }
    }

    // As it would stand in `_rows`: what is known of an asset lies in one word, in the same order.
    function _row(address asset) private view returns (uint256 row) {
        Asset storage info = assetInfo[asset];
        assembly ("memory-safe") { row := or(shl(160, sload(info.slot)), asset) }
    }

    function _worthOf(uint256 row, uint256 amount) private view returns (uint256) {
        if (amount == 0) return 0;
        return _isPlain(row) ? amount * (row >> 184) / _unit(row) : _shares(row, amount);
    }

    // --- shares: asked before and after every call, hence by hand, and bounded so that nothing overflows

    function _shares(uint256 row, uint256 amount) private view returns (uint256) {
        if (uint8(row >> 160) == uint8(AssetKind.PairShare)) return _pairShare(row, amount);
        uint256 answer = _ask(row, Vault.worth.selector, amount, 64);
        return _plain(_at(answer, 0), _at(answer, 32));
    }

    // Twice the geometric mean of both sides: unlike their sum it cannot be inflated by trading against the pair.
    function _pairShare(uint256 row, uint256 amount) private view returns (uint256) {
        uint256 answer = _ask(row, AmmPair.standing.selector, 0, 160);
        uint256 mean = _mean(_plain(_at(answer, 0), _at(answer, 32)), _plain(_at(answer, 64), _at(answer, 96)));
        if (amount >> 127 != 0) revert ValueOutOfRange();
        uint256 whole;
        unchecked { whole = 2 * mean * amount; }
        return whole / _at(answer, 128);
    }

    function _plain(uint256 asset, uint256 amount) private view returns (uint256 value) {
        if (asset >> 160 != 0 || amount >> 160 != 0) revert ValueOutOfRange();
        uint256 row = _row(address(uint160(asset)));
        if (!_isPlain(row)) return 0;
        assembly ("memory-safe") { value := div(mul(amount, shr(184, row)), exp(10, and(shr(168, row), 0xff))) }
    }

    // The root of the product, by Newton from above: half the sum is never below it, and not far above where both sides are worth the same.
    function _mean(uint256 a, uint256 b) private pure returns (uint256 root) {
        if (a == 0 || b == 0) return 0;
        if ((a | b) >> 128 != 0) revert ValueOutOfRange();
        assembly ("memory-safe") {
            let product := mul(a, b)
            root := shr(1, add(a, b))
            for { let next := shr(1, add(root, div(product, root))) } lt(next, root) { next := shr(1, add(root, div(product, root))) } { root := next }
        }
    }

    // Where the answer lies, so many bytes of it; until the next question.
    function _ask(uint256 row, bytes4 question, uint256 argument, uint256 size) private view returns (uint256 answer) {
        assembly ("memory-safe") {
            mstore(0, question)
            mstore(4, argument)
            answer := mload(64)
            let ok := staticcall(gas(), row, 0, 36, answer, size)
            if or(iszero(ok), lt(returndatasize(), size)) {
                if ok { revert(0, 0) }
                returndatacopy(answer, 0, returndatasize())
                revert(answer, returndatasize())
            }
        }
    }

    function _at(uint256 answer, uint256 place) private pure returns (uint256 word) {
        assembly ("memory-safe") { word := mload(add(answer, place)) }
    }
}
