// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// The part of ERC-20 that payments use, and free minting.
contract Token {
    event Transfer(address indexed from, address indexed to, uint256 value);

    uint8 public immutable decimals;
    mapping(address => uint256) public balanceOf;

    constructor(uint8 decimals_) {
        decimals = decimals_;
    }

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// Writes logs that begin as a transfer does and are none.
contract Oddities {
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);

    bytes32 private constant TRANSFER = keccak256("Transfer(address,address,uint256)");

    function write(address to) external {
        // ERC-721.
        emit Transfer(msg.sender, to, 7);
        bytes32 from = bytes32(uint256(uint160(msg.sender)));
        bytes32 wide = bytes32(type(uint256).max);
        bytes32 receiver = bytes32(uint256(uint160(to)));
        bytes32 event_ = TRANSFER;
        assembly {
            mstore(0, 100)
            mstore(32, 0)
            log4(0, 32, event_, from, receiver, wide)
            log3(0, 31, event_, from, receiver)
            log3(0, 65, event_, from, receiver)
            log3(0, 0, event_, from, receiver)
            log3(0, 32, event_, wide, receiver)
            log3(0, 32, event_, from, wide)
            log3(0, 32, receiver, from, receiver)
            log2(0, 32, event_, from)
            log0(0, 32)
        }
    }
}
