// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Signatures} from "./Signatures.sol";
import {Transfers} from "./Transfers.sol";

/// The parts of Uniswap's Permit2 that agents use, with the same signatures, typed data, events and errors: allowances with an amount and an
/// expiration, and transfers by a single-use signature. It has nothing to configure, so there is no `init`.
contract Permit2 {
    error SignatureExpired(uint256 signatureDeadline);
    error InvalidNonce();
    error InvalidAmount(uint256 maxAmount);
    error InvalidSigner();
    error AllowanceExpired(uint256 deadline);
    error InsufficientAllowance(uint256 amount);

    event Approval(address indexed owner, address indexed token, address indexed spender, uint160 amount, uint48 expiration);
    event Permit(
        address indexed owner, address indexed token, address indexed spender, uint160 amount, uint48 expiration, uint48 nonce
    );
    event Lockdown(address indexed owner, address token, address spender);
    event UnorderedNonceInvalidation(address indexed owner, uint256 word, uint256 mask);

    struct PackedAllowance {
        uint160 amount;
        uint48 expiration;
        uint48 nonce;
    }

    struct PermitDetails {
        address token;
        uint160 amount;
        uint48 expiration;
        uint48 nonce;
    }

    struct PermitSingle {
        PermitDetails details;
        address spender;
        uint256 sigDeadline;
    }

    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    struct PermitTransferFrom {
        TokenPermissions permitted;
        uint256 nonce;
        uint256 deadline;
    }

    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    struct TokenSpenderPair {
        address token;
        address spender;
    }

    bytes32 private constant DOMAIN_TYPEHASH = keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)");
    bytes32 private constant DETAILS_TYPEHASH = keccak256("PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)");
    bytes32 private constant SINGLE_TYPEHASH = keccak256(
        "PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)"
    );
    bytes32 private constant PERMISSIONS_TYPEHASH = keccak256("TokenPermissions(address token,uint256 amount)");
    bytes32 private constant TRANSFER_TYPEHASH = keccak256(
        "PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)TokenPermissions(address token,uint256 amount)"
    );

    mapping(address => mapping(address => mapping(address => PackedAllowance))) public allowance; // owner, token, spender
    mapping(address => mapping(uint256 => uint256)) public nonceBitmap; // owner, word

    function approve(address token, address spender, uint160 amount, uint48 expiration) external {
        PackedAllowance storage allowed = allowance[msg.sender][token][spender];
        _set(allowed, amount, expiration);
        emit Approval(msg.sender, token, spender, amount, expiration);
    }

    function permit(address owner, PermitSingle calldata single, bytes calldata signature) external {
        if (block.timestamp > single.sigDeadline) revert SignatureExpired(single.sigDeadline);
        PermitDetails calldata details = single.details;
        bytes32 inner = keccak256(abi.encode(DETAILS_TYPEHASH, details));
        _check(owner, keccak256(abi.encode(SINGLE_TYPEHASH, inner, single.spender, single.sigDeadline)), signature);
        PackedAllowance storage allowed = allowance[owner][details.token][single.spender];
        if (allowed.nonce != details.nonce) revert InvalidNonce();
        unchecked { allowed.nonce = details.nonce + 1; }
        _set(allowed, details.amount, details.expiration);
        emit Permit(owner, details.token, single.spender, details.amount, details.expiration, details.nonce);
    }

    function transferFrom(address from, address to, uint160 amount, address token) external {
        PackedAllowance storage allowed = allowance[from][token][msg.sender];
        if (block.timestamp > allowed.expiration) revert AllowanceExpired(allowed.expiration);
        uint256 left = allowed.amount;
        if (left != type(uint160).max) {
            if (amount > left) revert InsufficientAllowance(left);
            unchecked { allowed.amount = uint160(left - amount); }
        }
        Transfers.pull(token, from, to, amount);
    }

    /// Revokes the allowances.
    function lockdown(TokenSpenderPair[] calldata approvals) external {
        for (uint256 i = 0; i < approvals.length; i++) {
            allowance[msg.sender][approvals[i].token][approvals[i].spender].amount = 0;
            emit Lockdown(msg.sender, approvals[i].token, approvals[i].spender);
        }
    }

    function permitTransferFrom(
        PermitTransferFrom calldata permitted,
        SignatureTransferDetails calldata details,
        address owner,
        bytes calldata signature
    ) external {
        if (block.timestamp > permitted.deadline) revert SignatureExpired(permitted.deadline);
        if (details.requestedAmount > permitted.permitted.amount) revert InvalidAmount(permitted.permitted.amount);
        _useNonce(owner, permitted.nonce);
        bytes32 inner = keccak256(abi.encode(PERMISSIONS_TYPEHASH, permitted.permitted));
        _check(owner, keccak256(abi.encode(TRANSFER_TYPEHASH, inner, msg.sender, permitted.nonce, permitted.deadline)), signature);
        Transfers.pull(permitted.permitted.token, owner, details.to, details.requestedAmount);
    }

    /// Invalidates signatures before they are used.
    function invalidateUnorderedNonces(uint256 word, uint256 mask) external {
        nonceBitmap[msg.sender][word] |= mask;
        emit UnorderedNonceInvalidation(msg.sender, word, mask);
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(abi.encode(DOMAIN_TYPEHASH, keccak256("Permit2"), block.chainid, address(this)));
    }

    // Expiration 0 means that the allowance is valid in this block only.
    function _set(PackedAllowance storage allowed, uint160 amount, uint48 expiration) private {
        allowed.amount = amount;
        allowed.expiration = expiration == 0 ? uint48(block.timestamp) : expiration;
    }

    function _useNonce(address owner, uint256 nonce) private {
        uint256 bit = 1 << (nonce & 0xff);
        uint256 word = nonceBitmap[owner][nonce >> 8];
        if (word & bit != 0) revert InvalidNonce();
        nonceBitmap[owner][nonce >> 8] = word | bit;
    }

    function _check(address owner, bytes32 content, bytes calldata signature) private view {
        bytes32 hash = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), content));
        if (!Signatures.isFrom(owner, hash, signature)) revert InvalidSigner();
    }
}
