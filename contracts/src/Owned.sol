// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// A contract with one owner, who may transfer the ownership.
abstract contract Owned {
    error NotOwner(address caller);

    event OwnershipTransferred(address indexed from, address indexed to);

    address public owner;

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        _;
    }

    function transferOwnership(address to) external onlyOwner {
        _setOwner(to);
    }

    function _setOwner(address to) internal {
        emit OwnershipTransferred(owner, to);
        owner = to;
    }
}
