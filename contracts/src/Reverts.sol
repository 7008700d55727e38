// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

library Reverts {
    /// Reverts with the data of an inner call. Solidity has no other way to propagate it unchanged.
    function bubble(bytes memory answer) internal pure {
        assembly ("memory-safe") { revert(add(answer, 32), mload(answer)) }
    }
}
