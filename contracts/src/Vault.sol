// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Erc20} from "./Erc20.sol";
import {Guarded} from "./Guarded.sol";
import {Owned} from "./Owned.sol";
import {IERC20, Transfers} from "./Transfers.sol";

/// ERC-4626. Conversions add a thousand virtual shares and one virtual asset, so that an inflation attack (a donation that makes the
/// next depositor's shares round to zero) costs the attacker far more than it gains.
contract Vault is Erc20, Owned, Guarded {
    error Paused();
    error ExceedsMax(address account, uint256 amount, uint256 maximum);
    error NothingMoved();
    error Shortfall(uint256 arrived, uint256 expected);

    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares);
    event PauseSet(bool paused);
    event DepositCapSet(uint256 cap);
    event YieldAdded(uint256 assets);
    event LossTaken(uint256 assets, address to);

    uint8 private constant OFFSET = 3;
    uint256 private constant VIRTUAL_SHARES = 10 ** OFFSET;

    address public asset;
    bool public paused;
    uint256 public depositCap;

    function init(address asset_, string calldata name_, string calldata symbol_, address owner_) external once {
        _describe(name_, symbol_, IERC20(asset_).decimals() + OFFSET);
        _setOwner(owner_);
        asset = asset_;
        depositCap = type(uint128).max;
    }

    // --- the owner

    function setPaused(bool paused_) external onlyOwner {
        paused = paused_;
        emit PauseSet(paused_);
    }

    function setDepositCap(uint256 cap) external onlyOwner {
        depositCap = cap;
        emit DepositCapSet(cap);
    }

    /// Adds profit for all shareholders.
    function addYield(uint256 assets) external onlyOwner guarded {
        _take(assets);
        emit YieldAdded(assets);
    }

    /// Takes a loss from all shareholders.
    function takeLoss(uint256 assets, address to) external onlyOwner guarded {
        Transfers.send(asset, to, assets);
        emit LossTaken(assets, to);
    }

    // --- in and out

    function deposit(uint256 assets, address receiver) external guarded returns (uint256 shares) {
        _within(receiver, assets, maxDeposit(receiver));
        shares = previewDeposit(assets);
        _enter(assets, shares, receiver);
    }

    function mint(uint256 shares, address receiver) external guarded returns (uint256 assets) {
        _within(receiver, shares, maxMint(receiver));
        assets = previewMint(shares);
        _enter(assets, shares, receiver);
    }

    function withdraw(uint256 assets, address receiver, address owner_) external guarded returns (uint256 shares) {
        _within(owner_, assets, maxWithdraw(owner_));
        shares = previewWithdraw(assets);
        _leave(assets, shares, receiver, owner_);
    }

    function redeem(uint256 shares, address receiver, address owner_) external guarded returns (uint256 assets) {
        _within(owner_, shares, maxRedeem(owner_));
        assets = previewRedeem(shares);
        _leave(assets, shares, receiver, owner_);
    }

    // --- views; rounding is always in favour of the remaining shareholders

    function totalAssets() public view returns (uint256) {
        return IERC20(asset).balanceOf(address(this));
    }

    function convertToShares(uint256 assets) public view returns (uint256) {
        return assets * (totalSupply + VIRTUAL_SHARES) / (totalAssets() + 1);
    }

    function convertToAssets(uint256 shares) public view returns (uint256) {
        return shares * (totalAssets() + 1) / (totalSupply + VIRTUAL_SHARES);
    }

    function previewDeposit(uint256 assets) public view returns (uint256) {
        return convertToShares(assets);
    }

    function previewMint(uint256 shares) public view returns (uint256) {
        return _ceilDiv(shares * (totalAssets() + 1), totalSupply + VIRTUAL_SHARES);
    }

    function previewWithdraw(uint256 assets) public view returns (uint256) {
        return _ceilDiv(assets * (totalSupply + VIRTUAL_SHARES), totalAssets() + 1);
    }

    function previewRedeem(uint256 shares) public view returns (uint256) {
        return convertToAssets(shares);
    }

    function maxDeposit(address) public view returns (uint256) {
        uint256 held = totalAssets();
        return paused || held >= depositCap ? 0 : depositCap - held;
    }

    function maxMint(address receiver) public view returns (uint256) {
        return convertToShares(maxDeposit(receiver));
    }

    function maxWithdraw(address owner_) public view returns (uint256) {
        return paused ? 0 : convertToAssets(balanceOf[owner_]);
    }

    function maxRedeem(address owner_) public view returns (uint256) {
        return paused ? 0 : balanceOf[owner_];
    }

    function _within(address account, uint256 amount, uint256 maximum) private view {
        if (paused) revert Paused();
        if (amount > maximum) revert ExceedsMax(account, amount, maximum);
    }

    function _enter(uint256 assets, uint256 shares, address receiver) private {
        if (assets == 0 || shares == 0) revert NothingMoved();
        if (receiver == address(0)) revert InvalidRecipient(receiver);
        _take(assets);
        _mint(receiver, shares);
        emit Deposit(msg.sender, receiver, assets, shares);
    }

    function _leave(uint256 assets, uint256 shares, address receiver, address owner_) private {
        if (assets == 0 || shares == 0) revert NothingMoved();
        if (msg.sender != owner_) _spend(owner_, msg.sender, shares);
        _burn(owner_, shares);
        Transfers.send(asset, receiver, assets);
        emit Withdraw(msg.sender, receiver, owner_, assets, shares);
    }

    // Fewer assets than expected, from a token with a fee or false answers, would dilute the other shareholders.
    function _take(uint256 assets) private {
        uint256 before = totalAssets();
        Transfers.pull(asset, msg.sender, address(this), assets);
        uint256 arrived = totalAssets() - before;
        if (arrived < assets) revert Shortfall(arrived, assets);
    }

    function _ceilDiv(uint256 a, uint256 b) private pure returns (uint256) {
        return a == 0 ? 0 : (a - 1) / b + 1;
    }
}
