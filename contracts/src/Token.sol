// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Erc20} from "./Erc20.sol";
import {Owned} from "./Owned.sol";

/// A token of the world. Its owner mints, burns and may rename it at any time: name and symbol are text that an attacker may have written.
contract Token is Erc20, Owned {
    event MetadataChanged(string name, string symbol);

    function init(string calldata name_, string calldata symbol_, uint8 decimals_, address owner_) external virtual once {
        _start(name_, symbol_, decimals_, owner_);
    }

    function mint(address to, uint256 value) external onlyOwner {
        if (to == address(0)) revert InvalidRecipient(to);
        _mint(to, value);
    }

    function burn(address from, uint256 value) external onlyOwner {
        _burn(from, value);
    }

    function setMetadata(string calldata name_, string calldata symbol_) external onlyOwner {
        _describe(name_, symbol_, decimals);
        emit MetadataChanged(name_, symbol_);
    }

    function _start(string calldata name_, string calldata symbol_, uint8 decimals_, address owner_) internal {
        _describe(name_, symbol_, decimals_);
        _setOwner(owner_);
    }
}
