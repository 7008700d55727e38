// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Once} from "./Once.sol";

/// Agents as tokens with a URI, feedback by others, and validations by request (after ERC-8004).
/// All text is untrusted input of third parties.
contract IdentityRegistry is Once {
    error UnknownAgent(uint256 agentId);
    error NotAgentOwner(uint256 agentId, address caller);
    error InvalidRecipient(address to);
    error ScoreOutOfRange(uint256 score);
    error SelfFeedback(uint256 agentId);
    error UnknownFeedback(uint256 agentId, uint256 index);
    error RequestExists(bytes32 request);
    error UnknownRequest(bytes32 request);
    error NotValidator(bytes32 request, address caller);

    event Registered(uint256 indexed agentId, string uri, address indexed owner);
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId);
    event UriUpdated(uint256 indexed agentId, string uri);
    event MetadataSet(uint256 indexed agentId, string key, bytes value);
    event FeedbackGiven(uint256 indexed agentId, address indexed client, uint256 index, uint8 score, string tag1, string tag2, string uri);
    event FeedbackRevoked(uint256 indexed agentId, address indexed client, uint256 index);
    event ValidationRequested(address indexed validator, uint256 indexed agentId, string uri, bytes32 indexed request);
    event ValidationAnswered(
        address indexed validator, uint256 indexed agentId, bytes32 indexed request, uint8 response, string uri, string tag
    );

    struct Feedback {
        address client;
        uint8 score;
        bool revoked;
    }

    struct Validation {
        address validator;
        uint8 response;
        bool answered;
        uint64 updatedAt;
        uint256 agentId;
    }

    string public name;
    string public symbol;
    uint256 public agentCount;
    mapping(address => uint256) public balanceOf;
    mapping(uint256 => address) public getApproved;
    mapping(bytes32 => Validation) public validations;
    mapping(uint256 => address) private _ownerOf;
    mapping(uint256 => string) private _uri;
    mapping(uint256 => mapping(string => bytes)) private _metadata;
    mapping(uint256 => Feedback[]) private _feedback;

    function init(string calldata name_, string calldata symbol_) external once {
        name = name_;
        symbol = symbol_;
    }

    modifier exists(uint256 agentId) {
        if (_ownerOf[agentId] == address(0)) revert UnknownAgent(agentId);
        _;
    }

    modifier byOwner(uint256 agentId) {
        if (ownerOf(agentId) != msg.sender) revert NotAgentOwner(agentId, msg.sender);
        _;
    }

    // --- identity

    function register(string calldata uri) external returns (uint256 agentId) {
        agentId = ++agentCount;
        _ownerOf[agentId] = msg.sender;
        balanceOf[msg.sender]++;
        _uri[agentId] = uri;
        emit Transfer(address(0), msg.sender, agentId);
        emit Registered(agentId, uri, msg.sender);
    }

    function ownerOf(uint256 agentId) public view exists(agentId) returns (address) {
        return _ownerOf[agentId];
    }

    function tokenURI(uint256 agentId) external view exists(agentId) returns (string memory) {
        return _uri[agentId];
    }

    function setAgentUri(uint256 agentId, string calldata uri) external byOwner(agentId) {
        _uri[agentId] = uri;
        emit UriUpdated(agentId, uri);
    }

    function setMetadata(uint256 agentId, string calldata key, bytes calldata value) external byOwner(agentId) {
        _metadata[agentId][key] = value;
        emit MetadataSet(agentId, key, value);
    }

    function getMetadata(uint256 agentId, string calldata key) external view exists(agentId) returns (bytes memory) {
        return _metadata[agentId][key];
    }

    function approve(address to, uint256 agentId) external byOwner(agentId) {
        getApproved[agentId] = to;
        emit Approval(msg.sender, to, agentId);
    }

    function transferFrom(address from, address to, uint256 agentId) external {
        address owner = ownerOf(agentId);
        if (from != owner || (msg.sender != owner && msg.sender != getApproved[agentId])) revert NotAgentOwner(agentId, msg.sender);
        if (to == address(0)) revert InvalidRecipient(to);
        delete getApproved[agentId];
        balanceOf[from]--;
        balanceOf[to]++;
        _ownerOf[agentId] = to;
        emit Transfer(from, to, agentId);
    }

    // --- reputation

    function giveFeedback(uint256 agentId, uint8 score, string calldata tag1, string calldata tag2, string calldata uri)
        external
        returns (uint256 index)
    {
        if (ownerOf(agentId) == msg.sender) revert SelfFeedback(agentId);
        if (score > 100) revert ScoreOutOfRange(score);
        index = _feedback[agentId].length;
        _feedback[agentId].push(Feedback(msg.sender, score, false));
        emit FeedbackGiven(agentId, msg.sender, index, score, tag1, tag2, uri);
    }

    function revokeFeedback(uint256 agentId, uint256 index) external exists(agentId) {
        Feedback storage given = _given(agentId, index);
        if (given.client != msg.sender || given.revoked) revert UnknownFeedback(agentId, index);
        given.revoked = true;
        emit FeedbackRevoked(agentId, msg.sender, index);
    }

    function readFeedback(uint256 agentId, uint256 index) external view exists(agentId) returns (address client, uint8 score, bool revoked) {
        Feedback storage given = _given(agentId, index);
        return (given.client, given.score, given.revoked);
    }

    /// Number of feedbacks that are not revoked, and their average score rounded down (0 without any).
    function summary(uint256 agentId) external view exists(agentId) returns (uint256 count, uint256 averageScore) {
        Feedback[] storage all = _feedback[agentId];
        uint256 total;
        for (uint256 i = 0; i < all.length; i++) {
            if (all[i].revoked) continue;
            count++;
            total += all[i].score;
        }
        averageScore = count == 0 ? 0 : total / count;
    }

    // --- validation

    function validationRequest(address validator, uint256 agentId, string calldata uri, bytes32 request) external byOwner(agentId) {
        if (validations[request].validator != address(0)) revert RequestExists(request);
        if (validator == address(0)) revert InvalidRecipient(validator);
        validations[request] = Validation(validator, 0, false, uint64(block.timestamp), agentId);
        emit ValidationRequested(validator, agentId, uri, request);
    }

    function validationResponse(bytes32 request, uint8 response, string calldata uri, string calldata tag) external {
        Validation storage validation = validations[request];
        if (validation.validator == address(0)) revert UnknownRequest(request);
        if (validation.validator != msg.sender) revert NotValidator(request, msg.sender);
        if (response > 100) revert ScoreOutOfRange(response);
        validation.response = response;
        validation.answered = true;
        validation.updatedAt = uint64(block.timestamp);
        emit ValidationAnswered(msg.sender, validation.agentId, request, response, uri, tag);
    }

    function _given(uint256 agentId, uint256 index) private view returns (Feedback storage) {
        if (index >= _feedback[agentId].length) revert UnknownFeedback(agentId, index);
        return _feedback[agentId][index];
    }
}
