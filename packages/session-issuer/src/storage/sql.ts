import { checkOptions } from '@gatewright/kernel/internal'
import type { SqlClient } from '@gatewright/kernel/sql'
import { checkedPrefix, DEFAULT_PREFIX, type SqlDialect } from '@gatewright/kernel/internal/sql'
import type { IssuerStorage } from './port.ts'
import type { SqlCredentialsWithSigning } from './signing-port.ts'
import { sqlAuditStorage } from './sql-audit.ts'
import { sqlKeyStorage, type WithinCommit } from './sql-keys.ts'
import { sqlSessionStorage } from './sql-sessions.ts'
import { sqlSigningKeyStorage } from './sql-signing.ts'

/** Options of the SQL adapters. */
export interface SqlCredentialsOptions {
  /** Prefix of the tables, as given to `migrate`. Default `gw_`. */
  readonly prefix?: string
  /**
   * Writes more in the transaction of each commit of keys, after its own writes, such as the end of what a revoked key has asked for. A rejection rolls
   * the commit back, and is thrown by the method that changed the keys. Default: nothing.
   */
  readonly withinCommit?: WithinCommit
}

/** Options of the SQL adapters that also hold the signing keys. */
export interface SqlSigningOptions extends SqlCredentialsOptions {
  /**
   * 32 bytes. The private keys are encrypted with it (AES-256-GCM), so a copy of the database alone can sign nothing.
   */
  readonly encryptionKey: Uint8Array
  /** The issuer whose signing keys these are, where several issuers share a database. Default `default`. */
  readonly issuer?: string
}

/** Builds the storages on either SQL store; the signing keys only with an encryption key. */
export function sqlStorage(
  db: SqlClient,
  dialect: SqlDialect,
  options: SqlCredentialsOptions & Partial<SqlSigningOptions> = {},
): IssuerStorage | SqlCredentialsWithSigning {
  const {
    prefix: given,
    withinCommit,
    encryptionKey,
    issuer,
  } = checkOptions(`${dialect}Credentials`, options, {
    prefix: { default: DEFAULT_PREFIX },
    withinCommit: { is: 'function', default: async () => {} },
    encryptionKey: true,
    issuer: { default: 'default' },
  })
  if (db.dialect !== dialect)
    throw new TypeError(
      `${dialect}Credentials expects a client with dialect "${dialect}", got ${JSON.stringify(db.dialect)}`,
    )
  const prefix = checkedPrefix(given)
  const ports = {
    keys: sqlKeyStorage(db, prefix, withinCommit),
    sessions: sqlSessionStorage(db, prefix),
    audit: sqlAuditStorage(db, prefix),
  }
  if (encryptionKey === undefined) return ports
  return { ...ports, signingKeys: sqlSigningKeyStorage(db, prefix, encryptionKey, issuer) }
}
