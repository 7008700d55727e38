// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Guarded} from "./Guarded.sol";
import {Once} from "./Once.sol";

interface ISanctions {
    function isSanctioned(address account) external view returns (bool);
}

/// The policy of a cage: roles, approved assets and protocols, limits, sanctions. Only the owner changes it.
abstract contract CageConfig is Once, Guarded {
    error NotOwner(address caller);
    error NotGuardian(address caller);
    error LimitOutOfRange();
    error TooManyAssets(uint256 max);
    error AssetNotApproved(address asset);
    error ProtocolNotApproved(address protocol);
    error SanctionedAddress(address account);
    error SanctionsOracleUnavailable();

    event OwnerSet(address indexed owner);
    event OperatorSet(address indexed operator);
    event GuardianSet(address indexed guardian);
    event AssetSet(address indexed asset, AssetKind kind, uint8 decimals, bool base, uint128 priceUsd8);
    event ProtocolSet(address indexed protocol, ProtocolKind kind);
    event LimitsSet(Limits limits);
    event SelectorSet(bytes4 indexed selector, bool allowed);
    event ArbitraryCalldataSet(bool allowed);
    event SanctionSet(address indexed account, bool sanctioned);
    event SanctionsOracleSet(address oracle);
    event EmergencyHalt(address indexed by);
    event Resumed(address indexed by);

    enum AssetKind {
        None, // not approved
        Plain, // valued at its price; the zero address is the native coin
        VaultShare, // valued at what the vault would pay out, at the price of the vault's asset
        PairShare // valued at its part of the pair, at the prices of both tokens
    }

    enum ProtocolKind {
        None, // not approved
        Generic, // only whitelisted selectors, or any if arbitrary calldata is allowed
        Router,
        Vault,
        Venue,
        Permit2,
        Wrapper
    }

    struct Asset {
        AssetKind kind;
        uint8 decimals;
        bool base; // cash: its share of the account has no limit
        uint128 priceUsd8; // USD with 8 decimals for one whole unit
    }

    /// All limits bind as written: 0 USD allows nothing, 10,000 bps never binds. Only the two rebalance limits are off at 0.
    struct Limits {
        uint128 perTxUsd8;
        uint128 perSessionUsd8;
        uint128 perDayUsd8;
        uint32 maxWritesPerHour;
        uint32 maxRebalancesPerDay;
        uint32 minRebalanceInterval;
        uint32 minCollateralRatioBps;
        uint16 maxPositionBps;
        uint16 maxConcentrationBps;
        uint16 maxSlippageBps;
        uint16 maxDrawdownBps;
        uint16 maxAssets;
    }

    address public owner;
    address public operator;
    address public guardian;
    bool public halted;
    bool public allowArbitraryCalldata;
    address public sanctionsOracle;
    mapping(address => Asset) public assetInfo;
    mapping(address => ProtocolKind) public protocolKind;
    mapping(bytes4 => bool) public selectorAllowed;
    mapping(address => bool) public sanctioned;
    Limits internal _limits;

    address[] internal _assets; // the approved ones
    // Venues that the account has called. It has positions in no others, because only its own calls open one.
    // A venue stays listed when its approval is withdrawn, so that its positions count again if it is approved again.
    address[] internal _usedVenues;
    mapping(address => bool) private _isUsedVenue;
    // Sum of the hashes of all entries in the four mappings above, so that the order of changes does not matter.
    uint256 private _entriesHash;

    // Also refused during a call: the policy must not change between two measurements.
    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        if (_inside) revert Reentered();
        _;
    }

    function init(address owner_, address operator_) external once {
        owner = owner_;
        operator = operator_;
        emit OwnerSet(owner_);
        emit OperatorSet(operator_);
        _setLimits(
            Limits({
                perTxUsd8: 10_000e8,
                perSessionUsd8: 50_000e8,
                perDayUsd8: 100_000e8,
                maxWritesPerHour: 20,
                maxRebalancesPerDay: 0,
                minRebalanceInterval: 0,
                minCollateralRatioBps: 12_500,
                maxPositionBps: 2_500,
                maxConcentrationBps: 3_000,
                maxSlippageBps: 100,
                maxDrawdownBps: 1_300,
                maxAssets: 10
            })
        );
    }

    // --- setters

    function setOwner(address owner_) external onlyOwner {
        owner = owner_;
        emit OwnerSet(owner_);
    }

    function setOperator(address operator_) external onlyOwner {
        operator = operator_;
        emit OperatorSet(operator_);
    }

    function setGuardian(address guardian_) external onlyOwner {
        guardian = guardian_;
        emit GuardianSet(guardian_);
    }

    /// Approves an asset or changes its terms; kind `None` withdraws the approval.
    function setAsset(address asset, AssetKind kind, uint8 decimals, bool base, uint128 priceUsd8) external onlyOwner {
        if (decimals > 36 || priceUsd8 > type(uint64).max) revert LimitOutOfRange();
        bool wasApproved = isApprovedAsset(asset);
        if (wasApproved) _removeEntry("asset", asset, abi.encode(assetInfo[asset]));
        if (kind == AssetKind.None) {
            delete assetInfo[asset];
            if (wasApproved) _unlistAsset(asset);
        } else {
            assetInfo[asset] = Asset(kind, decimals, base, priceUsd8);
            _addEntry("asset", asset, abi.encode(assetInfo[asset]));
            if (!wasApproved) _assets.push(asset);
            if (_assets.length > _limits.maxAssets) revert TooManyAssets(_limits.maxAssets);
        }
        emit AssetSet(asset, kind, decimals, base, priceUsd8);
    }

    /// Approves a protocol or changes its kind; kind `None` withdraws the approval.
    function setProtocol(address protocol, ProtocolKind kind) external onlyOwner {
        if (isApprovedProtocol(protocol)) _removeEntry("protocol", protocol, abi.encode(protocolKind[protocol]));
        protocolKind[protocol] = kind;
        if (kind != ProtocolKind.None) _addEntry("protocol", protocol, abi.encode(kind));
        emit ProtocolSet(protocol, kind);
    }

    function setLimits(Limits calldata limits_) external onlyOwner {
        _setLimits(limits_);
    }

    /// Allows a function of `Generic` protocols.
    function setSelector(bytes4 selector, bool allowed) external onlyOwner {
        if (selectorAllowed[selector]) _removeEntry("selector", address(bytes20(selector)), "");
        selectorAllowed[selector] = allowed;
        if (allowed) _addEntry("selector", address(bytes20(selector)), "");
        emit SelectorSet(selector, allowed);
    }

    function setAllowArbitraryCalldata(bool allowed) external onlyOwner {
        allowArbitraryCalldata = allowed;
        emit ArbitraryCalldataSet(allowed);
    }

    function setSanctioned(address account, bool sanctioned_) external onlyOwner {
        if (sanctioned[account]) _removeEntry("sanctioned", account, "");
        sanctioned[account] = sanctioned_;
        if (sanctioned_) _addEntry("sanctioned", account, "");
        emit SanctionSet(account, sanctioned_);
    }

    function setSanctionsOracle(address oracle) external onlyOwner {
        sanctionsOracle = oracle;
        emit SanctionsOracleSet(oracle);
    }

    function halt() external {
        if (msg.sender != owner && msg.sender != guardian) revert NotGuardian(msg.sender);
        halted = true;
        emit EmergencyHalt(msg.sender);
    }

    function resume() external onlyOwner {
        halted = false;
        emit Resumed(msg.sender);
    }

    // --- views

    function limits() external view returns (Limits memory) {
        return _limits;
    }

    function assets() external view returns (address[] memory listed) {
        return _assets;
    }

    function isApprovedAsset(address asset) public view returns (bool) {
        return assetInfo[asset].kind != AssetKind.None;
    }

    function isApprovedProtocol(address protocol) public view returns (bool) {
        return protocolKind[protocol] != ProtocolKind.None;
    }

    /// Returns whether the account may deal with an address. Reverts if the sanctions oracle gives no valid answer.
    function checkSanctions(address account) public view returns (bool) {
        if (sanctioned[account]) return false;
        address oracle = sanctionsOracle;
        if (oracle == address(0)) return true;
        if (oracle.code.length == 0) revert SanctionsOracleUnavailable();
        (bool ok, bytes memory answer) = oracle.staticcall(abi.encodeCall(ISanctions.isSanctioned, (account)));
        if (!ok || answer.length < 32) revert SanctionsOracleUnavailable();
        uint256 listed = abi.decode(answer, (uint256));
        if (listed > 1) revert SanctionsOracleUnavailable();
        return listed == 0;
    }

    /// Fingerprint of the policy. Halting and sessions are not part of it.
    function policyHash() external view returns (bytes32) {
        return keccak256(abi.encode(owner, operator, guardian, allowArbitraryCalldata, sanctionsOracle, _limits, _entriesHash));
    }

    // --- internals

    function _requireAsset(address asset) internal view {
        if (!isApprovedAsset(asset)) revert AssetNotApproved(asset);
    }

    function _requireProtocol(address protocol) internal view {
        if (!isApprovedProtocol(protocol)) revert ProtocolNotApproved(protocol);
    }

    function _requireNotSanctioned(address account) internal view {
        if (!checkSanctions(account)) revert SanctionedAddress(account);
    }

    /// Lists a venue at its first call, so that it is valued from then on.
    function _trackVenue(address target) internal {
        if (protocolKind[target] != ProtocolKind.Venue || _isUsedVenue[target]) return;
        _isUsedVenue[target] = true;
        _usedVenues.push(target);
    }

    function _setLimits(Limits memory l) private {
        bool inRange = l.maxPositionBps <= 10_000 && l.maxConcentrationBps <= 10_000 && l.maxSlippageBps <= 10_000;
        if (!inRange || l.maxDrawdownBps > 10_000) revert LimitOutOfRange();
        _limits = l;
        emit LimitsSet(l);
    }

    function _unlistAsset(address asset) private {
        uint256 last = _assets.length - 1;
        for (uint256 i = 0; i < last; i++) {
            if (_assets[i] == asset) _assets[i] = _assets[last];
        }
        _assets.pop();
    }

    function _addEntry(string memory what, address key, bytes memory value) private {
        unchecked { _entriesHash += uint256(keccak256(abi.encode(what, key, value))); }
    }

    function _removeEntry(string memory what, address key, bytes memory value) private {
        unchecked { _entriesHash -= uint256(keccak256(abi.encode(what, key, value))); }
    }
}
