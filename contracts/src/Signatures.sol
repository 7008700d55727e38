// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

interface IERC1271 {
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4);
}

/// Checks signatures: by ECDSA first (an account with delegated code still has its key), then with ERC-1271.
library Signatures {
    bytes4 internal constant MAGIC = 0x1626ba7e;
    // Signatures in the upper half of the curve order are rejected: they are malleable copies of another valid one.
    uint256 private constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    function recover(bytes32 hash, bytes memory signature) internal pure returns (address) {
        if (signature.length != 65) return address(0);
        (bytes32 r, bytes32 s) = abi.decode(signature, (bytes32, bytes32));
        uint8 v = uint8(signature[64]);
        if (uint256(s) > HALF_ORDER) return address(0);
        return ecrecover(hash, v < 27 ? v + 27 : v, r, s);
    }

    function isFrom(address account, bytes32 hash, bytes memory signature) internal view returns (bool) {
        if (account == address(0)) return false;
        if (recover(hash, signature) == account) return true;
        if (account.code.length == 0) return false;
        (bool ok, bytes memory answer) = account.staticcall(abi.encodeCall(IERC1271.isValidSignature, (hash, signature)));
        return ok && answer.length >= 32 && abi.decode(answer, (bytes32)) == bytes32(MAGIC);
    }
}
