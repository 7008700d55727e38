//! A small world of our contracts: two tokens, a pair, a vault, a venue, Permit2, and a cage that holds the money.

use crate::chain::recorder::Recorder;
use alloy_primitives::{Address, B256, U256, address};
use alloy_sol_types::sol;
use bardo_eval_world::chain::contracts::contract;
use bardo_eval_world::chain::{Signer, Status, Tx};

sol! {
    interface Token {
        function init(string name_, string symbol_, uint8 decimals_, address owner_) external;
        function mint(address to, uint256 value) external;
        function approve(address spender, uint256 value) external returns (bool);
        function transfer(address to, uint256 value) external returns (bool);
        function transferFrom(address from, address to, uint256 value) external returns (bool);
        function balanceOf(address) external view returns (uint256);
        function nonces(address) external view returns (uint256);
        function DOMAIN_SEPARATOR() external view returns (bytes32);
        function permit(address owner_, address spender, uint256 value, uint256 deadline, bytes signature) external;
    }
    interface Weth {
        function init(string name_, string symbol_) external;
        function deposit() external payable;
        function withdraw(uint256 value) external;
    }
    interface AmmFactory {
        function init() external;
        function createPair(address tokenA, address tokenB) external returns (address pair);
    }
    interface AmmRouter {
        function init(address factory_, address weth_) external;
        function addLiquidity(address tokenA, address tokenB, uint256 desiredA, uint256 desiredB, uint256 minA, uint256 minB, address to, uint256 deadline) external payable returns (uint256 amountA, uint256 amountB, uint256 shares);
        function swapExactIn(uint256 amountIn, uint256 minOut, address[] path, address to, uint256 deadline) external payable returns (uint256 amountOut);
    }
    interface Vault {
        function init(address asset_, string name_, string symbol_, address owner_) external;
        function deposit(uint256 assets, address receiver) external returns (uint256 shares);
        function redeem(uint256 shares, address receiver, address owner_) external returns (uint256 assets);
        function balanceOf(address) external view returns (uint256);
    }
    interface Venue {
        function init(address owner_) external;
        function setMarket(bytes32 market, bool open, uint32 minRatioBps) external;
        function setPrice(address asset, uint128 priceUsd8, uint8 decimals) external;
        function enter(bytes32 market, address asset, uint256 amount, bytes data) external payable;
        function exit(bytes32 market, address asset, uint256 amount, address to) external returns (uint256);
    }
    struct TokenPermissions { address token; uint256 amount; }
    struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }
    struct SignatureTransferDetails { address to; uint256 requestedAmount; }
    struct PermitDetails { address token; uint160 amount; uint48 expiration; uint48 nonce; }
    struct PermitSingle { PermitDetails details; address spender; uint256 sigDeadline; }
    interface Permit2 {
        function DOMAIN_SEPARATOR() external view returns (bytes32);
        function permit(address owner, PermitSingle single, bytes signature) external;
        function permitTransferFrom(PermitTransferFrom permitted, SignatureTransferDetails details, address owner, bytes signature) external;
        function transferFrom(address from, address to, uint160 amount, address token) external;
    }
    interface PolicyCage {
        error SpendingLimitExceeded(uint8 scope, uint256 spent, uint256 limit);
        error AssetNotApproved(address asset);
        function init(address owner_, address operator_) external;
        function setAsset(address asset, uint8 kind, uint8 decimals, bool base, uint128 priceUsd8) external;
        function setProtocol(address protocol, uint8 kind) external;
        function execute(address target, uint256 value, bytes data) external returns (bytes answer);
    }
}

pub(crate) const OWNER: Address = Address::repeat_byte(0x01);
pub(crate) const TRADER: Address = Address::repeat_byte(0x02);
pub(crate) const STRANGER: Address = Address::repeat_byte(0x03);
pub(crate) const USDC: Address = Address::repeat_byte(0xa1);
pub(crate) const DAI: Address = Address::repeat_byte(0xa2);
pub(crate) const WETH: Address = Address::repeat_byte(0xa3);
pub(crate) const FACTORY: Address = Address::repeat_byte(0xb1);
pub(crate) const ROUTER: Address = Address::repeat_byte(0xb2);
pub(crate) const VAULT: Address = Address::repeat_byte(0xb3);
pub(crate) const VENUE: Address = Address::repeat_byte(0xb4);
pub(crate) const PERMIT2: Address = address!("000000000022D473030F116dDEE9F6B43aC78BA3");
pub(crate) const CAGE: Address = Address::repeat_byte(0xc1);
pub(crate) const MARKET: B256 = B256::repeat_byte(0x77);
pub(crate) const NEVER: U256 = U256::MAX;

pub(crate) fn operator() -> Address {
    Signer::development().address()
}

pub(crate) fn usdc(whole: u64) -> U256 {
    U256::from(whole) * U256::from(1_000_000)
}

pub(crate) fn ether(whole: u64) -> U256 {
    U256::from(whole) * U256::from(10).pow(U256::from(18))
}

pub(crate) async fn set_up(r: &mut Recorder<'_>) {
    for who in [OWNER, TRADER, operator()] {
        r.fund(who, ether(1000)).await;
    }
    deploy(r).await;
    trade(r).await;
    cage(r).await;
}

async fn deploy(r: &mut Recorder<'_>) {
    let places = [
        ("Token", USDC),
        ("Token", DAI),
        ("Weth", WETH),
        ("AmmFactory", FACTORY),
        ("AmmRouter", ROUTER),
        ("Vault", VAULT),
        ("Venue", VENUE),
        ("Permit2", PERMIT2),
        ("PolicyCage", CAGE),
    ];
    for (name, at) in places {
        r.etch(at, contract(name).runtime.clone()).await;
    }
    let token = |name: &str, decimals| Token::initCall { name_: name.into(), symbol_: name.into(), decimals_: decimals, owner_: OWNER };
    r.does("init USDC", OWNER, USDC, token("USDC", 6)).await;
    r.does("init DAI", OWNER, DAI, token("DAI", 18)).await;
    r.does("init WETH", OWNER, WETH, Weth::initCall { name_: "Wrapped".into(), symbol_: "WETH".into() }).await;
    r.does("init factory", OWNER, FACTORY, AmmFactory::initCall {}).await;
    r.does("init router", OWNER, ROUTER, AmmRouter::initCall { factory_: FACTORY, weth_: WETH }).await;
    let vault = Vault::initCall { asset_: USDC, name_: "Vault".into(), symbol_: "vUSDC".into(), owner_: OWNER };
    r.does("init vault", OWNER, VAULT, vault).await;
    r.does("init venue", OWNER, VENUE, Venue::initCall { owner_: OWNER }).await;
    r.does("init cage", OWNER, CAGE, PolicyCage::initCall { owner_: OWNER, operator_: operator() }).await;
    r.reverts("init cage twice", OWNER, CAGE, PolicyCage::initCall { owner_: TRADER, operator_: TRADER }).await;
}

async fn trade(r: &mut Recorder<'_>) {
    r.does("mint to the owner", OWNER, USDC, Token::mintCall { to: OWNER, value: usdc(2_000_000) }).await;
    r.does("mint to the operator", OWNER, USDC, Token::mintCall { to: operator(), value: usdc(50_000) }).await;
    r.does("mint to the cage", OWNER, USDC, Token::mintCall { to: CAGE, value: usdc(100_000) }).await;
    r.does("a pair by CREATE2", OWNER, FACTORY, AmmFactory::createPairCall { tokenA: USDC, tokenB: WETH }).await;
    r.does("approve the router", OWNER, USDC, Token::approveCall { spender: ROUTER, value: U256::MAX }).await;
    let deposit = Tx { value: ether(300), ..Tx::call(OWNER, WETH, alloy_sol_types::SolCall::abi_encode(&Weth::depositCall {})) };
    r.send("wrap", deposit, Status::Success).await;
    r.does("approve the router again", OWNER, WETH, Token::approveCall { spender: ROUTER, value: U256::MAX }).await;
    let add = AmmRouter::addLiquidityCall {
        tokenA: USDC,
        tokenB: WETH,
        desiredA: usdc(900_000),
        desiredB: ether(300),
        minA: U256::ZERO,
        minB: U256::ZERO,
        to: OWNER,
        deadline: NEVER,
    };
    r.does("add liquidity", OWNER, ROUTER, add).await;
    r.does("open a market", OWNER, VENUE, Venue::setMarketCall { market: MARKET, open: true, minRatioBps: 12_500 }).await;
    r.does("price", OWNER, VENUE, Venue::setPriceCall { asset: USDC, priceUsd8: 100_000_000, decimals: 6 }).await;
}

async fn cage(r: &mut Recorder<'_>) {
    for (asset, kind, decimals, base, usd) in [(USDC, 1, 6, true, 1), (WETH, 1, 18, false, 3000), (VAULT, 2, 9, false, 0)] {
        let call = PolicyCage::setAssetCall { asset, kind, decimals, base, priceUsd8: usd * 100_000_000 };
        r.does("approve an asset", OWNER, CAGE, call).await;
    }
    for (protocol, kind) in [(ROUTER, 2), (VAULT, 3), (VENUE, 4), (PERMIT2, 5), (WETH, 6)] {
        r.does("approve a protocol", OWNER, CAGE, PolicyCage::setProtocolCall { protocol, kind }).await;
    }
}
