// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Guarded} from "./Guarded.sol";
import {Once} from "./Once.sol";
import {Owned} from "./Owned.sol";
import {Reverts} from "./Reverts.sol";
import {Transfers} from "./Transfers.sol";

interface IBorrower {
    function onFlash(address asset, uint256 amount, bytes calldata data) external;
}

/// Generic protocol with positions: lending, staking, perpetuals, yield, bridges.
/// A market is a name that the owner opened; the zero address is the native coin. All markets share one pool of liquidity.
contract Venue is Once, Owned, Guarded {
    error UnknownMarket(bytes32 market);
    error PositionTooSmall(uint256 held, uint256 needed);
    error CollateralRatioTooLow(uint256 ratioBps, uint256 minimumBps);
    error InsufficientLiquidity(address asset, uint256 available, uint256 needed);
    error PriceMissing(address asset);
    error BorrowingDisabled(bytes32 market);
    error NothingToClaim();
    error NothingMoved();
    error InvalidRecipient(address to);
    error TooLittleReceived(uint256 received, uint256 minimum);
    error AlreadyReleased(uint256 srcChain, uint256 nonce);

    event MarketSet(bytes32 indexed market, bool open, uint256 minRatioBps);
    event PriceSet(address indexed asset, uint256 priceUsd8, uint8 decimals);
    event Entered(address indexed account, bytes32 indexed market, address indexed asset, uint256 amount, bytes data);
    event Exited(address indexed account, bytes32 indexed market, address indexed asset, uint256 amount, address to);
    event Borrowed(address indexed account, bytes32 indexed market, address indexed asset, uint256 amount, address to);
    event Repaid(address indexed account, bytes32 indexed market, address indexed asset, uint256 amount);
    event Claimed(address indexed account, bytes32 indexed market, address indexed asset, uint256 amount, address to);
    event Converted(
        address indexed account, bytes32 indexed market, address assetIn, uint256 amountIn, address assetOut, uint256 amountOut, address to
    );
    event Bridged(address indexed account, address indexed asset, uint256 amount, uint256 indexed dstChain, address to, uint256 nonce);
    event Released(address indexed to, address indexed asset, uint256 amount, uint256 indexed srcChain, uint256 nonce);
    event Rewarded(address indexed account, bytes32 indexed market, address indexed asset, uint256 amount);
    event Settled(address indexed account, bytes32 indexed market, address indexed asset, int256 change);
    event Funded(address indexed asset, uint256 amount);
    event Configured(address indexed account, bytes32 indexed market, bytes32 indexed key, bytes value);
    event Flashed(address indexed account, address indexed asset, uint256 amount);

    struct Market {
        bool open;
        uint32 minRatioBps; // collateral / debt that a borrower must keep; 0: no borrowing
    }

    struct Price {
        uint128 usd8;
        uint8 decimals;
    }

    struct Position {
        uint256 supplied;
        uint256 borrowed;
        uint256 claimable;
        bool known;
    }

    struct Holding {
        bytes32 market;
        address asset;
        uint256 supplied;
        uint256 borrowed;
    }

    mapping(bytes32 => Market) public markets;
    mapping(address => Price) public prices;
    mapping(uint256 => mapping(uint256 => bool)) public released;
    uint256 public bridgeNonce;
    mapping(address => mapping(bytes32 => mapping(address => Position))) private _positions;
    mapping(address => Holding[]) private _keys; // market and asset of every position an account ever had
    mapping(address => mapping(bytes32 => mapping(bytes32 => bytes32))) public settings; // account, market, key: hash of the value

    function init(address owner_) external once {
        _setOwner(owner_);
    }

    receive() external payable {
        emit Funded(Transfers.NATIVE, msg.value);
    }

    modifier known(bytes32 market) {
        if (!markets[market].open) revert UnknownMarket(market);
        _;
    }

    // --- the owner

    function setMarket(bytes32 market, bool open, uint32 minRatioBps) external onlyOwner {
        markets[market] = Market(open, minRatioBps);
        emit MarketSet(market, open, minRatioBps);
    }

    function setPrice(address asset, uint128 priceUsd8, uint8 decimals) external onlyOwner {
        prices[asset] = Price(priceUsd8, decimals);
        emit PriceSet(asset, priceUsd8, decimals);
    }

    /// Adds liquidity.
    function fund(address asset, uint256 amount) external payable guarded {
        emit Funded(asset, Transfers.take(asset, amount));
    }

    /// Funds a reward that one account may claim.
    function fundReward(address account, bytes32 market, address asset, uint256 amount) external payable onlyOwner guarded known(market) {
        uint256 arrived = Transfers.take(asset, amount);
        _position(account, market, asset).claimable += arrived;
        emit Rewarded(account, market, asset, arrived);
    }

    /// Applies profit, loss, interest or slashing to one position, in units of its asset.
    function settle(address account, bytes32 market, address asset, int256 change) external onlyOwner known(market) {
        Position storage position = _position(account, market, asset);
        if (change >= 0) {
            position.supplied += uint256(change);
        } else {
            uint256 loss = uint256(-change);
            if (loss > position.supplied) revert PositionTooSmall(position.supplied, loss);
            position.supplied -= loss;
        }
        emit Settled(account, market, asset, change);
    }

    function bridgeIn(address asset, uint256 amount, uint256 srcChain, uint256 nonce, address to) external onlyOwner guarded {
        if (released[srcChain][nonce]) revert AlreadyReleased(srcChain, nonce);
        released[srcChain][nonce] = true;
        _pay(asset, amount, to);
        emit Released(to, asset, amount, srcChain, nonce);
    }

    // --- any account

    function enter(bytes32 market, address asset, uint256 amount, bytes calldata data) external payable guarded known(market) {
        uint256 arrived = Transfers.take(asset, amount);
        if (arrived == 0) revert NothingMoved();
        _position(msg.sender, market, asset).supplied += arrived;
        emit Entered(msg.sender, market, asset, arrived, data);
    }

    /// Exits a position; the amount `type(uint256).max` means all of it.
    function exit(bytes32 market, address asset, uint256 amount, address to) external guarded known(market) returns (uint256) {
        Position storage position = _position(msg.sender, market, asset);
        if (amount == type(uint256).max) amount = position.supplied;
        if (amount == 0) revert NothingMoved();
        if (amount > position.supplied) revert PositionTooSmall(position.supplied, amount);
        position.supplied -= amount;
        _covered(msg.sender, market);
        _pay(asset, amount, to);
        emit Exited(msg.sender, market, asset, amount, to);
        return amount;
    }

    function borrow(bytes32 market, address asset, uint256 amount, address to) external guarded known(market) {
        if (markets[market].minRatioBps == 0) revert BorrowingDisabled(market);
        if (prices[asset].usd8 == 0) revert PriceMissing(asset);
        if (amount == 0) revert NothingMoved();
        _position(msg.sender, market, asset).borrowed += amount;
        _covered(msg.sender, market);
        _pay(asset, amount, to);
        emit Borrowed(msg.sender, market, asset, amount, to);
    }

    /// Repays at most the debt, so `type(uint256).max` repays all of it.
    function repay(bytes32 market, address asset, uint256 amount) external payable guarded known(market) returns (uint256) {
        Position storage position = _position(msg.sender, market, asset);
        if (amount > position.borrowed) amount = position.borrowed;
        uint256 arrived = Transfers.take(asset, amount);
        if (arrived == 0) revert NothingMoved();
        position.borrowed -= arrived;
        emit Repaid(msg.sender, market, asset, arrived);
        return arrived;
    }

    function claim(bytes32 market, address asset, address to) external guarded known(market) returns (uint256 amount) {
        Position storage position = _position(msg.sender, market, asset);
        amount = position.claimable;
        if (amount == 0) revert NothingToClaim();
        position.claimable = 0;
        _pay(asset, amount, to);
        emit Claimed(msg.sender, market, asset, amount, to);
    }

    /// Exchanges one asset for another at the owner's prices, such as a token for its staked form.
    function convert(bytes32 market, address assetIn, uint256 amountIn, address assetOut, uint256 minOut, address to)
        external
        payable
        guarded
        known(market)
        returns (uint256 amountOut)
    {
        (Price memory from, Price memory into) = (prices[assetIn], prices[assetOut]);
        if (from.usd8 == 0) revert PriceMissing(assetIn);
        if (into.usd8 == 0) revert PriceMissing(assetOut);
        uint256 arrived = Transfers.take(assetIn, amountIn);
        amountOut = arrived * from.usd8 * 10 ** into.decimals / (uint256(into.usd8) * 10 ** from.decimals);
        if (amountOut == 0) revert NothingMoved();
        if (amountOut < minOut) revert TooLittleReceived(amountOut, minOut);
        _pay(assetOut, amountOut, to);
        emit Converted(msg.sender, market, assetIn, arrived, assetOut, amountOut, to);
    }

    /// Locks the asset here; a relayer that watches the event pays out on the other chain.
    function bridgeOut(address asset, uint256 amount, uint256 dstChain, address to) external payable guarded returns (uint256 nonce) {
        if (to == address(0)) revert InvalidRecipient(to);
        uint256 arrived = Transfers.take(asset, amount);
        if (arrived == 0) revert NothingMoved();
        nonce = ++bridgeNonce;
        emit Bridged(msg.sender, asset, arrived, dstChain, to, nonce);
    }

    /// Stores a setting of the account in a market: leverage, a trigger, a delegate. Nothing moves; readers take the value from the event.
    function configure(bytes32 market, bytes32 key, bytes calldata value) external known(market) {
        settings[msg.sender][market][key] = keccak256(value);
        emit Configured(msg.sender, market, key, value);
    }

    /// Flash loan: the asset is sent, then returned by the caller's hook or else taken by its allowance.
    function flash(bytes32 market, address asset, uint256 amount, bytes calldata data) external guarded known(market) {
        if (amount == 0) revert NothingMoved();
        uint256 had = Transfers.balance(asset, address(this));
        _pay(asset, amount, msg.sender);
        (bool ok, bytes memory answer) = msg.sender.call(abi.encodeCall(IBorrower.onFlash, (asset, amount, data)));
        // A failure without data means that the account has no hook, such as a cage: the loan is pulled back by allowance.
        if (!ok && answer.length > 0) Reverts.bubble(answer);
        uint256 left = Transfers.balance(asset, address(this));
        if (left < had) Transfers.pull(asset, msg.sender, address(this), had - left);
        left = Transfers.balance(asset, address(this));
        if (left < had) revert InsufficientLiquidity(asset, left, had);
        emit Flashed(msg.sender, asset, amount);
    }

    // --- views

    function supplied(address account, bytes32 market, address asset) external view returns (uint256) {
        return _positions[account][market][asset].supplied;
    }

    function borrowed(address account, bytes32 market, address asset) external view returns (uint256) {
        return _positions[account][market][asset].borrowed;
    }

    function claimable(address account, bytes32 market, address asset) external view returns (uint256) {
        return _positions[account][market][asset].claimable;
    }

    function holdings(address account) external view returns (Holding[] memory held) {
        held = _keys[account];
        mapping(bytes32 => mapping(address => Position)) storage positions = _positions[account];
        for (uint256 i = 0; i < held.length; i++) {
            Holding memory holding = held[i];
            Position storage position = positions[holding.market][holding.asset];
            (holding.supplied, holding.borrowed) = (position.supplied, position.borrowed);
        }
    }

    /// Collateral and debt of an account in a market, in USD with 8 decimals; assets without a price count as zero.
    function accountValue(address account, bytes32 market) public view returns (uint256 collateralUsd8, uint256 debtUsd8) {
        Holding[] storage keys = _keys[account];
        for (uint256 i = 0; i < keys.length; i++) {
            if (keys[i].market != market) continue;
            Position storage position = _positions[account][market][keys[i].asset];
            Price memory price = prices[keys[i].asset];
            uint256 unit = 10 ** price.decimals;
            collateralUsd8 += position.supplied * price.usd8 / unit;
            debtUsd8 += (position.borrowed * price.usd8 + unit - 1) / unit;
        }
    }

    /// Collateral over debt in bps; `type(uint256).max` without debt.
    function collateralRatio(address account, bytes32 market) public view returns (uint256) {
        (uint256 collateral, uint256 debt) = accountValue(account, market);
        return debt == 0 ? type(uint256).max : collateral * 10_000 / debt;
    }

    /// Collateral ratio relative to the market's minimum; below 1e18 it is under the minimum.
    function healthFactor(address account, bytes32 market) external view returns (uint256) {
        (uint256 collateral, uint256 debt) = accountValue(account, market);
        uint256 minimum = markets[market].minRatioBps;
        return debt == 0 || minimum == 0 ? type(uint256).max : collateral * 10_000 * 1e18 / (debt * minimum);
    }

    // Lists a position at its first use, so that `holdings` is complete.
    function _position(address account, bytes32 market, address asset) private returns (Position storage position) {
        position = _positions[account][market][asset];
        if (!position.known) {
            position.known = true;
            _keys[account].push(Holding(market, asset, 0, 0));
        }
    }

    function _covered(address account, bytes32 market) private view {
        uint256 ratio = collateralRatio(account, market);
        uint256 minimum = markets[market].minRatioBps;
        if (ratio < minimum) revert CollateralRatioTooLow(ratio, minimum);
    }

    function _pay(address asset, uint256 amount, address to) private {
        if (to == address(0)) revert InvalidRecipient(to);
        uint256 available = Transfers.balance(asset, address(this));
        if (available < amount) revert InsufficientLiquidity(asset, available, amount);
        Transfers.send(asset, to, amount);
    }
}
