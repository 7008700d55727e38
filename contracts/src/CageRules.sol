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

/// Checks a call before it is made: target, function, assets, recipients and spenders. Reverts if the policy does not allow it.
abstract contract CageRules is CageConfig {
    error SelectorNotAllowed(bytes4 selector);
    error MalformedCalldata();

    /// Terms under which a call is measured.
    struct CallTerms {
        bool isPayment; // another account gets the proceeds
        bool isTrade; // must not lose more than the permitted slippage
        bool isTradeIfPaid; // the same, if the account received anything
        bool isRebalance; // counts for the rebalance limits
        bool isApproval; // sets an allowance and moves nothing
        bool isSwap; // `recipient` gets `boughtAsset`, so the value can be measured there
        address boughtAsset;
        address recipient;
    }

    function _checkCall(address target, uint256 value, bytes calldata data) internal view returns (CallTerms memory terms) {
        _requireNotSanctioned(target);
        if (value > 0) _requireAsset(Transfers.NATIVE);
        if (data.length == 0) {
            _requireAsset(Transfers.NATIVE);
            terms.isPayment = target != address(this);
            return terms;
        }
        if (data.length < 4) revert MalformedCalldata();
        bytes4 selector = bytes4(data);
        ProtocolKind kind = protocolKind[target];
        bool isAsset = isApprovedAsset(target);
        if ((isAsset || kind == ProtocolKind.None) && _checkToken(terms, target, selector, data)) return terms;
        if (kind == ProtocolKind.None) {
            if (isAsset) revert SelectorNotAllowed(selector);
            revert ProtocolNotApproved(target);
        }
        if (kind == ProtocolKind.Router && _checkRouter(terms, selector, data)) return terms;
        if (kind == ProtocolKind.Vault && _checkVault(terms, target, selector, data)) return terms;
        if (kind == ProtocolKind.Venue && _checkVenue(terms, selector, data)) return terms;
        if (kind == ProtocolKind.Permit2 && _checkPermit2(terms, selector, data)) return terms;
        if (kind == ProtocolKind.Wrapper && _checkWrapper(terms, selector)) return terms;
        return _checkUnknown(selector, data);
    }

    // The functions below return false if they do not know the selector.

    function _checkToken(CallTerms memory terms, address token, bytes4 selector, bytes calldata data) private view returns (bool) {
        if (selector == Erc20.transfer.selector) {
            _requireAsset(token);
            _checkRecipient(terms, _addressAt(data, 0));
        } else if (selector == Erc20.transferFrom.selector) {
            _requireAsset(token);
            _requireNotSanctioned(_addressAt(data, 0));
            _checkRecipient(terms, _addressAt(data, 1));
        } else if (selector == Erc20.approve.selector || selector == Erc20.increaseAllowance.selector) {
            _requireAsset(token);
            _checkSpender(_addressAt(data, 0), _wordAt(data, 1));
            terms.isApproval = true;
        } else if (selector == Erc20.decreaseAllowance.selector) {
            _requireAsset(token);
            terms.isApproval = true;
        } else {
            return false;
        }
        return true;
    }

    function _checkRouter(CallTerms memory terms, bytes4 selector, bytes calldata data) private view returns (bool) {
        if (selector == AmmRouter.swapExactIn.selector || selector == AmmRouter.swapExactOut.selector) {
            (address sold, address bought) = _firstAndLastAt(data, 2);
            _requireAsset(sold);
            _requireAsset(bought);
            _checkRecipient(terms, _addressAt(data, 3));
            (terms.isSwap, terms.boughtAsset) = (true, bought);
        } else if (selector == AmmRouter.addLiquidity.selector) {
            _requireAsset(_addressAt(data, 0));
            _requireAsset(_addressAt(data, 1));
            _checkRecipient(terms, _addressAt(data, 6));
        } else if (selector == AmmRouter.removeLiquidity.selector) {
            _requireAsset(_addressAt(data, 0));
            _requireAsset(_addressAt(data, 1));
            _checkRecipient(terms, _addressAt(data, 5));
        } else {
            return false;
        }
        (terms.isTrade, terms.isRebalance) = (true, true);
        return true;
    }

    function _checkVault(CallTerms memory terms, address vault, bytes4 selector, bytes calldata data) private view returns (bool) {
        bool isDeposit = selector == Vault.deposit.selector || selector == Vault.mint.selector;
        if (!isDeposit && selector != Vault.withdraw.selector && selector != Vault.redeem.selector) return false;
        _requireAsset(vault);
        _checkRecipient(terms, _addressAt(data, 1));
        if (!isDeposit) _requireNotSanctioned(_addressAt(data, 2));
        (terms.isTrade, terms.isRebalance) = (true, true);
        return true;
    }

    function _checkVenue(CallTerms memory terms, bytes4 selector, bytes calldata data) private view returns (bool) {
        if (selector == Venue.enter.selector || selector == Venue.repay.selector) {
            _requireAsset(_addressAt(data, 1));
            (terms.isTrade, terms.isRebalance) = (true, true);
        } else if (selector == Venue.exit.selector || selector == Venue.borrow.selector) {
            _requireAsset(_addressAt(data, 1));
            _checkRecipient(terms, _addressAt(data, 3));
            (terms.isTrade, terms.isRebalance) = (true, true);
        } else if (selector == Venue.claim.selector) {
            _requireAsset(_addressAt(data, 1));
            _checkRecipient(terms, _addressAt(data, 2));
            terms.isTrade = true;
        } else if (selector == Venue.convert.selector) {
            _requireAsset(_addressAt(data, 1));
            _requireAsset(_addressAt(data, 3));
            _checkRecipient(terms, _addressAt(data, 5));
            (terms.isTrade, terms.isRebalance) = (true, true);
            (terms.isSwap, terms.boughtAsset) = (true, _addressAt(data, 3));
        } else if (selector == Venue.bridgeOut.selector) {
            _requireAsset(_addressAt(data, 0));
            _checkRecipient(terms, _addressAt(data, 3));
            terms.isPayment = true; // also for the same address, because it is on another chain
        } else if (selector == Venue.flash.selector) {
            _requireAsset(_addressAt(data, 1));
        } else {
            return selector == Venue.configure.selector;
        }
        return true;
    }

    function _checkPermit2(CallTerms memory terms, bytes4 selector, bytes calldata data) private view returns (bool) {
        if (selector == Permit2.approve.selector) {
            _requireAsset(_addressAt(data, 0));
            _checkSpender(_addressAt(data, 1), _wordAt(data, 2));
            terms.isApproval = true;
        } else if (selector == Permit2.transferFrom.selector) {
            _requireNotSanctioned(_addressAt(data, 0));
            _checkRecipient(terms, _addressAt(data, 1));
            _requireAsset(_addressAt(data, 3));
        } else {
            return selector == Permit2.lockdown.selector || selector == Permit2.invalidateUnorderedNonces.selector;
        }
        return true;
    }

    function _checkWrapper(CallTerms memory terms, bytes4 selector) private pure returns (bool) {
        terms.isTrade = selector == Weth.deposit.selector || selector == Weth.withdraw.selector;
        return terms.isTrade;
    }

    // The arguments are unknown, so every word that looks like an address is checked against the sanctions.
    function _checkUnknown(bytes4 selector, bytes calldata data) private view returns (CallTerms memory terms) {
        if (!allowArbitraryCalldata && !selectorAllowed[selector]) revert SelectorNotAllowed(selector);
        (terms.isTradeIfPaid, terms.isRebalance) = (true, true);
        for (uint256 start = 4; start + 32 <= data.length; start += 32) {
            uint256 word = uint256(bytes32(data[start:start + 32]));
            bool looksLikeAddress = word <= type(uint160).max && word > type(uint96).max;
            if (looksLikeAddress) _requireNotSanctioned(address(uint160(word)));
        }
    }

    function _checkRecipient(CallTerms memory terms, address to) private view {
        _requireNotSanctioned(to);
        terms.recipient = to;
        terms.isPayment = to != address(this);
    }

    // Revoking an allowance is always permitted.
    function _checkSpender(address spender, uint256 amount) private view {
        if (amount == 0) return;
        _requireProtocol(spender);
        _requireNotSanctioned(spender);
    }

    // --- calldata

    /// Argument `index` as a word.
    function _wordAt(bytes calldata data, uint256 index) private pure returns (uint256) {
        uint256 start = 4 + 32 * index;
        if (data.length < start + 32) revert MalformedCalldata();
        return uint256(bytes32(data[start:start + 32]));
    }

    function _addressAt(bytes calldata data, uint256 index) private pure returns (address) {
        uint256 word = _wordAt(data, index);
        if (word > type(uint160).max) revert MalformedCalldata();
        return address(uint160(word));
    }

    /// First and last entry of the address list in argument `index`.
    function _firstAndLastAt(bytes calldata data, uint256 index) private pure returns (address first, address last) {
        uint256 offset = _wordAt(data, index);
        if (offset % 32 != 0 || offset > data.length) revert MalformedCalldata();
        uint256 length = _wordAt(data, offset / 32);
        if (length < 2 || length > data.length) revert MalformedCalldata();
        return (_addressAt(data, offset / 32 + 1), _addressAt(data, offset / 32 + length));
    }
}
