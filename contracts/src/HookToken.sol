// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Token} from "./Token.sol";

/// Token that calls another contract during every transfer, for re-entrancy attacks. A failure of the hook is emitted, not propagated.
contract HookToken is Token {
    event HookSet(address target, bytes data);
    event HookRan(address indexed target, bool ok, bytes answer);

    address public hookTarget;
    bytes public hookData;

    function setHook(address target, bytes calldata data) external onlyOwner {
        hookTarget = target;
        hookData = data;
        emit HookSet(target, data);
    }

    function _transfer(address from, address to, uint256 value) internal override {
        super._transfer(from, to, value);
        if (hookTarget == address(0)) return;
        (bool ok, bytes memory answer) = hookTarget.call(hookData);
        emit HookRan(hookTarget, ok, answer);
    }
}
