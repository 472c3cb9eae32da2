export { isChecksumAddress } from './address.ts'
export { codes, reasons } from './codes.ts'
export { parseEip4361, renderEip4361 } from './eip4361.ts'
export { fromHashWasm, fromLibauth, fromSecp256k1Addon, fastestRecover } from './fastest-recover.ts'
export { keccakWithJsSha3, recoverWithViem } from './recover.ts'
export { requestDigest } from './request-digest.ts'
export { lineTemplate } from './template.ts'
export {
  agentBootstrap,
  bootstrap,
  boundBootstrap,
  REQUEST_RESOURCE,
  signInWithEthereum,
} from './templates.ts'
export { createVerifier } from './verify.ts'
export type { Challenge, ChallengeOptions } from './challenge.ts'
export type { ProofDenial, ProofReason } from './codes.ts'
export type { ContractWalletChain, ContractWalletOptions, RpcClient } from './contract-wallet.ts'
export type { Eip4361Message } from './eip4361.ts'
export type { RecoveryLimits, VerifierOptions } from './options.ts'
export type {
  HashWasmKeccak,
  LibauthWasm,
  LoadModule,
  FastestRecover,
  Secp256k1Addon,
} from './fastest-recover.ts'
export type { WalletProof } from './proof.ts'
export type { Keccak256, Recover } from './recover.ts'
export type { RequestedGrant } from './request-digest.ts'
export type { ChallengeStorage, NonceStorage } from './storage/port.ts'
export type { Binding, Reading, Template, TemplateFacts } from './template.ts'
export type { ProofContext, ProvenWallet, Verifier } from './verify.ts'
