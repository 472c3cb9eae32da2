export { codes, reasons, rules } from './codes.ts'
export { createIssuer } from './issuer.ts'
export { keyPattern } from './keys/key-text.ts'
export type { IssuerCaller, WalletCaller } from './keys/authority.ts'
export type { ConsoleRequest } from './keys/open-console.ts'
export type { KeyChange } from './keys/change-key.ts'
export type { IssuerDenial, IssuerReason, IssuerRule } from './codes.ts'
export type { KeyReadLimiter } from './keys/authenticate.ts'
export type { CreatedKey, KeyRequest } from './keys/create-key.ts'
export type { IssuedSession, SessionRequest } from './sessions/issue-session.ts'
export type { Issuer } from './issuer.ts'
export type { MaintenanceResult } from './maintain.ts'
export type { PublishedJwks } from './signing/jwks.ts'
export type { Environment } from './keys/key-text.ts'
export type { EndedLineage, KeyLineage } from './keys/lineage.ts'
export type { KeyPage, KeyWithPolicies } from './keys/list-keys.ts'
export type { ListRequest } from './list-request.ts'
export type { IssuerOptions } from './options.ts'
export type { Pepper } from './keys/peppers.ts'
export type { SessionPage } from './sessions/list-sessions.ts'
export type { RevocationCounts } from './sessions/manage-sessions.ts'
export type { RotationOptions } from './keys/rotate-key.ts'
export type { SigningKeyInfo } from './signing/key-ring.ts'
export type { SigningKeyState } from './signing/schedule.ts'
export type {
  AuditAction,
  AuditActor,
  AuditEntry,
  AuditPosition,
  AuditStorage,
} from './storage/audit-port.ts'
export type {
  ApiKey,
  IssuerStorage,
  KeyCreator,
  KeyPolicyRecord,
  KeyRecord,
  KeyStorage,
  KeyUse,
  KeyWrite,
  ListPosition,
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
