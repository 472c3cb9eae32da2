export { isChecksumAddress, toChecksumAddress } from './signatures/address.ts'
export { codes, reasons } from './codes.ts'
export { parseEip4361, renderEip4361 } from './templates/eip4361.ts'
export {
  fromHashWasm,
  fromLibauth,
  fromSecp256k1Addon,
  fastestRecover,
} from './signatures/fastest-recover.ts'
export { keccakWithJsSha3, recoverWithJs } from './signatures/recover.ts'
export { requestDigest } from './templates/request-digest.ts'
export { lineTemplate } from './templates/line-template.ts'
export {
  agentBootstrap,
  bootstrap,
  boundBootstrap,
  REQUEST_RESOURCE,
  signInWithEthereum,
} from './templates/built-in.ts'
export { createVerifier } from './verifier.ts'
export type { Challenge, ChallengeOptions } from './challenge.ts'
export type { ProofDenial, ProofReason } from './codes.ts'
export type { ContractWalletChain, ContractWalletOptions, RpcClient } from './signatures/contract-wallet.ts'
export type { Eip4361Message } from './templates/eip4361.ts'
export type { VerifierOptions } from './options.ts'
export type { QueueLimits } from './queue-options.ts'
export type {
  FastestRecover,
  Secp256k1Addon,
} from './signatures/fastest-recover.ts'
export type { WalletProof } from './proof.ts'
export type { Keccak256, Recover } from './signatures/recover.ts'
export type { ChallengeStorage, NonceStorage } from './storage/port.ts'
export type { Binding, Template, TemplateInput, TemplateMatch } from './templates/template.ts'
export type { ProofContext, VerifiedWallet, Verifier } from './verifier.ts'
