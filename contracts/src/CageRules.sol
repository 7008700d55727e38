// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AmmRouter} from "./AmmRouter.sol";
import {CageConfig} from "./CageConfig.sol";
import {Erc20} from "./Erc20.sol";
import {Permit2} from "./Permit2.sol";
import {Transfers} from "./Transfers.sol";
import {Vault} from "./Vault.sol";
import {Venue} from "./Venue.sol";
import {Weth} from "./Weth.sol";

/// Which calls the operator may make at all: reads the call before it is made.
abstract contract CageRules is CageConfig {
    error SelectorNotAllowed(bytes4 selector);
    error MalformedCalldata();

    struct Ruling {
        bool pays; // somebody else gets the proceeds: a payment, not a trade
        bool trades; // must not lose more than the permitted slippage
        bool tradesIfPaid; // the same, provided that anything came back
        bool rebalances;
        bool swaps; // `recipient` gets `soldFor`, and its worth can be measured there
        bool approves; // an allowance, which moves nothing by itself
        bool told; // no other assets reach the account than the target, the native coin and the two that are named
        address named;
        address alsoNamed;
        address soldFor;
        address recipient;
    }

    function _judge(address target, uint256 value, bytes calldata data) internal view returns (Ruling memory r) {
        _needClean(target);
        if (value > 0) _needAsset(Transfers.NATIVE);
        if (data.length == 0) {
            _needAsset(Transfers.NATIVE);
            r.pays = target != address(this);
            r.told = true;
            return r;
        }
        if (data.length < 4) revert MalformedCalldata();
        bytes4 selector = bytes4(data);
        ProtocolKind kind = protocolKind[target];
        bool asset = isApprovedAsset(target);
        if ((asset || kind == ProtocolKind.None) && _judgeToken(r, target, selector, data)) return r;
        if (kind == ProtocolKind.None) {
            if (asset) revert SelectorNotAllowed(selector);
            revert ProtocolNotApproved(target);
        }
        if (kind == ProtocolKind.Router && _judgeRouter(r, selector, data)) return r;
        if (kind == ProtocolKind.Vault && _judgeVault(r, target, selector, data)) return r;
        if (kind == ProtocolKind.Venue && _judgeVenue(r, selector, data)) return r;
        if (kind == ProtocolKind.Permit2 && _judgePermit2(r, selector, data)) return r;
        if (kind == ProtocolKind.Wrapper && _judgeWrapper(r, selector)) return r;
        _judgeUnknown(r, selector, data);
    }

    function _judgeToken(Ruling memory r, address token, bytes4 selector, bytes calldata data) private view returns (bool) {
        if (selector == Erc20.transfer.selector) {
            _needAsset(token);
            _recipient(r, _address(data, 0));
        } else if (selector == Erc20.transferFrom.selector) {
            _needAsset(token);
            _needClean(_address(data, 0));
            _recipient(r, _address(data, 1));
        } else if (selector == Erc20.approve.selector || selector == Erc20.increaseAllowance.selector) {
            _needAsset(token);
            _spender(_address(data, 0), _word(data, 1));
            r.approves = true;
        } else if (selector == Erc20.decreaseAllowance.selector) {
            _needAsset(token);
            r.approves = true;
        } else {
            return false;
        }
        r.told = true;
        return true;
    }

    function _judgeRouter(Ruling memory r, bytes4 selector, bytes calldata data) private view returns (bool) {
        r.trades = true;
        r.rebalances = true;
        if (selector == AmmRouter.swapExactIn.selector || selector == AmmRouter.swapExactOut.selector) {
            (address first, address last) = _ends(data, 2);
            _name(r, first);
            _name(r, last);
            _recipient(r, _address(data, 3));
            (r.told, r.swaps, r.soldFor) = (true, true, last);
        } else if (selector == AmmRouter.addLiquidity.selector) {
            _needAsset(_address(data, 0));
            _needAsset(_address(data, 1));
            _recipient(r, _address(data, 6));
        } else if (selector == AmmRouter.removeLiquidity.selector) {
            _needAsset(_address(data, 0));
            _needAsset(_address(data, 1));
            _recipient(r, _address(data, 5));
        } else {
            return _unread(r);
        }
        return true;
    }

    function _judgeVault(Ruling memory r, address vault, bytes4 selector, bytes calldata data) private view returns (bool) {
        bool enters = selector == Vault.deposit.selector || selector == Vault.mint.selector;
        if (!enters && selector != Vault.withdraw.selector && selector != Vault.redeem.selector) return false;
        r.trades = true;
        r.rebalances = true;
        _needAsset(vault);
        _recipient(r, _address(data, 1));
        if (!enters) _needClean(_address(data, 2));
        return true;
    }

    function _judgeVenue(Ruling memory r, bytes4 selector, bytes calldata data) private view returns (bool) {
        (r.told, r.trades, r.rebalances) = (true, true, true);
        if (selector == Venue.enter.selector || selector == Venue.repay.selector) {
            _name(r, _address(data, 1));
        } else if (selector == Venue.exit.selector || selector == Venue.borrow.selector) {
            _name(r, _address(data, 1));
            _recipient(r, _address(data, 3));
        } else if (selector == Venue.claim.selector) {
            r.rebalances = false;
            _name(r, _address(data, 1));
            _recipient(r, _address(data, 2));
        } else if (selector == Venue.convert.selector) {
            _name(r, _address(data, 1));
            _name(r, _address(data, 3));
            _recipient(r, _address(data, 5));
            (r.swaps, r.soldFor) = (true, _address(data, 3));
        } else if (selector == Venue.bridgeOut.selector) {
            (r.trades, r.rebalances) = (false, false);
            _name(r, _address(data, 0));
            _recipient(r, _address(data, 3));
            r.pays = true; // even to the same address: it is on another chain
        } else if (selector == Venue.flash.selector) {
            (r.trades, r.rebalances) = (false, false);
            _name(r, _address(data, 1));
        } else if (selector == Venue.configure.selector) {
            (r.trades, r.rebalances) = (false, false);
        } else {
            return _unread(r);
        }
        return true;
    }

    function _judgePermit2(Ruling memory r, bytes4 selector, bytes calldata data) private view returns (bool) {
        if (selector == Permit2.approve.selector) {
            _name(r, _address(data, 0));
            _spender(_address(data, 1), _word(data, 2));
            r.approves = true;
        } else if (selector == Permit2.transferFrom.selector) {
            _needClean(_address(data, 0));
            _recipient(r, _address(data, 1));
            _name(r, _address(data, 3));
        } else {
            r.told = selector == Permit2.lockdown.selector || selector == Permit2.invalidateUnorderedNonces.selector;
            return r.told;
        }
        r.told = true;
        return true;
    }

    function _judgeWrapper(Ruling memory r, bytes4 selector) private pure returns (bool) {
        r.trades = r.told = selector == Weth.deposit.selector || selector == Weth.withdraw.selector;
        return r.trades;
    }

    // What cannot be read is searched instead: any word that looks like an address must not be a sanctioned one.
    function _judgeUnknown(Ruling memory r, bytes4 selector, bytes calldata data) private view {
        if (!allowArbitraryCalldata && !selectorAllowed[selector]) revert SelectorNotAllowed(selector);
        r.tradesIfPaid = true;
        r.rebalances = true;
        for (uint256 place = 4; place + 32 <= data.length; place += 32) {
            uint256 word = uint256(bytes32(data[place:place + 32]));
            if (word >> 160 == 0 && word >> 96 != 0) _needClean(address(uint160(word)));
        }
    }

    function _name(Ruling memory r, address asset) private view {
        _needAsset(asset);
        (r.named, r.alsoNamed) = (asset, r.named);
    }

    function _recipient(Ruling memory r, address to) private view {
        _needClean(to);
        r.recipient = to;
        r.pays = to != address(this);
    }

    // Taking an allowance back is always right, whoever has it.
    function _spender(address spender, uint256 amount) private view {
        if (amount == 0) return;
        _needProtocol(spender);
        _needClean(spender);
    }

    function _unread(Ruling memory r) private pure returns (bool) {
        (r.told, r.trades, r.rebalances) = (false, false, false);
        return false;
    }

    function _word(bytes calldata data, uint256 index) private pure returns (uint256 word) {
        uint256 place = 4 + 32 * index;
        if (data.length < place + 32) revert MalformedCalldata();
        assembly ("memory-safe") { word := calldataload(add(data.offset, place)) }
    }

    function _address(bytes calldata data, uint256 index) private pure returns (address) {
        uint256 word = _word(data, index);
        if (word >> 160 != 0) revert MalformedCalldata();
        return address(uint160(word));
    }

    // First and last entry of the address list that argument `index` points to.
    function _ends(bytes calldata data, uint256 index) private pure returns (address first, address last) {
        uint256 offset = _word(data, index);
        if (offset % 32 != 0 || offset > data.length) revert MalformedCalldata();
        uint256 length = _word(data, offset / 32);
        if (length < 2 || length > data.length) revert MalformedCalldata();
        return (_address(data, offset / 32 + 1), _address(data, offset / 32 + length));
    }
}
