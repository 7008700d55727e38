// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

interface IERC20 {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
    function totalSupply() external view returns (uint256);
    function decimals() external view returns (uint8);
}

/// Moving value without believing the token: a reverting token keeps its reason, a false or missing answer becomes an error of ours.
/// The zero address stands for the native coin.
library Transfers {
    error TransferFailed(address token);
    error EtherTransferFailed(address to);
    error WrongValue(uint256 sent, uint256 needed);

    address internal constant NATIVE = address(0);

    function send(address token, address to, uint256 amount) internal {
        if (token == NATIVE) {
            sendNative(to, amount);
        } else {
            _call(token, abi.encodeCall(IERC20.transfer, (to, amount)));
        }
    }

    function pull(address token, address from, address to, uint256 amount) internal {
        _call(token, abi.encodeCall(IERC20.transferFrom, (from, to, amount)));
    }

    /// Takes `amount` from the caller into this contract and says how much arrived; the native coin must have come with the call.
    function take(address token, uint256 amount) internal returns (uint256 arrived) {
        if (token == NATIVE) {
            if (msg.value != amount) revert WrongValue(msg.value, amount);
            return amount;
        }
        if (msg.value != 0) revert WrongValue(msg.value, 0);
        uint256 before = IERC20(token).balanceOf(address(this));
        pull(token, msg.sender, address(this), amount);
        return IERC20(token).balanceOf(address(this)) - before;
    }

    function sendNative(address to, uint256 amount) internal {
        (bool ok,) = to.call{value: amount}("");
        if (!ok) revert EtherTransferFailed(to);
    }

    function balance(address token, address account) internal view returns (uint256) {
        return token == NATIVE ? account.balance : _balanceOf(token, account);
    }

    // By hand, because a cage asks it a dozen times in each transaction: a third of the instructions of the compiler's call.
    function _balanceOf(address token, address account) private view returns (uint256 amount) {
        bytes4 selector = IERC20.balanceOf.selector;
        assembly ("memory-safe") {
            mstore(0, selector)
            mstore(4, account)
            let ok := staticcall(gas(), token, 0, 36, 0, 32)
            if iszero(and(ok, gt(returndatasize(), 31))) {
                let free := mload(64)
                if ok { revert(free, 0) }
                returndatacopy(free, 0, returndatasize())
                revert(free, returndatasize())
            }
            amount := mload(0)
        }
    }

    function _call(address token, bytes memory data) private {
        if (token.code.length == 0) revert TransferFailed(token);
        (bool ok, bytes memory answer) = token.call(data);
        if (!ok) {
            assembly ("memory-safe") { revert(add(answer, 32), mload(answer)) }
        }
        // Old tokens answer nothing; everything else must answer exactly true.
        if (answer.length != 0 && (answer.length < 32 || abi.decode(answer, (uint256)) != 1)) revert TransferFailed(token);
    }
}
