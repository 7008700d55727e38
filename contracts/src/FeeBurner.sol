// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Guarded} from "./Guarded.sol";
import {Once} from "./Once.sol";
import {IERC20, Transfers} from "./Transfers.sol";

/// Releases collected fees to any caller that burns a fixed amount of one token. Of two callers with the same nonce the second reverts, so
/// that it does not burn without a release.
contract FeeBurner is Once, Guarded {
    error NonceMismatch(uint256 expected, uint256 given);
    error InvalidRecipient(address to);
    error BurnShortfall(uint256 burnt, uint256 needed);

    event Received(address indexed from, uint256 amount);
    event Burned(address indexed caller, uint256 indexed nonce, uint256 amount);
    event Released(uint256 indexed nonce, address indexed asset, address indexed recipient, uint256 amount);

    address public constant GRAVE = 0x000000000000000000000000000000000000dEaD;

    address public token;
    uint256 public burnAmount;
    uint256 public nonce;

    function init(address token_, uint256 burnAmount_) external once {
        token = token_;
        burnAmount = burnAmount_;
    }

    receive() external payable {
        emit Received(msg.sender, msg.value);
    }

    function release(uint256 nonce_, address[] calldata assets, address recipient) external guarded {
        if (nonce_ != nonce) revert NonceMismatch(nonce, nonce_);
        if (recipient == address(0) || recipient == address(this)) revert InvalidRecipient(recipient);
        nonce = nonce_ + 1;
        uint256 before = IERC20(token).balanceOf(GRAVE);
        Transfers.pull(token, msg.sender, GRAVE, burnAmount);
        uint256 burnt = IERC20(token).balanceOf(GRAVE) - before;
        if (burnt < burnAmount) revert BurnShortfall(burnt, burnAmount);
        emit Burned(msg.sender, nonce_, burnt);
        for (uint256 i = 0; i < assets.length; i++) {
            uint256 amount = Transfers.balance(assets[i], address(this));
            if (amount == 0) continue;
            Transfers.send(assets[i], recipient, amount);
            emit Released(nonce_, assets[i], recipient, amount);
        }
    }
}
