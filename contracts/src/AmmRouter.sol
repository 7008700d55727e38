// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AmmMath} from "./AmmMath.sol";
import {AmmRoutes, IFactory, IPair} from "./AmmRoutes.sol";
import {Guarded} from "./Guarded.sol";
import {IERC20, Transfers} from "./Transfers.sol";

interface IWeth {
    function deposit() external payable;
    function withdraw(uint256 value) external;
}

/// Swaps along a path, and adds or removes liquidity, with bounds and a deadline. Amounts are measured at the receiver, so tokens with a fee
/// on transfer work with exact input; with exact output they revert instead of delivering less.
contract AmmRouter is AmmRoutes, Guarded {
    error Expired(uint256 deadline);
    error TooLittleReceived(uint256 received, uint256 minimum);
    error TooMuchRequested(uint256 requested, uint256 maximum);

    event Swapped(address indexed sender, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut, address to);
    event LiquidityAdded(address indexed sender, address indexed pair, uint256 amountA, uint256 amountB, uint256 shares, address to);
    event LiquidityRemoved(address indexed sender, address indexed pair, uint256 amountA, uint256 amountB, uint256 shares, address to);

    modifier before(uint256 deadline) {
        if (block.timestamp > deadline) revert Expired(deadline);
        _;
    }

    // Accepts only coins from unwrapping.
    receive() external payable {
        if (msg.sender != weth) revert Transfers.WrongValue(msg.value, 0);
    }

    function swapExactIn(uint256 amountIn, uint256 minOut, address[] calldata path, address to, uint256 deadline)
        external
        payable
        guarded
        before(deadline)
        returns (uint256 amountOut)
    {
        _checkPath(path);
        address pair = _pair(_token(path[0]), _token(path[1]));
        _payFrom(path[0], pair, amountIn, msg.value);
        amountOut = _swap(path, pair, to);
        if (amountOut < minOut) revert TooLittleReceived(amountOut, minOut);
        _finish(path, amountIn, amountOut, to);
    }

    function swapExactOut(uint256 amountOut, uint256 maxIn, address[] calldata path, address to, uint256 deadline)
        external
        payable
        guarded
        before(deadline)
        returns (uint256 amountIn)
    {
        _checkPath(path);
        amountIn = amountOut;
        address pair; // after the loop, the first pair of the path
        for (uint256 i = path.length - 1; i > 0; i--) {
            (address tokenIn, address tokenOut) = (_token(path[i - 1]), _token(path[i]));
            pair = _pair(tokenIn, tokenOut);
            (uint256 reserveIn, uint256 reserveOut) = _reserves(pair, tokenIn, tokenOut);
            amountIn = AmmMath.amountIn(amountIn, reserveIn, reserveOut);
        }
        if (amountIn > maxIn) revert TooMuchRequested(amountIn, maxIn);
        uint256 change;
        if (path[0] == Transfers.NATIVE && msg.value > amountIn) change = msg.value - amountIn;
        _payFrom(path[0], pair, amountIn, msg.value - change);
        uint256 received = _swap(path, pair, to);
        // Rounding along the path may yield slightly more than requested.
        if (received < amountOut) revert TooLittleReceived(received, amountOut);
        _finish(path, amountIn, received, to);
        if (change > 0) Transfers.sendNative(msg.sender, change);
    }

    /// Adds liquidity in the pair's proportion, at most the desired amounts. Creates the pair if there is none.
    function addLiquidity(
        address tokenA,
        address tokenB,
        uint256 desiredA,
        uint256 desiredB,
        uint256 minA,
        uint256 minB,
        address to,
        uint256 deadline
    ) external payable guarded before(deadline) returns (uint256 amountA, uint256 amountB, uint256 shares) {
        address pair = IFactory(factory).getPair(_token(tokenA), _token(tokenB));
        if (pair == address(0)) pair = _create(_token(tokenA), _token(tokenB));
        (amountA, amountB) = _proportion(pair, _token(tokenA), _token(tokenB), desiredA, desiredB);
        if (amountA < minA) revert TooLittleReceived(amountA, minA);
        if (amountB < minB) revert TooLittleReceived(amountB, minB);
        uint256 native = tokenA == Transfers.NATIVE ? amountA : tokenB == Transfers.NATIVE ? amountB : 0;
        if (msg.value < native || (native == 0 && msg.value > 0)) revert Transfers.WrongValue(msg.value, native);
        _payFrom(tokenA, pair, amountA, tokenA == Transfers.NATIVE ? amountA : 0);
        _payFrom(tokenB, pair, amountB, tokenB == Transfers.NATIVE ? amountB : 0);
        shares = IPair(pair).mint(to);
        emit LiquidityAdded(msg.sender, pair, amountA, amountB, shares, to);
        if (msg.value > native) Transfers.sendNative(msg.sender, msg.value - native);
    }

    /// Takes shares from the caller and pays both sides to `to`.
    function removeLiquidity(address tokenA, address tokenB, uint256 shares, uint256 minA, uint256 minB, address to, uint256 deadline)
        external
        guarded
        before(deadline)
        returns (uint256 amountA, uint256 amountB)
    {
        address pair = _pair(_token(tokenA), _token(tokenB));
        Transfers.pull(pair, msg.sender, pair, shares);
        uint256 beforeA = Transfers.balance(_token(tokenA), address(this));
        uint256 beforeB = Transfers.balance(_token(tokenB), address(this));
        IPair(pair).burn(address(this));
        amountA = _forward(tokenA, beforeA, to);
        amountB = _forward(tokenB, beforeB, to);
        if (amountA < minA) revert TooLittleReceived(amountA, minA);
        if (amountB < minB) revert TooLittleReceived(amountB, minB);
        emit LiquidityRemoved(msg.sender, pair, amountA, amountB, shares, to);
    }

    function _payFrom(address named, address pair, uint256 amount, uint256 value) private {
        if (value != (named == Transfers.NATIVE ? amount : 0)) revert Transfers.WrongValue(value, named == Transfers.NATIVE ? amount : 0);
        if (named == Transfers.NATIVE) {
            IWeth(weth).deposit{value: amount}();
            Transfers.send(weth, pair, amount);
        } else {
            Transfers.pull(named, msg.sender, pair, amount);
        }
    }

    // Each pair is paid before its swap; its input is its balance beyond the reserve.
    function _swap(address[] calldata path, address pair, address to) private returns (uint256 received) {
        uint256 last = path.length - 1;
        bool unwrap = path[last] == Transfers.NATIVE;
        address out = _token(path[last]);
        address receiver = unwrap ? address(this) : to;
        uint256 had = Transfers.balance(out, receiver);
        for (uint256 i = 0; i < last; i++) {
            (address tokenIn, address tokenOut) = (_token(path[i]), _token(path[i + 1]));
            address next = i + 1 < last ? _pair(tokenOut, _token(path[i + 2])) : receiver;
            _hop(pair, tokenIn, tokenOut, next);
            pair = next;
        }
        received = Transfers.balance(out, receiver) - had;
        if (unwrap) {
            IWeth(weth).withdraw(received);
            Transfers.sendNative(to, received);
        }
    }

    function _hop(address pair, address tokenIn, address tokenOut, address to) private {
        (uint256 reserveIn, uint256 reserveOut) = _reserves(pair, tokenIn, tokenOut);
        uint256 out = AmmMath.amountOut(Transfers.balance(tokenIn, pair) - reserveIn, reserveIn, reserveOut);
        (uint256 out0, uint256 out1) = tokenIn < tokenOut ? (uint256(0), out) : (out, uint256(0));
        IPair(pair).swap(out0, out1, to);
    }

    function _finish(address[] calldata path, uint256 amountIn, uint256 amountOut, address to) private {
        emit Swapped(msg.sender, path[0], path[path.length - 1], amountIn, amountOut, to);
    }

    function _create(address a, address b) private returns (address) {
        if (a == b) revert IdenticalTokens();
        return IFactory(factory).createPair(a, b);
    }

    function _proportion(address pair, address tokenA, address tokenB, uint256 desiredA, uint256 desiredB)
        private
        view
        returns (uint256, uint256)
    {
        (uint256 reserveA, uint256 reserveB) = _reserves(pair, tokenA, tokenB);
        if (reserveA == 0 && reserveB == 0) return (desiredA, desiredB);
        uint256 matchB = desiredA * reserveB / reserveA;
        return matchB <= desiredB ? (desiredA, matchB) : (desiredB * reserveA / reserveB, desiredB);
    }

    function _forward(address named, uint256 had, address to) private returns (uint256 amount) {
        address token = _token(named);
        amount = IERC20(token).balanceOf(address(this)) - had;
        if (named == Transfers.NATIVE) {
            IWeth(weth).withdraw(amount);
            Transfers.sendNative(to, amount);
        } else {
            uint256 before_ = IERC20(token).balanceOf(to);
            Transfers.send(token, to, amount);
            amount = IERC20(token).balanceOf(to) - before_;
        }
    }
}
