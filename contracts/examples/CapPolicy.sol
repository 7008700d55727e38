// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// Example of an own policy contract: the operator may call anything, but may transfer at most `cap` units of a token in one call.
contract CapPolicy {
    error NotOperator(address caller);
    error OverCap(uint256 amount, uint256 cap);

    event Passed(address indexed target, uint256 value);

    struct Call {
        address target;
        uint256 value;
        bytes data;
    }

    address public immutable operator;
    uint256 public cap;

    constructor(address operator_, uint256 cap_) {
        operator = operator_;
        cap = cap_;
    }

    receive() external payable {}

    function execute(address target, uint256 value, bytes calldata data) external returns (bytes memory) {
        if (msg.sender != operator) revert NotOperator(msg.sender);
        return _perform(target, value, data);
    }

    function executeBatch(Call[] calldata calls) external {
        if (msg.sender != operator) revert NotOperator(msg.sender);
        for (uint256 i = 0; i < calls.length; i++) _perform(calls[i].target, calls[i].value, calls[i].data);
    }

    function _perform(address target, uint256 value, bytes calldata data) private returns (bytes memory answer) {
        if (data.length == 68 && bytes4(data) == bytes4(keccak256("transfer(address,uint256)"))) {
            uint256 amount = uint256(bytes32(data[36:68]));
            if (amount > cap) revert OverCap(amount, cap);
        }
        bool ok;
        (ok, answer) = target.call{value: value}(data);
        require(ok, "call failed");
        emit Passed(target, value);
    }
}
