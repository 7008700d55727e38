// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Token} from "./Token.sol";

/// Token whose return values and events can be false, depending on the mode. Starts in honest mode, so that a world can distribute it.
contract LyingToken is Token {
    enum Mode {
        Honest,
        TrueWithoutMoving, // returns true, nothing moves, no event
        FalseWithoutMoving, // returns false instead of reverting
        EventWithoutMoving // returns true and emits Transfer

    }

    event ModeSet(Mode mode);

    Mode public mode;

    function setMode(Mode mode_) external onlyOwner {
        mode = mode_;
        emit ModeSet(mode_);
    }

    function transfer(address to, uint256 value) public override returns (bool) {
        return mode == Mode.Honest ? super.transfer(to, value) : _lie(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        return mode == Mode.Honest ? super.transferFrom(from, to, value) : _lie(from, to, value);
    }

    function _lie(address from, address to, uint256 value) private returns (bool) {
        if (mode == Mode.EventWithoutMoving) emit Transfer(from, to, value);
        return mode != Mode.FalseWithoutMoving;
    }
}
