// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AmmPair} from "./AmmPair.sol";
import {CageConfig} from "./CageConfig.sol";
import {Transfers} from "./Transfers.sol";
import {Vault} from "./Vault.sol";
import {Venue} from "./Venue.sol";

/// What the cage has, in USD with 8 decimals at the owner's prices: balances, shares and positions less debts.
///
/// Before the first call everything is measured. After a call only what it can have taken: an asset that was not there cannot be lost, so
/// it is looked at again only if a call names it. What arrives unnamed counts nothing until the next transaction measures everything again.
///
/// Positions are walked only if the venue has counted a move since they were last valued, or the owner has set an asset since: both numbers
/// are kept with the worth, and what changes its worth by itself (shares) is never kept.
abstract contract CageValue is CageConfig {
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
    /// This and what follows runs in every transaction: hence no checks of indices that cannot be wrong, and no zeroes written that are not read.
    function _measure(bool all, address[] memory named) internal view returns (Sheet memory s) {
        uint256 count = _rows.length;
        uint256 place;
        Line[] memory lines;
        assembly ("memory-safe") {
            mstore(0, _rows.slot)
            place := keccak256(0, 32)
            lines := mload(64) // empty, with room for all
            mstore(lines, 0)
            mstore(64, add(lines, shl(5, add(count, 1))))
        }
        uint256 have;
        unchecked { count += place; }
        while (place < count) {
            uint256 row;
            assembly ("memory-safe") {
                row := sload(place)
                place := add(place, 1)
            }
            uint256 balance = Transfers.balance(_asset(row), address(this));
            if (balance == 0 && !all && _asset(row) != Transfers.NATIVE && !_among(named, _asset(row))) continue;
            uint256 value = _worthOf(row, balance);
            Line memory line = Line(row, balance, balance, value);
            assembly ("memory-safe") {
                let length := add(mload(lines), 1)
                mstore(lines, length)
                mstore(add(lines, shl(5, length)), line)
            }
            have += value;
        }
        s.lines = lines;
        _measureStays(s, have);
    }

    function _measureStays(Sheet memory s, uint256 have) private view {
        uint256 count = _venues.length;
        uint256 place;
        Stay[] memory stays;
        assembly ("memory-safe") {
            mstore(0, _venues.slot)
            place := keccak256(0, 32)
            stays := mload(64)
            mstore(stays, count)
            mstore(64, add(stays, shl(5, add(count, 1))))
        }
        uint256 owes;
        for (uint256 i = 0; i < count;) {
            address venue;
            assembly ("memory-safe") { venue := sload(add(place, i)) }
            uint256 moves = _moves(venue);
            (uint256 supplied, uint256 owed, bool walked) = _recall(venue, moves);
            Stay memory stay = Stay(venue, moves, walked, supplied, owed, supplied, owed);
            unchecked { i++; }
            assembly ("memory-safe") { mstore(add(stays, shl(5, i)), stay) }
            if (walked) s.stirred = true;
            have += supplied;
            owes += owed;
        }
        s.stays = stays;
        s.net = int256(have) - int256(owes);
    }

    /// How the account differs from the last time it was looked at.
    function _compare(Sheet memory s) internal view returns (Change memory c) {
        Line[] memory lines = s.lines;
        for (uint256 i = 0; i < lines.length;) {
            Line memory line;
            unchecked { i++; }
            assembly ("memory-safe") { line := mload(add(lines, shl(5, i))) }
            (uint256 row, uint256 was, uint256 is_) = (line.row, line.balance, Transfers.balance(_asset(line.row), address(this)));
            // Shares change their worth by themselves, plain assets do not.
            if (was == is_ && (_isPlain(row) || is_ == 0)) continue;
            uint256 value = _worthOf(row, is_);
            if (_isPlain(row) && was > is_) c.outflow += ((was - is_) * (row >> 184) + _unit(row) - 1) / _unit(row);
            _tally(c, line.value, value);
            (line.balance, line.value) = (is_, value);
        }
        Stay[] memory stays = s.stays;
        for (uint256 i = 0; i < stays.length;) {
            Stay memory stay;
            unchecked { i++; }
            assembly ("memory-safe") { stay := mload(add(stays, shl(5, i))) }
            uint256 moves = _moves(stay.venue);
            // What was not kept because it changes by itself is walked again.
            if (moves == stay.moves && !stay.walked) continue;
            (uint256 supplied, uint256 owed, bool lasting) = _walk(stay.venue);
            _tally(c, stay.supplied, supplied);
            _tally(c, owed, stay.owed);
            (stay.moves, stay.walked, stay.supplied, stay.owed) = (moves, true, supplied, owed);
            if (!lasting) stay.moves = NEVER;
            s.stirred = true;
        }
        s.net = s.net + int256(c.got) - int256(c.given);
    }

    /// Remembers what positions are worth, where that lasts.
    function _keep(Sheet memory s) internal {
        Stay[] memory stays = s.stays;
        for (uint256 i = 0; i < stays.length;) {
            Stay memory stay = stays[i];
            unchecked { i++; }
            if (!stay.walked) continue;
            uint256 scales = _scales;
            bool fits = (scales | stay.moves + 1) >> 32 == 0 && (stay.supplied | stay.owed) >> 96 == 0;
            _worth[stay.venue] = fits ? scales << 224 | stay.moves + 1 << 192 | stay.supplied << 96 | stay.owed : 0;
        }
    }

    // What is kept of a venue, if it still holds; else what a walk says.
    function _recall(address venue, uint256 moves) private view returns (uint256 supplied, uint256 owed, bool walked) {
        uint256 worth = _worth[venue];
        // A count that does not fit carries into settings that are yet to come: nothing kept equals it.
        if (worth >> 192 == (_scales << 32) + moves + 1) return (worth >> 96 & type(uint96).max, worth & type(uint96).max, false);
        (supplied, owed,) = _walk(venue);
        walked = true;
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
            AssetKind kind = assetInfo[held[i].asset].kind;
            if (kind == AssetKind.None) continue;
            if (kind != AssetKind.Plain) lasting = false;
            supplied += _value(held[i].asset, held[i].supplied);
            owed += _value(held[i].asset, held[i].borrowed);
        }
    }

    function _value(address asset, uint256 amount) internal view returns (uint256) {
        Asset storage info = assetInfo[asset];
        return info.kind == AssetKind.Plain ? amount * info.priceUsd8 / 10 ** info.decimals : _shares(asset, amount);
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

    function _worthOf(uint256 row, uint256 amount) private view returns (uint256) {
        if (amount == 0) return 0;
        return _isPlain(row) ? amount * (row >> 184) / _unit(row) : _shares(_asset(row), amount);
    }

    // --- shares

    function _shares(address asset, uint256 amount) private view returns (uint256) {
        if (amount == 0) return 0;
        if (assetInfo[asset].kind == AssetKind.PairShare) return _pairShare(AmmPair(asset), amount);
        return _plain(Vault(asset).asset(), Vault(asset).convertToAssets(amount));
    }

    function _plain(address asset, uint256 amount) private view returns (uint256) {
        return assetInfo[asset].kind == AssetKind.Plain ? _value(asset, amount) : 0;
    }

    // Twice the geometric mean of both sides: unlike their sum it cannot be inflated by trading against the pair.
    function _pairShare(AmmPair pair, uint256 amount) private view returns (uint256) {
        (uint256 reserve0, uint256 reserve1,) = pair.getReserves();
        uint256 product = _plain(address(uint160(_ask(address(pair), AmmPair(address(0)).token0.selector))), reserve0)
            * _plain(address(uint160(_ask(address(pair), AmmPair(address(0)).token1.selector))), reserve1);
        return 2 * _root(product) * amount / _ask(address(pair), AmmPair(address(0)).totalSupply.selector);
    }

    // As AmmMath.sqrt, which counts bits one by one: here it runs in every transaction of whoever has shares.
    function _root(uint256 x) private pure returns (uint256 root) {
        if (x == 0) return 0;
        unchecked {
            uint256 rest = x;
            root = 2;
            for (uint256 step = 128; step > 0; step >>= 1) {
                if (rest >> step == 0) continue;
                rest >>= step;
                root <<= step / 2;
            }
            // Newton from above: the start is a power of two not below the root, so each step falls until it stands.
            while (true) {
                uint256 next = (root + x / root) / 2;
                if (next >= root) return root;
                root = next;
            }
        }
    }

    function _moves(address venue) private view returns (uint256 moves) {
        return _ask(venue, Venue(payable(venue)).movesOf.selector);
    }

    // A number about this account, or about nobody. By hand for the same reason as the balance in Transfers; who does not answer stops everything.
    function _ask(address whom, bytes4 selector) private view returns (uint256 answer) {
        assembly ("memory-safe") {
            mstore(0, selector)
            mstore(4, address())
            if iszero(and(staticcall(gas(), whom, 0, 36, 0, 32), gt(returndatasize(), 31))) { revert(0, 0) }
            answer := mload(0)
        }
    }

    function _among(address[] memory list, address item) private pure returns (bool found) {
        assembly ("memory-safe") {
            let end := add(list, shl(5, add(mload(list), 1)))
            for { let place := add(list, 32) } lt(place, end) { place := add(place, 32) } { found := or(found, eq(mload(place), item)) }
        }
    }
}
