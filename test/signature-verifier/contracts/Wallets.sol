// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

library Ecdsa {
  function signer(bytes32 hash, bytes memory signature, uint256 at) internal pure returns (address) {
    bytes32 r;
    bytes32 s;
    uint8 v;
    assembly {
      r := mload(add(signature, add(at, 32)))
      s := mload(add(signature, add(at, 64)))
      v := byte(0, mload(add(signature, add(at, 96))))
    }
    return ecrecover(hash, v, r, s);
  }
}

/// One owner, ERC-1271 and nothing else.
contract OwnedWallet {
  address public owner;

  constructor(address owner_) {
    owner = owner_;
  }

  function isValidSignature(bytes32 hash, bytes memory signature) external view returns (bytes4) {
    if (signature.length != 65) return 0xffffffff;
    return Ecdsa.signer(hash, signature, 0) == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
  }
}

/// Deploys OwnedWallet at an address that is known before (CREATE2), so that it can sign before it exists.
contract OwnedWalletFactory {
  function deploy(address owner, bytes32 salt) external returns (address) {
    return address(new OwnedWallet{salt: salt}(owner));
  }

  function addressOf(address owner, bytes32 salt) external view returns (address) {
    bytes32 code = keccak256(abi.encodePacked(type(OwnedWallet).creationCode, abi.encode(owner)));
    return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
  }
}

/// Several owners and a threshold, in the manner of Safe: owners sign an EIP-712 message of this wallet around the
/// hash, signatures come in the order of the owners' addresses, and an empty signature means approved on chain.
contract Multisig {
  mapping(address => bool) public isOwner;
  mapping(bytes32 => uint256) public approved;
  uint256 public threshold;

  constructor(address[] memory owners, uint256 threshold_) {
    for (uint256 i = 0; i < owners.length; i++) isOwner[owners[i]] = true;
    threshold = threshold_;
  }

  function approve(bytes32 hash) external {
    require(isOwner[msg.sender]);
    approved[messageHash(hash)] = 1;
  }

  function messageHash(bytes32 hash) public view returns (bytes32) {
    bytes32 domain = keccak256(
      abi.encode(keccak256("EIP712Domain(uint256 chainId,address verifyingContract)"), block.chainid, address(this))
    );
    bytes32 message = keccak256(abi.encode(keccak256("SafeMessage(bytes message)"), keccak256(abi.encode(hash))));
    return keccak256(abi.encodePacked(hex"1901", domain, message));
  }

  function isValidSignature(bytes32 hash, bytes memory signatures) external view returns (bytes4) {
    bytes32 message = messageHash(hash);
    if (signatures.length == 0) {
      require(approved[message] != 0, "not approved");
      return 0x1626ba7e;
    }
    require(signatures.length >= threshold * 65, "too few signatures");
    address last = address(0);
    for (uint256 i = 0; i < threshold; i++) {
      address owner = Ecdsa.signer(message, signatures, i * 65);
      require(owner > last && isOwner[owner], "bad owner");
      last = owner;
    }
    return 0x1626ba7e;
  }
}

/// Code for accounts with a key (EIP-7702) that reads signatures as loosely as deployed wallets do: by the account's
/// own key or by an owner, in 65 bytes with any v or 64 bytes (EIP-2098), with a high s, with bytes behind them, with the
/// account's address before them, and in ERC-6492 wrappers.
contract DelegatedWallet {
  address public owner;

  function isValidSignature(bytes32 hash, bytes memory signature) public view returns (bytes4) {
    uint256 length = signature.length;
    bytes32 last;
    bytes32 first;
    assembly {
      last := mload(add(signature, length))
      first := mload(add(signature, 32))
    }
    if (length > 32 && last == 0x6492649264926492649264926492649264926492649264926492649264926492) {
      (, , bytes memory inner) = abi.decode(signature, (address, bytes, bytes));
      return isValidSignature(hash, inner);
    }
    uint256 at = length >= 20 && address(bytes20(first)) == address(this) ? 20 : 0;
    if (length < at + 64) return 0xffffffff;
    return isSigner(hash, signature, at) ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
  }

  function isSigner(bytes32 hash, bytes memory signature, uint256 at) private view returns (bool) {
    bytes32 r;
    uint256 s;
    assembly {
      r := mload(add(signature, add(at, 32)))
      s := mload(add(signature, add(at, 64)))
    }
    uint256 low = s & ((1 << 255) - 1);
    for (uint8 v = 27; v <= 28; v++) {
      if (isOwn(ecrecover(hash, v, r, bytes32(s))) || isOwn(ecrecover(hash, v, r, bytes32(low)))) return true;
    }
    return false;
  }

  function isOwn(address signer) private view returns (bool) {
    return signer != address(0) && (signer == address(this) || signer == owner);
  }
}

/// Wallets that misbehave, by number.
contract HostileWallet {
  uint256 public immutable how;

  constructor(uint256 how_) {
    how = how_;
  }

  fallback() external {
    if (how == 0) revert("no");
    if (how == 1) while (true) {}
    if (how == 2) {
      assembly {
        mstore(0, shl(224, 0x1626ba7e))
        return(0, 1000000)
      }
    }
    if (how == 3) {
      assembly {
        mstore(0, or(shl(224, 0x1626ba7e), 1))
        return(0, 32)
      }
    }
    if (how == 4) {
      assembly {
        mstore(0, 1)
        return(0, 32)
      }
    }
    if (how == 5) {
      assembly {
        mstore(0, shl(224, 0x1626ba7e))
        return(0, 4)
      }
    }
    if (how == 6) {
      assembly {
        calldatacopy(0, 0, calldatasize())
        return(0, calldatasize())
      }
    }
    if (how == 7) {
      assembly {
        invalid()
      }
    }
  }
}
