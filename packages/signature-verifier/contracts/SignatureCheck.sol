// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Calls a wallet contract's `isValidSignature` (ERC-1271), after deploying it in simulation where it does not exist yet
/// (ERC-6492). Run by `eth_call` as creation code and never deployed. The constructor returns three words: 1 for valid
/// or 0 for invalid, the chain id, the block number. One call, so one block. Wallet and factory may be hostile: each
/// gets a third of the gas, neither can make this revert, and at most one word of what they return is copied.
contract SignatureCheck {
  constructor(address wallet, bytes32 hash, bytes memory signature, address factory, bytes memory deployment) {
    bytes memory question = abi.encodeWithSignature("isValidSignature(bytes32,bytes)", hash, signature);
    uint256 share = gasleft() / 3;
    if (wallet.code.length == 0 && factory != address(0)) {
      assembly {
        pop(call(share, factory, 0, add(deployment, 32), mload(deployment), 0, 0))
      }
    }
    uint256 answer = 0;
    if (wallet.code.length > 0) {
      assembly {
        mstore(0, 0)
        let done := staticcall(share, wallet, add(question, 32), mload(question), 0, 32)
        if and(done, eq(returndatasize(), 32)) {
          answer := eq(mload(0), shl(224, 0x1626ba7e))
        }
      }
    }
    assembly {
      mstore(0, answer)
      mstore(32, chainid())
      mstore(64, number())
      return(0, 96)
    }
  }
}
