// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AmmPair} from "./AmmPair.sol";
import {Once} from "./Once.sol";

/// Creates one pair for each two tokens, at a deterministic address (CREATE2).
contract AmmFactory is Once {
    error IdenticalTokens();
    error ZeroToken();
    error PairExists(address pair);

    event PairCreated(address indexed token0, address indexed token1, address pair, uint256 count);

    mapping(address => mapping(address => address)) public getPair;
    address[] public allPairs;

    function init() external once {}

    function allPairsLength() external view returns (uint256) {
        return allPairs.length;
    }

    function createPair(address tokenA, address tokenB) external returns (address pair) {
        if (tokenA == tokenB) revert IdenticalTokens();
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        if (token0 == address(0)) revert ZeroToken();
        if (getPair[token0][token1] != address(0)) revert PairExists(getPair[token0][token1]);
        AmmPair made = new AmmPair{salt: keccak256(abi.encode(token0, token1))}();
        made.init(token0, token1);
        pair = address(made);
        getPair[token0][token1] = pair;
        getPair[token1][token0] = pair;
        allPairs.push(pair);
        emit PairCreated(token0, token1, pair, allPairs.length);
    }
}
