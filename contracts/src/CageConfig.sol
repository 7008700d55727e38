// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Guarded} from "./Guarded.sol";
import {Once} from "./Once.sol";

interface ICounted {
    function counter() external view returns (address);
}

interface ISanctions {
    function isSanctioned(address account) external view returns (bool);
}

/// What the owner of a cage has set, and its fingerprint. The operator can change none of it.
abstract contract CageConfig is Once, Guarded {
    error NotOwner(address caller);
    error NotGuardian(address caller);
    error LimitOutOfRange();
    error TooManyAssets(uint256 max);
    error AssetNotApproved(address asset);
    error ProtocolNotApproved(address protocol);
    error SanctionedAddress(address account);
    error SanctionsOracleUnavailable();
    error AlreadyCounting(address counter);

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
    event CounterSet(address counter);
    event EmergencyHalt(address indexed by);
    event Resumed(address indexed by);

    enum AssetKind {
        None,
        Plain, // worth its pinned price; the zero address is the native coin
        VaultShare, // worth what the vault would pay, at the pinned price of its asset
        PairShare // worth its part of the pair, at the pinned prices of both tokens

    }

    enum ProtocolKind {
        None,
        Generic, // only selectors that are whitelisted, or anything if arbitrary calldata is allowed
        Router,
        Vault,
        Venue,
        Permit2,
        Wrapper

    }

    struct Asset {
        AssetKind kind;
        uint8 decimals;
        bool base; // cash: no limit on its share of the account
        uint128 priceUsd8;
    }

    /// All in force as they stand: 0 USD allows nothing, 10,000 bps never binds. Only the two rebalance limits are off at 0.
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
    // All that a measurement needs of an asset in one word: address, kind, decimals, whether it is cash, price.
    uint256[] internal _rows;
    // How often the owner has set an asset or a venue, or a venue was first visited: what was valued before is not valued by today's scales.
    uint256 internal _scales;
    uint256[] internal _venues; // those the account has been to; in the others it has nothing
    mapping(address => bool) private _visited; // kept when the approval goes: what it owes there comes back with it
    Limits internal _limits;
    // Where venues count what they do to the account, and whether one of those visited does not count there: then each is asked by itself.
    address public counter;
    bool internal _apart;
    // Sum of the hashes of all entries of the mappings above: independent of the order in which they were set.
    uint256 private _fingerprints;

    // Also closed while the cage is acting: a measurement must not change its scales half-way.
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

    /// Kind `None` withdraws the approval.
    function setAsset(address asset, AssetKind kind, uint8 decimals, bool base, uint128 priceUsd8) external onlyOwner {
        if (decimals > 36 || priceUsd8 > type(uint64).max) revert LimitOutOfRange();
        AssetKind was = assetInfo[asset].kind;
        _forget(was != AssetKind.None, "asset", asset, abi.encode(assetInfo[asset]));
        assetInfo[asset] = Asset(kind, decimals, base, priceUsd8);
        _remember(kind != AssetKind.None, "asset", asset, abi.encode(assetInfo[asset]));
        _scales++;
        uint256 row = uint256(uint160(asset)) | uint256(kind) << 160 | uint256(decimals) << 168 | uint256(priceUsd8) << 184;
        _list(_rows, base ? row | 1 << 176 : row, was != AssetKind.None, kind != AssetKind.None);
        if (kind == AssetKind.None) delete assetInfo[asset];
        else if (_rows.length > _limits.maxAssets) revert TooManyAssets(_limits.maxAssets);
        emit AssetSet(asset, kind, decimals, base, priceUsd8);
    }

    /// Kind `None` withdraws the approval.
    function setProtocol(address protocol, ProtocolKind kind) external onlyOwner {
        ProtocolKind was = protocolKind[protocol];
        _forget(was != ProtocolKind.None, "protocol", protocol, abi.encode(was));
        protocolKind[protocol] = kind;
        _remember(kind != ProtocolKind.None, "protocol", protocol, abi.encode(kind));
        if (_visited[protocol]) {
            _list(_venues, uint160(protocol), was == ProtocolKind.Venue, kind == ProtocolKind.Venue);
            _scales++;
        }
        emit ProtocolSet(protocol, kind);
    }

    function setLimits(Limits calldata limits_) external onlyOwner {
        _setLimits(limits_);
    }

    function setSelector(bytes4 selector, bool allowed) external onlyOwner {
        _forget(selectorAllowed[selector], "selector", address(bytes20(selector)), "");
        selectorAllowed[selector] = allowed;
        _remember(allowed, "selector", address(bytes20(selector)), "");
        emit SelectorSet(selector, allowed);
    }

    function setAllowArbitraryCalldata(bool allowed) external onlyOwner {
        allowArbitraryCalldata = allowed;
        emit ArbitraryCalldataSet(allowed);
    }

    function setSanctioned(address account, bool sanctioned_) external onlyOwner {
        _forget(sanctioned[account], "sanctioned", account, "");
        sanctioned[account] = sanctioned_;
        _remember(sanctioned_, "sanctioned", account, "");
        emit SanctionSet(account, sanctioned_);
    }

    function setSanctionsOracle(address oracle) external onlyOwner {
        sanctionsOracle = oracle;
        emit SanctionsOracleSet(oracle);
    }

    /// Once for all: what was kept is known by its count.
    function setCounter(address counter_) external onlyOwner {
        if (counter != address(0)) revert AlreadyCounting(counter);
        counter = counter_;
        emit CounterSet(counter_);
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
        listed = new address[](_rows.length);
        for (uint256 i = 0; i < listed.length; i++) listed[i] = address(uint160(_rows[i]));
    }

    function isApprovedAsset(address asset) public view returns (bool) {
        return assetInfo[asset].kind != AssetKind.None;
    }

    function isApprovedProtocol(address protocol) public view returns (bool) {
        return protocolKind[protocol] != ProtocolKind.None;
    }

    /// Whether the cage may deal with this address; fails if the list outside cannot be asked.
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

    /// One number for everything the owner has set; halting and sessions are not part of it.
    function policyHash() external view returns (bytes32) {
        return keccak256(abi.encode(owner, operator, guardian, allowArbitraryCalldata, sanctionsOracle, counter, _limits, _fingerprints));
    }

    function _needAsset(address asset) internal view {
        if (!isApprovedAsset(asset)) revert AssetNotApproved(asset);
    }

    function _needProtocol(address protocol) internal view {
        if (!isApprovedProtocol(protocol)) revert ProtocolNotApproved(protocol);
    }

    function _needClean(address account) internal view {
        if (!checkSanctions(account)) revert SanctionedAddress(account);
    }

    function _setLimits(Limits memory l) private {
        bool fits = l.maxPositionBps <= 10_000 && l.maxConcentrationBps <= 10_000 && l.maxSlippageBps <= 10_000;
        if (!fits || l.maxDrawdownBps > 10_000) revert LimitOutOfRange();
        _limits = l;
        emit LimitsSet(l);
    }

    function _remember(bool present, string memory what, address key, bytes memory value) private {
        unchecked { if (present) _fingerprints += uint256(keccak256(abi.encode(what, key, value))); }
    }

    function _forget(bool present, string memory what, address key, bytes memory value) private {
        unchecked { if (present) _fingerprints -= uint256(keccak256(abi.encode(what, key, value))); }
    }

    // Positions arise only when the account itself enters, so a venue is looked at from the first visit on.
    function _visit(address target) internal {
        if (protocolKind[target] != ProtocolKind.Venue || _visited[target]) return;
        _visited[target] = true;
        _venues.push(uint160(target));
        _scales++;
        (bool ok, bytes memory answer) = target.staticcall(abi.encodeCall(ICounted.counter, ()));
        bool counts = ok && answer.length == 32 && counter != address(0) && abi.decode(answer, (uint256)) == uint160(counter);
        if (!counts) _apart = true;
    }

    // Items are told apart by the address in their lower part; what is listed already is replaced.
    function _list(uint256[] storage list, uint256 item, bool was, bool is_) private {
        if (!was) {
            if (is_) list.push(item);
            return;
        }
        uint256 last = list.length - 1;
        for (uint256 i = 0; i <= last; i++) {
            if (uint160(list[i]) != uint160(item)) continue;
            list[i] = is_ ? item : list[last];
            if (!is_) list.pop();
            return;
        }
    }
}
