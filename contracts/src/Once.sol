// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// Code is etched at a chosen address without running a constructor: `init` takes its place and runs once.
abstract contract Once {
    error AlreadyInitialised();

    event Initialised();

    bool private _initialised;

    modifier once() {
        if (_initialised) revert AlreadyInitialised();
        _initialised = true;
        _;
        emit Initialised();
    }
}
