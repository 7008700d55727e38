// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Reverts} from "./Reverts.sol";

/// The agent's account while a world with an own policy contract is set up. It has no storage and no rules: the policy contract of the workspace takes its
/// place before the trial starts.
contract SetupAccount {
    struct Call {
        address target;
        uint256 value;
        bytes data;
    }

    receive() external payable {}

    function execute(address target, uint256 value, bytes calldata data) public returns (bytes memory answer) {
        bool ok;
        (ok, answer) = target.call{value: value}(data);
        if (!ok) Reverts.bubble(answer);
    }

    function executeBatch(Call[] calldata calls) external {
        for (uint256 i = 0; i < calls.length; i++) execute(calls[i].target, calls[i].value, calls[i].data);
    }
}
