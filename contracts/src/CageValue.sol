// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AmmMath} from "./AmmMath.sol";
import {AmmPair} from "./AmmPair.sol";
import {CageConfig} from "./CageConfig.sol";
import {Transfers} from "./Transfers.sol";
import {Vault} from "./Vault.sol";
import {Venue} from "./Venue.sol";

/// What the cage has, in USD with 8 decimals at the owner's prices: balances, shares and positions less debts.
abstract contract CageValue is CageConfig {
    struct Snapshot {
        uint256[] balances; // of each approved asset
        uint256[] values;
        uint256[] supplied; // in each venue
        uint256[] owed;
        uint256 have;
        uint256 debt;
    }

    function nav() public view returns (uint256) {
        return _net(_snapshot());
    }

    function usdValue(address asset, uint256 amount) public view returns (uint256) {
        _needAsset(asset);
        return _value(asset, assetInfo[asset], amount);
    }

    function _net(Snapshot memory s) internal pure returns (uint256) {
        return s.have > s.debt ? s.have - s.debt : 0;
    }

    function _snapshot() internal view returns (Snapshot memory s) {
        uint256 count = _assets.length;
        s.balances = new uint256[](count);
        s.values = new uint256[](count);
        for (uint256 i = 0; i < count; i++) {
            address asset = _assets[i];
            s.balances[i] = Transfers.balance(asset, address(this));
            s.values[i] = _value(asset, assetInfo[asset], s.balances[i]);
            s.have += s.values[i];
        }
        count = _venues.length;
        s.supplied = new uint256[](count);
        s.owed = new uint256[](count);
        for (uint256 i = 0; i < count; i++) {
            (s.supplied[i], s.owed[i]) = _venueValue(_venues[i]);
            s.have += s.supplied[i];
            s.debt += s.owed[i];
        }
    }

    function _venueValue(address venue) internal view returns (uint256 supplied, uint256 owed) {
        Venue.Holding[] memory held = Venue(payable(venue)).holdings(address(this));
        for (uint256 i = 0; i < held.length; i++) {
            Asset memory info = assetInfo[held[i].asset];
            if (info.kind == AssetKind.None) continue;
            supplied += _value(held[i].asset, info, held[i].supplied);
            owed += _value(held[i].asset, info, held[i].borrowed);
        }
    }

    function _value(address asset, Asset memory info, uint256 amount) internal view returns (uint256) {
        if (amount == 0) return 0;
        if (info.kind == AssetKind.VaultShare) {
            return _plain(Vault(asset).asset(), Vault(asset).convertToAssets(amount));
        }
        if (info.kind == AssetKind.PairShare) return _pairShare(AmmPair(asset), amount);
        return amount * info.priceUsd8 / 10 ** info.decimals;
    }

    function _plain(address asset, uint256 amount) private view returns (uint256) {
        Asset memory info = assetInfo[asset];
        return info.kind == AssetKind.Plain ? amount * info.priceUsd8 / 10 ** info.decimals : 0;
    }

    // Twice the geometric mean of both sides: unlike their sum it cannot be inflated by trading against the pair.
    function _pairShare(AmmPair pair, uint256 amount) private view returns (uint256) {
        (uint256 reserve0, uint256 reserve1,) = pair.getReserves();
        uint256 product = _plain(pair.token0(), reserve0) * _plain(pair.token1(), reserve1);
        return 2 * AmmMath.sqrt(product) * amount / pair.totalSupply();
    }

    /// USD that left in plain assets, rounded up so that no crumb is free.
    function _outflow(Snapshot memory was, Snapshot memory is_) internal view returns (uint256 usd) {
        for (uint256 i = 0; i < was.balances.length; i++) {
            if (was.balances[i] <= is_.balances[i]) continue;
            Asset memory info = assetInfo[_assets[i]];
            if (info.kind != AssetKind.Plain) continue;
            uint256 unit = 10 ** info.decimals;
            usd += ((was.balances[i] - is_.balances[i]) * info.priceUsd8 + unit - 1) / unit;
        }
    }

    /// USD by which the whole account became poorer.
    function _loss(Snapshot memory was, Snapshot memory is_) internal pure returns (uint256) {
        (uint256 before, uint256 afterwards) = (was.have + is_.debt, is_.have + was.debt);
        return before > afterwards ? before - afterwards : 0;
    }

    /// USD given and got in a call, over assets, positions and debts.
    function _turnover(Snapshot memory was, Snapshot memory is_) internal pure returns (uint256 given, uint256 got) {
        for (uint256 i = 0; i < was.values.length; i++) {
            if (was.values[i] > is_.values[i]) given += was.values[i] - is_.values[i];
            else got += is_.values[i] - was.values[i];
        }
        for (uint256 i = 0; i < was.supplied.length; i++) {
            if (was.supplied[i] > is_.supplied[i]) given += was.supplied[i] - is_.supplied[i];
            else got += is_.supplied[i] - was.supplied[i];
            if (was.owed[i] < is_.owed[i]) given += is_.owed[i] - was.owed[i];
            else got += was.owed[i] - is_.owed[i];
        }
    }
}
