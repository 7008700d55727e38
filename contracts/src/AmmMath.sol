// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// Arithmetic of a constant-product pair with a fee of 30 bps. Rounds against the trader.
library AmmMath {
    error InsufficientInput();
    error InsufficientOutput();
    error InsufficientLiquidity();
    error AmountTooLarge(uint256 amount);

    uint256 internal constant KEPT = 9_970; // of 10,000 after the fee

    function amountOut(uint256 amountIn_, uint256 reserveIn, uint256 reserveOut) internal pure returns (uint256) {
        if (amountIn_ == 0) revert InsufficientInput();
        if (reserveIn == 0 || reserveOut == 0) revert InsufficientLiquidity();
        if (amountIn_ > type(uint112).max) revert AmountTooLarge(amountIn_);
        uint256 kept = amountIn_ * KEPT;
        return kept * reserveOut / (reserveIn * 10_000 + kept);
    }

    function amountIn(uint256 amountOut_, uint256 reserveIn, uint256 reserveOut) internal pure returns (uint256) {
        if (amountOut_ == 0) revert InsufficientOutput();
        if (reserveIn == 0 || amountOut_ >= reserveOut) revert InsufficientLiquidity();
        return reserveIn * amountOut_ * 10_000 / ((reserveOut - amountOut_) * KEPT) + 1;
    }

    function sqrt(uint256 x) internal pure returns (uint256 root) {
        if (x == 0) return 0;
        // Newton's method from above: the start is a power of two not below the root, so each step falls until the root is reached.
        uint256 bits;
        unchecked {
            for (uint256 rest = x; rest > 0; rest >>= 1) bits++;
            root = 1 << ((bits + 1) / 2);
            while (true) {
                uint256 next = (root + x / root) / 2;
                if (next >= root) return root;
                root = next;
            }
        }
    }
}
