export { codes } from './codes.ts'
export { createIssuer } from './issuer.ts'
export { keyPattern } from './key-text.ts'
export { staticSigningKeyStorage } from './storage/static.ts'
export type { IssuerDenial } from './codes.ts'
export type { CreatedKey, KeyRequest } from './create-key.ts'
export type { IssuedSession, SessionRequest } from './issue-session.ts'
export type { Issuer, PublishedKeys } from './issuer.ts'
export type { Environment } from './key-text.ts'
export type { IssuerOptions } from './options.ts'
export type { Pepper } from './peppers.ts'
export type {
  ApiKey,
  KeyPolicyRecord,
  KeyRecord,
  KeyStorage,
  KeyUse,
  KeyWrite,
  PolicyRecord,
  SessionRecord,
  SessionStorage,
} from './storage/port.ts'
export type {
  SigningAlgorithm,
  SigningKey,
  SigningKeySet,
  SigningKeyStorage,
} from './storage/signing-port.ts'
