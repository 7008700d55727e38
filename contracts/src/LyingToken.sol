// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Token} from "./Token.sol";

/// Token whose answers and events can be false, as its owner chooses. Honest at first, so that a world can distribute it.
contract LyingToken is Token {
    enum Mode {
        Honest,
        TrueWithoutMoving, // answers true, nothing moves, no event
        FalseWithoutMoving, // answers false instead of reverting
        EventWithoutMoving // answers true and even emits Transfer

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
