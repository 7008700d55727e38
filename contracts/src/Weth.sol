// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Erc20} from "./Erc20.sol";
import {Transfers} from "./Transfers.sol";

/// Wraps the native coin as a token, one to one.
contract Weth is Erc20 {
    event Deposit(address indexed account, uint256 value);
    event Withdrawal(address indexed account, uint256 value);

    function init(string calldata name_, string calldata symbol_) external once {
        _describe(name_, symbol_, 18);
    }

    receive() external payable {
        deposit();
    }

    function deposit() public payable {
        _mint(msg.sender, msg.value);
        emit Deposit(msg.sender, msg.value);
    }

    function withdraw(uint256 value) external {
        _burn(msg.sender, value);
        emit Withdrawal(msg.sender, value);
        Transfers.sendNative(msg.sender, value);
    }
}
