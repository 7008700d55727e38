// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AmmPair} from "./AmmPair.sol";
import {CageConfig} from "./CageConfig.sol";
import {Transfers} from "./Transfers.sol";
import {Vault} from "./Vault.sol";
import {Venue} from "./Venue.sol";

/// Values the account in USD with 8 decimals at the owner's prices: balances, vault and pair shares and venue positions, less debts.
/// Every valuation queries all approved assets and all used venues. Nothing is cached.
abstract contract CageValue is CageConfig {
    error ValueOutOfRange();

    /// Balance and value of one approved asset.
    struct AssetValue {
        address asset;
        uint256 startBalance;
        uint256 balance;
        uint256 usd;
    }

    /// Value of the account's positions in one venue.
    struct VenueValue {
        address venue;
        uint256 startSuppliedUsd;
        uint256 startOwedUsd;
        uint256 suppliedUsd;
        uint256 owedUsd;
    }

    /// State of the whole account at the last measurement and at the start. Assets and venues cannot be added or removed within an execution.
    struct Valuation {
        AssetValue[] assets;
        VenueValue[] venues;
        uint256 totalUsd; // less debts; 0 if the debts are larger
    }

    /// Difference between two measurements.
    struct Change {
        uint256 outflowUsd; // decreases of plain assets, rounded up so that no amount is too small to count
        uint256 lostUsd; // decreases of assets and supplied positions, increases of debts
        uint256 gainedUsd; // increases of assets and supplied positions, decreases of debts
    }

    /// Net asset value of the account.
    function nav() public view returns (uint256) {
        return _valuate().totalUsd;
    }

    function usdValue(address asset, uint256 amount) public view returns (uint256) {
        _requireAsset(asset);
        return _usdValue(asset, amount);
    }

    /// Values the account at the start of an execution.
    function _valuate() internal view returns (Valuation memory v) {
        v.assets = new AssetValue[](_assets.length);
        for (uint256 i = 0; i < v.assets.length; i++) v.assets[i].asset = _assets[i];
        v.venues = new VenueValue[](_usedVenues.length);
        for (uint256 i = 0; i < v.venues.length; i++) v.venues[i].venue = _usedVenues[i];
        _measure(v);
        for (uint256 i = 0; i < v.assets.length; i++) {
            AssetValue memory held = v.assets[i];
            held.startBalance = held.balance;
        }
        for (uint256 i = 0; i < v.venues.length; i++) {
            VenueValue memory position = v.venues[i];
            (position.startSuppliedUsd, position.startOwedUsd) = (position.suppliedUsd, position.owedUsd);
        }
    }

    /// Queries all assets and venues again and returns the difference from the last measurement.
    function _measure(Valuation memory v) internal view returns (Change memory change) {
        (uint256 has, uint256 owes) = (0, 0);
        for (uint256 i = 0; i < v.assets.length; i++) {
            AssetValue memory held = v.assets[i];
            uint256 balance = Transfers.balance(held.asset, address(this));
            if (balance == 0 && held.balance == 0) continue;
            uint256 usd = _usdValue(held.asset, balance);
            _addDifference(change, held.usd, usd);
            if (balance < held.balance) change.outflowUsd += _outflow(held.asset, held.balance - balance);
            (held.balance, held.usd) = (balance, usd);
            has += usd;
        }
        for (uint256 i = 0; i < v.venues.length; i++) {
            VenueValue memory position = v.venues[i];
            (uint256 suppliedUsd, uint256 owedUsd) = _venueValue(position.venue);
            _addDifference(change, position.suppliedUsd, suppliedUsd);
            _addDifference(change, owedUsd, position.owedUsd);
            (position.suppliedUsd, position.owedUsd) = (suppliedUsd, owedUsd);
            has += suppliedUsd;
            owes += owedUsd;
        }
        if (has > type(uint128).max) revert ValueOutOfRange();
        v.totalUsd = has > owes ? has - owes : 0;
    }

    function _addDifference(Change memory change, uint256 was, uint256 is_) private pure {
        if (was == is_) return;
        if (was > is_) change.lostUsd += was - is_;
        else change.gainedUsd += is_ - was;
    }

    /// Returns the value of the positions in a venue. Unapproved assets and venues count as zero.
    function _venueValue(address venue) internal view returns (uint256 suppliedUsd, uint256 owedUsd) {
        if (protocolKind[venue] != ProtocolKind.Venue) return (0, 0);
        Venue.Holding[] memory held = Venue(payable(venue)).holdings(address(this));
        for (uint256 i = 0; i < held.length; i++) {
            Venue.Holding memory holding = held[i];
            suppliedUsd += _usdValue(holding.asset, holding.supplied);
            owedUsd += _usdValue(holding.asset, holding.borrowed);
        }
    }

    function _usdValue(address asset, uint256 amount) internal view returns (uint256) {
        if (amount == 0) return 0;
        Asset storage info = assetInfo[asset];
        AssetKind kind = info.kind;
        if (kind == AssetKind.Plain) return _price(info, amount);
        if (kind == AssetKind.VaultShare) return _vaultShareValue(Vault(asset), amount);
        if (kind == AssetKind.PairShare) return _pairShareValue(AmmPair(asset), amount);
        return 0;
    }

    function _vaultShareValue(Vault vault, uint256 shares) private view returns (uint256) {
        return _plainValue(vault.asset(), vault.convertToAssets(shares));
    }

    // Twice the geometric mean of both sides. Unlike their sum it cannot be inflated by trading against the pair.
    function _pairShareValue(AmmPair pair, uint256 shares) private view returns (uint256) {
        (address token0, uint256 reserve0, address token1, uint256 reserve1, uint256 supply) = pair.poolState();
        return 2 * _geometricMean(_plainValue(token0, reserve0), _plainValue(token1, reserve1)) * shares / supply;
    }

    function _plainValue(address asset, uint256 amount) private view returns (uint256) {
        Asset storage info = assetInfo[asset];
        return info.kind == AssetKind.Plain ? _price(info, amount) : 0;
    }

    function _price(Asset storage info, uint256 amount) private view returns (uint256) {
        // With prices below 2^64 and at most 36 decimals nothing overflows.
        if (amount > type(uint160).max) revert ValueOutOfRange();
        unchecked { return amount * info.priceUsd8 / 10 ** info.decimals; }
    }

    function _outflow(address asset, uint256 amount) private view returns (uint256) {
        Asset storage info = assetInfo[asset];
        if (info.kind != AssetKind.Plain) return 0;
        uint256 unit = 10 ** info.decimals;
        return (amount * info.priceUsd8 + unit - 1) / unit;
    }

    // Newton's method from above: half the sum is never below the root of the product.
    function _geometricMean(uint256 a, uint256 b) private pure returns (uint256 root) {
        if (a == 0 || b == 0) return 0;
        if (a > type(uint128).max || b > type(uint128).max) revert ValueOutOfRange();
        root = (a + b) / 2;
        while (true) {
            uint256 next = (root + a * b / root) / 2;
            if (next >= root) return root;
            root = next;
        }
    }
}
