// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// Allows `init` to run once. It replaces the constructor, because code is etched at a chosen address.
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
