export { codes, reasons, rules } from './codes.ts'
export { createIssuer } from './issuer.ts'
export { keyPattern } from './keys/key-text.ts'
export type { Issuer } from './issuer.ts'
export type { AuditEntry, AuditStorage } from './storage/audit-port.ts'
export type {
  ApiKey,
  IssuerStorage,
  KeyPolicyRecord,
  KeyRecord,
  KeyStorage,
  PolicyRecord,
  SessionRecord,
  SessionStorage,
} from './storage/port.ts'
export type { SigningKeySet, SigningKeyStorage, SqlCredentialsWithSigning } from './storage/signing-port.ts'
export type { IssuerOptions } from './options.ts'
