// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Once} from "./Once.sol";

interface IFactory {
    function getPair(address a, address b) external view returns (address);
    function createPair(address a, address b) external returns (address);
}

interface IPair {
    function getReserves() external view returns (uint112 reserve0, uint112 reserve1, uint32 updatedAt);
    function mint(address to) external returns (uint256 shares);
    function burn(address to) external returns (uint256 amount0, uint256 amount1);
    function swap(uint256 amount0Out, uint256 amount1Out, address to) external;
}

/// Resolves a path to pairs. In a path the zero address is the native coin, which is swapped as its wrapped token.
abstract contract AmmRoutes is Once {
    error NoPair(address a, address b);
    error IdenticalTokens();
    error PathTooShort();

    address public factory;
    address public weth;

    function init(address factory_, address weth_) external once {
        factory = factory_;
        weth = weth_;
    }

    function _token(address named) internal view returns (address) {
        return named == address(0) ? weth : named;
    }

    function _checkPath(address[] calldata path) internal pure {
        if (path.length < 2) revert PathTooShort();
    }

    function _pair(address a, address b) internal view returns (address pair) {
        if (a == b) revert IdenticalTokens();
        pair = IFactory(factory).getPair(a, b);
        if (pair == address(0)) revert NoPair(a, b);
    }

    // The factory sorts the tokens of a pair, so their order is known without a call.
    function _reserves(address pair, address tokenIn, address tokenOut) internal view returns (uint256 reserveIn, uint256 reserveOut) {
        (uint256 reserve0, uint256 reserve1,) = IPair(pair).getReserves();
        return tokenIn < tokenOut ? (reserve0, reserve1) : (reserve1, reserve0);
    }
}
