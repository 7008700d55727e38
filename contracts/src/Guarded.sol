// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// Refuses re-entrant calls of the same contract. The flag is transient, so it needs no set-up.
abstract contract Guarded {
    error Reentered();

    bool internal transient _inside;

    modifier guarded() {
        if (_inside) revert Reentered();
        _inside = true;
        _;
        _inside = false;
    }
}
