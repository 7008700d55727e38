// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AmmMath} from "./AmmMath.sol";
import {Erc20} from "./Erc20.sol";
import {Guarded} from "./Guarded.sol";
import {IERC20, Transfers} from "./Transfers.sol";

/// Constant-product pair of two tokens. It trusts only its own balances.
contract AmmPair is Erc20, Guarded {
    error InsufficientShares();
    error ProductDecreased(uint256 before, uint256 afterwards);
    error ReserveOverflow();

    event Mint(address indexed sender, uint256 amount0, uint256 amount1, address indexed to, uint256 shares);
    event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to, uint256 shares);
    event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to);
    event Sync(uint112 reserve0, uint112 reserve1);

    // Locked permanently, so that the share price cannot be inflated.
    uint256 public constant MINIMUM_LIQUIDITY = 1_000;

    address public factory;
    address public token0;
    address public token1;
    uint112 private _reserve0;
    uint112 private _reserve1;
    uint32 private _updatedAt;

    function init(address token0_, address token1_) external once {
        _describe("Pair share", "PAIR", 18);
        factory = msg.sender;
        token0 = token0_;
        token1 = token1_;
    }

    function getReserves() public view returns (uint112 reserve0, uint112 reserve1, uint32 updatedAt) {
        return (_reserve0, _reserve1, _updatedAt);
    }

    /// Returns tokens, reserves and share supply, which determine the value of a share.
    function poolState() external view returns (address, uint256, address, uint256, uint256) {
        return (token0, _reserve0, token1, _reserve1, totalSupply);
    }

    /// Mints shares for the tokens sent here since the last update; the smaller side counts.
    function mint(address to) external guarded returns (uint256 shares) {
        (uint256 balance0, uint256 balance1) = _balances();
        uint256 amount0 = balance0 - _reserve0;
        uint256 amount1 = balance1 - _reserve1;
        uint256 supply = totalSupply;
        if (supply == 0) {
            uint256 root = AmmMath.sqrt(amount0 * amount1);
            if (root <= MINIMUM_LIQUIDITY) revert InsufficientShares();
            shares = root - MINIMUM_LIQUIDITY;
            _mint(address(0), MINIMUM_LIQUIDITY);
        } else {
            uint256 by0 = amount0 * supply / _reserve0;
            uint256 by1 = amount1 * supply / _reserve1;
            shares = by0 < by1 ? by0 : by1;
        }
        if (shares == 0) revert InsufficientShares();
        _mint(to, shares);
        _update(balance0, balance1);
        emit Mint(msg.sender, amount0, amount1, to, shares);
    }

    /// Burns the shares that were sent here and pays both tokens out.
    function burn(address to) external guarded returns (uint256 amount0, uint256 amount1) {
        (uint256 balance0, uint256 balance1) = _balances();
        uint256 shares = balanceOf[address(this)];
        uint256 supply = totalSupply;
        if (shares == 0) revert InsufficientShares();
        amount0 = shares * balance0 / supply;
        amount1 = shares * balance1 / supply;
        if (amount0 == 0 || amount1 == 0) revert AmmMath.InsufficientOutput();
        _burn(address(this), shares);
        Transfers.send(token0, to, amount0);
        Transfers.send(token1, to, amount1);
        (balance0, balance1) = _balances();
        _update(balance0, balance1);
        emit Burn(msg.sender, amount0, amount1, to, shares);
    }

    /// Pays first, then requires that the product, with the fee taken off the input, has not decreased.
    function swap(uint256 amount0Out, uint256 amount1Out, address to) external guarded {
        if (amount0Out == 0 && amount1Out == 0) revert AmmMath.InsufficientOutput();
        (uint256 reserve0, uint256 reserve1) = (_reserve0, _reserve1);
        if (amount0Out >= reserve0 || amount1Out >= reserve1) revert AmmMath.InsufficientLiquidity();
        if (to == token0 || to == token1) revert InvalidRecipient(to);
        if (amount0Out > 0) Transfers.send(token0, to, amount0Out);
        if (amount1Out > 0) Transfers.send(token1, to, amount1Out);

        (uint256 balance0, uint256 balance1) = _balances();
        uint256 amount0In = _arrived(balance0, reserve0 - amount0Out);
        uint256 amount1In = _arrived(balance1, reserve1 - amount1Out);
        if (amount0In == 0 && amount1In == 0) revert AmmMath.InsufficientInput();
        _fits(balance0, balance1);
        _holds(balance0 * 10_000 - amount0In * 30, balance1 * 10_000 - amount1In * 30, reserve0 * reserve1 * 10_000 ** 2);
        _update(balance0, balance1);
        emit Swap(msg.sender, amount0In, amount1In, amount0Out, amount1Out, to);
    }

    /// Sends balances beyond the reserves to any address.
    function skim(address to) external guarded {
        (uint256 balance0, uint256 balance1) = _balances();
        if (balance0 > _reserve0) Transfers.send(token0, to, balance0 - _reserve0);
        if (balance1 > _reserve1) Transfers.send(token1, to, balance1 - _reserve1);
    }

    /// Sets the reserves to the balances.
    function sync() external guarded {
        (uint256 balance0, uint256 balance1) = _balances();
        _update(balance0, balance1);
    }

    function _balances() private view returns (uint256, uint256) {
        return (IERC20(token0).balanceOf(address(this)), IERC20(token1).balanceOf(address(this)));
    }

    function _arrived(uint256 balance, uint256 expected) private pure returns (uint256) {
        return balance > expected ? balance - expected : 0;
    }

    function _holds(uint256 adjusted0, uint256 adjusted1, uint256 before) private pure {
        if (adjusted0 * adjusted1 < before) revert ProductDecreased(before, adjusted0 * adjusted1);
    }

    function _fits(uint256 balance0, uint256 balance1) private pure {
        if (balance0 > type(uint112).max || balance1 > type(uint112).max) revert ReserveOverflow();
    }

    function _update(uint256 balance0, uint256 balance1) private {
        _fits(balance0, balance1);
        _reserve0 = uint112(balance0);
        _reserve1 = uint112(balance1);
        _updatedAt = uint32(block.timestamp);
        emit Sync(uint112(balance0), uint112(balance1));
    }
}
