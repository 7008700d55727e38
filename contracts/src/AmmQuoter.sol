// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AmmMath} from "./AmmMath.sol";
import {AmmRoutes} from "./AmmRoutes.sol";

/// Quotes a swap and its price impact. The impact leaves the fee out: it compares with the same
/// amount at the pairs' present prices less their fees, in bps rounded up.
contract AmmQuoter is AmmRoutes {
    function quoteExactIn(uint256 amountIn, address[] calldata path) external view returns (uint256 amountOut, uint256 impactBps) {
        _checkPath(path);
        amountOut = amountIn;
        for (uint256 i = 0; i + 1 < path.length; i++) {
            (uint256 reserveIn, uint256 reserveOut) = _hop(path[i], path[i + 1]);
            amountOut = AmmMath.amountOut(amountOut, reserveIn, reserveOut);
        }
        impactBps = _impact(amountIn, amountOut, path);
    }

    function quoteExactOut(uint256 amountOut, address[] calldata path) external view returns (uint256 amountIn, uint256 impactBps) {
        _checkPath(path);
        amountIn = amountOut;
        for (uint256 i = path.length - 1; i > 0; i--) {
            (uint256 reserveIn, uint256 reserveOut) = _hop(path[i - 1], path[i]);
            amountIn = AmmMath.amountIn(amountIn, reserveIn, reserveOut);
        }
        impactBps = _impact(amountIn, amountOut, path);
    }

    function _impact(uint256 amountIn, uint256 amountOut, address[] calldata path) private view returns (uint256) {
        uint256 ideal = amountIn;
        for (uint256 i = 0; i + 1 < path.length; i++) {
            (uint256 reserveIn, uint256 reserveOut) = _hop(path[i], path[i + 1]);
            ideal = ideal * AmmMath.KEPT * reserveOut / (reserveIn * 10_000);
        }
        if (ideal <= amountOut) return 0;
        return ((ideal - amountOut) * 10_000 + ideal - 1) / ideal;
    }

    function _hop(address from, address to) private view returns (uint256, uint256) {
        (address tokenIn, address tokenOut) = (_token(from), _token(to));
        return _reserves(_pair(tokenIn, tokenOut), tokenIn, tokenOut);
    }
}
