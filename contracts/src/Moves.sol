// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// How often the positions of an account have changed in all the venues that count here: one question in place of one to each of them.
/// Anybody may count. It makes an account look again, no more.
contract Moves {
    mapping(address => uint256) public movesOf;

    function count(address account) external {
        unchecked { movesOf[account]++; }
    }
}
