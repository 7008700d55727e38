// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AmmMath} from "./AmmMath.sol";
import {AmmPair} from "./AmmPair.sol";
import {CageConfig} from "./CageConfig.sol";
import {Transfers} from "./Transfers.sol";
import {Vault} from "./Vault.sol";
import {Venue} from "./Venue.sol";

/// What the cage has, in USD with 8 decimals at the owner's prices: balances, shares and positions less debts.
///
/// Before the first call everything is measured. After a call only what it can have taken: an asset that was not there cannot be lost, so
/// it is looked at again only if a call names it. What arrives unnamed counts nothing until the next transaction measures everything again.
abstract contract CageValue is CageConfig {
    /// One approved asset that the account has, or that a call names.
    struct Line {
        address asset;
        bool plain;
        bool base;
        uint256 price;
        uint256 unit;
        uint256 first; // balance before the first call
        uint256 balance;
        uint256 value;
    }

    /// One venue that the account has been to.
    struct Stay {
        address venue;
        uint256 firstSupplied;
        uint256 firstOwed;
        uint256 supplied;
        uint256 owed;
    }

    struct Sheet {
        Line[] lines;
        Stay[] stays;
        int256 net; // below zero when debts are larger
    }

    /// What a call did.
    struct Change {
        uint256 outflow; // USD that left in plain assets, rounded up so that no crumb is free
        uint256 given; // USD over assets, positions and debts
        uint256 got;
    }

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
        uint256 count = _assets.length;
        uint256 start;
        Line[] memory lines;
        assembly ("memory-safe") {
            mstore(0, _assets.slot)
            start := keccak256(0, 32)
            lines := mload(64) // empty, with room for all
            mstore(lines, 0)
            mstore(64, add(lines, shl(5, add(count, 1))))
        }
        uint256 have;
        for (uint256 i = 0; i < count;) {
            address asset;
            assembly ("memory-safe") { asset := sload(add(start, i)) }
            unchecked { i++; }
            uint256 balance = Transfers.balance(asset, address(this));
            if (balance == 0 && !all && asset != Transfers.NATIVE && !_among(named, asset)) continue;
            Asset storage info = assetInfo[asset];
            (bool plain, uint256 price, uint256 unit) = (info.kind == AssetKind.Plain, info.priceUsd8, 10 ** info.decimals);
            uint256 value = plain ? balance * price / unit : _shares(asset, balance);
            Line memory line = Line(asset, plain, info.base, price, unit, balance, balance, value);
            assembly ("memory-safe") {
                let length := add(mload(lines), 1)
                mstore(lines, length)
                mstore(add(lines, shl(5, length)), line)
            }
            have += value;
        }
        s.lines = lines;
        s.net = int256(have);
        count = _venues.length;
        s.stays = new Stay[](count);
        for (uint256 i = 0; i < count; i++) {
            Stay memory stay = s.stays[i];
            stay.venue = _venues[i];
            (stay.supplied, stay.owed) = _venueValue(stay.venue);
            (stay.firstSupplied, stay.firstOwed) = (stay.supplied, stay.owed);
            s.net += int256(stay.supplied) - int256(stay.owed);
        }
    }

    /// How the account differs from the last time it was looked at.
    function _compare(Sheet memory s) internal view returns (Change memory c) {
        Line[] memory lines = s.lines;
        for (uint256 i = 0; i < lines.length;) {
            Line memory line = lines[i];
            unchecked { i++; }
            (uint256 was, uint256 is_) = (line.balance, Transfers.balance(line.asset, address(this)));
            // Shares change their worth by themselves, plain assets do not.
            if (was == is_ && (line.plain || is_ == 0)) continue;
            uint256 value = line.plain ? is_ * line.price / line.unit : _shares(line.asset, is_);
            if (line.plain && was > is_) c.outflow += ((was - is_) * line.price + line.unit - 1) / line.unit;
            _tally(c, line.value, value);
            (line.balance, line.value) = (is_, value);
        }
        for (uint256 i = 0; i < s.stays.length; i++) {
            Stay memory stay = s.stays[i];
            (uint256 supplied, uint256 owed) = _venueValue(stay.venue);
            _tally(c, stay.supplied, supplied);
            _tally(c, owed, stay.owed);
            (stay.supplied, stay.owed) = (supplied, owed);
        }
        s.net = s.net + int256(c.got) - int256(c.given);
    }

    function _tally(Change memory c, uint256 was, uint256 is_) private pure {
        if (was > is_) c.given += was - is_;
        else c.got += is_ - was;
    }

    function _venueValue(address venue) internal view returns (uint256 supplied, uint256 owed) {
        Venue.Holding[] memory held = Venue(payable(venue)).holdings(address(this));
        for (uint256 i = 0; i < held.length; i++) {
            if (!isApprovedAsset(held[i].asset)) continue;
            supplied += _value(held[i].asset, held[i].supplied);
            owed += _value(held[i].asset, held[i].borrowed);
        }
    }

    function _value(address asset, uint256 amount) internal view returns (uint256) {
        Asset storage info = assetInfo[asset];
        return info.kind == AssetKind.Plain ? amount * info.priceUsd8 / 10 ** info.decimals : _shares(asset, amount);
    }

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
        uint256 product = _plain(pair.token0(), reserve0) * _plain(pair.token1(), reserve1);
        return 2 * AmmMath.sqrt(product) * amount / pair.totalSupply();
    }

    function _among(address[] memory list, address item) private pure returns (bool found) {
        assembly ("memory-safe") {
            let end := add(list, shl(5, add(mload(list), 1)))
            for { let place := add(list, 32) } lt(place, end) { place := add(place, 32) } { found := or(found, eq(mload(place), item)) }
        }
    }
}
