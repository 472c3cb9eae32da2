import { Fault, malformedReply } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import { createTextCipher } from './text-cipher.ts'
import { parse } from './parse-records.ts'
import { readSigningKeys } from '../parse-signing-keys.ts'
import type { SigningKeyStorage } from './signing-port.ts'

/** Signing keys in SQL: one encrypted row per issuer, replaced against its revision in one statement. */
export function sqlSigningKeyStorage(
  db: SqlQueries,
  prefix: string,
  encryptionKey: Uint8Array,
  issuer: string,
): SigningKeyStorage {
  const table = `${prefix}signing_keys`
  const cipher = createTextCipher(encryptionKey)
  return {
    async load() {
      const [row] = await rows(db, `select revision, sealed from ${table} where issuer = $1`, [issuer])
      if (!row) return { revision: 0, keys: [] }
      const text = cipher.decrypt(toText(row['sealed']), issuer)
      if (text === undefined) {
        throw new Fault(
          'ERR_KEYS_UNAVAILABLE',
          'the signing keys cannot be decrypted with this encryptionKey',
        )
      }
      const keys = readSigningKeys(parse(text))
      if (!keys) throw malformedReply('database', 'signing keys')
      return { revision: toInteger(row['revision']), keys }
    },
    async replace(revision, keys) {
      const sealed = cipher.encrypt(JSON.stringify(keys), issuer)
      const text =
        revision === 0
          ? `insert into ${table} (issuer, sealed, revision) values ($1, $2, 1 + $3)
              on conflict (issuer) do nothing returning revision`
          : `update ${table} set sealed = $2, revision = revision + 1 where issuer = $1 and revision = $3
              returning revision`
      const [won] = await rows(db, text, [issuer, sealed, revision])
      if (won && toInteger(won['revision']) !== revision + 1) {
        throw malformedReply('database', 'the next revision')
      }
      return won !== undefined
    },
  }
}
