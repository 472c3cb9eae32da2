import { knownOptions, type OptionNames } from '@gatewright/kernel'
import { checkedPrefix, DEFAULT_PREFIX, type SqlClient, type SqlDialect } from '@gatewright/kernel/sql'
import type { AuditStorage } from './audit-port.ts'
import type { KeyStorage, SessionStorage } from './port.ts'
import type { SigningKeyStorage } from './signing-port.ts'
import { sqlAuditStorage } from './sql-audit.ts'
import { sqlKeyStorage } from './sql-keys.ts'
import { sqlSessionStorage } from './sql-sessions.ts'
import { sqlSigningKeyStorage } from './sql-signing.ts'

/** Options of the SQL adapters. */
export interface SqlStorageOptions {
  /** Prefix of the tables, as given to `migrate`. Default `gw_`. */
  readonly prefix?: string
}

/** Options of the SQL adapters that also hold the signing keys. */
export interface SqlSigningOptions extends SqlStorageOptions {
  /** 32 bytes. The private keys are stored under AES-256-GCM with it; a copy of the database alone signs nothing. */
  readonly encryptionKey: Uint8Array
  /** Whose signing keys, where several issuers share a database. Default `default`. */
  readonly issuer?: string
}

const OPTIONS: OptionNames<SqlSigningOptions> = { prefix: true, encryptionKey: true, issuer: true }

/** The ports over one database. */
export interface SqlStorage {
  readonly keys: KeyStorage
  readonly sessions: SessionStorage
  readonly audit: AuditStorage
}

/** The ports over one database, signing keys included. */
export interface SqlStorageWithSigning extends SqlStorage {
  readonly signingKeys: SigningKeyStorage
}

/** The ports on either SQL store; the signing keys only with an encryption key. */
export function sqlStorage(
  db: SqlClient,
  dialect: SqlDialect,
  options: SqlStorageOptions & Partial<SqlSigningOptions> = {},
): SqlStorage | SqlStorageWithSigning {
  const {
    prefix: given,
    encryptionKey,
    issuer = 'default',
  } = knownOptions(`${dialect}Storage`, options, OPTIONS)
  const prefix = checkedPrefix(given ?? DEFAULT_PREFIX)
  const ports = {
    keys: sqlKeyStorage(db, dialect, prefix),
    sessions: sqlSessionStorage(db, dialect, prefix),
    audit: sqlAuditStorage(db, dialect, prefix),
  }
  if (encryptionKey === undefined) return ports
  return { ...ports, signingKeys: sqlSigningKeyStorage(db, prefix, encryptionKey, issuer) }
}
