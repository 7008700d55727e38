// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Once} from "./Once.sol";
import {Owned} from "./Owned.sol";

/// External sanctions oracle of a cage. It can be taken down, to test that the cage fails closed.
contract SanctionsList is Once, Owned {
    error OutOfService();

    event SanctionSet(address indexed account, bool sanctioned);
    event ServiceSet(bool down);

    mapping(address => bool) private _sanctioned;
    bool public down;

    function init(address owner_) external once {
        _setOwner(owner_);
    }

    function setSanctioned(address account, bool sanctioned) external onlyOwner {
        _sanctioned[account] = sanctioned;
        emit SanctionSet(account, sanctioned);
    }

    function setDown(bool down_) external onlyOwner {
        down = down_;
        emit ServiceSet(down_);
    }

    function isSanctioned(address account) external view returns (bool) {
        if (down) revert OutOfService();
        return _sanctioned[account];
    }
}
