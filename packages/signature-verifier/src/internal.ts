// What the packages of this repository share and no page describes: it may change in any release.
export { toChecksumAddress } from './signatures/address.ts'
export { keccakWithJsSha3, recoverWithJs } from './signatures/recover.ts'
export type { WalletProof } from './proof.ts'
export type { RpcClient } from './signatures/contract-wallet.ts'
