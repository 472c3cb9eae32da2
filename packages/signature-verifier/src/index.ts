export { codes, reasons } from './codes.ts'
export { parseEip4361, renderEip4361 } from './templates/eip4361.ts'
export {
  fromHashWasm,
  fromLibauth,
  fromSecp256k1Addon,
  fastestRecover,
} from './signatures/fastest-recover.ts'
export { requestDigest } from './templates/request-digest.ts'
export { lineTemplate } from './templates/line-template.ts'
export { bootstrap, REQUEST_RESOURCE } from './templates/built-in.ts'
export { createVerifier } from './verifier.ts'
export type {
  FastestRecover,
  HashWasmKeccak,
  LibauthWasm,
  LoadModule,
  Secp256k1Addon,
} from './signatures/fastest-recover.ts'
export type { ChallengeStorage, NonceStorage } from './storage/port.ts'
export type { Template } from './templates/template.ts'
export type { ProofContext, VerifiedWallet, Verifier } from './verifier.ts'
export type { Eip4361Message } from './templates/eip4361.ts'
export type { Keccak256, Recover } from './signatures/recover.ts'
export type { RequestedGrant } from './templates/request-digest.ts'
export type { VerifierOptions } from './options.ts'
