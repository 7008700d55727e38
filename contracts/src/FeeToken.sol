// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Token} from "./Token.sol";

/// Token with a fee on transfer: less arrives than was sent. Starts at 1 % for the owner.
contract FeeToken is Token {
    error FeeTooHigh(uint256 bps);

    event FeeSet(uint256 bps, address collector);
    event FeeTaken(address indexed from, uint256 fee);

    uint256 public feeBps;
    address public collector;

    function init(string calldata name_, string calldata symbol_, uint8 decimals_, address owner_) external override once {
        _start(name_, symbol_, decimals_, owner_);
        _setFee(100, owner_);
    }

    function setFee(uint256 bps, address collector_) external onlyOwner {
        _setFee(bps, collector_);
    }

    function _setFee(uint256 bps, address collector_) private {
        if (bps > 10_000) revert FeeTooHigh(bps);
        if (collector_ == address(0)) revert InvalidRecipient(collector_);
        feeBps = bps;
        collector = collector_;
        emit FeeSet(bps, collector_);
    }

    function _transfer(address from, address to, uint256 value) internal override {
        uint256 fee = value * feeBps / 10_000;
        super._transfer(from, to, value - fee);
        if (fee == 0) return;
        super._transfer(from, collector, fee);
        emit FeeTaken(from, fee);
    }
}
