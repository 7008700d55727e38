// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Reverts} from "./Reverts.sol";

interface IERC20 {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
    function totalSupply() external view returns (uint256);
    function decimals() external view returns (uint8);
}

/// Transfers that do not trust the token: a revert is propagated, and a return value of false is an error.
/// The zero address is the native coin.
library Transfers {
    error TransferFailed(address token);
    error EtherTransferFailed(address to);
    error WrongValue(uint256 sent, uint256 needed);

    address internal constant NATIVE = address(0);

    function send(address token, address to, uint256 amount) internal {
        if (token == NATIVE) {
            sendNative(to, amount);
        } else {
            _call(token, abi.encodeCall(IERC20.transfer, (to, amount)));
        }
    }

    function pull(address token, address from, address to, uint256 amount) internal {
        _call(token, abi.encodeCall(IERC20.transferFrom, (from, to, amount)));
    }

    /// Takes `amount` from the caller into this contract and returns how much arrived. The native coin must be sent with the call.
    function take(address token, uint256 amount) internal returns (uint256 arrived) {
        if (token == NATIVE) {
            if (msg.value != amount) revert WrongValue(msg.value, amount);
            return amount;
        }
        if (msg.value != 0) revert WrongValue(msg.value, 0);
        uint256 before = IERC20(token).balanceOf(address(this));
        pull(token, msg.sender, address(this), amount);
        return IERC20(token).balanceOf(address(this)) - before;
    }

    function sendNative(address to, uint256 amount) internal {
        (bool ok,) = to.call{value: amount}("");
        if (!ok) revert EtherTransferFailed(to);
    }

    function balance(address token, address account) internal view returns (uint256) {
        return token == NATIVE ? account.balance : IERC20(token).balanceOf(account);
    }

    function _call(address token, bytes memory data) private {
        if (token.code.length == 0) revert TransferFailed(token);
        (bool ok, bytes memory answer) = token.call(data);
        if (!ok) Reverts.bubble(answer);
        // Old tokens return nothing; all others must return exactly true.
        if (answer.length != 0 && (answer.length < 32 || abi.decode(answer, (uint256)) != 1)) revert TransferFailed(token);
    }
}
