import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'

/** The host's partner records. Their keys are stored by the issuer. */
export interface PartnerStore {
  /** Returns whether any partner exists. */
  hasAny(): Promise<boolean>
  /** Adds a partner. False if the id exists: of simultaneous calls, one resolves to true. */
  add(id: string, name: string, now: EpochMs): Promise<boolean>
  list(): Promise<readonly Partner[]>
  /** Marks a key as validated, which live hosts require. Repeating it changes nothing. */
  validate(keyId: string, now: EpochMs): Promise<void>
  /** Returns those of the keys that are marked as validated. */
  validatedKeys(keyIds: readonly string[]): Promise<ReadonlySet<string>>
}

/** A partner's record. */
interface Partner {
  readonly id: string
  readonly name: string
}

/** Creates the partner store over SQL. */
export function partnerStore(db: SqlClient): PartnerStore {
  return {
    hasAny: async () => (await rows(db, 'select 1 from gw_partners limit 1')).length > 0,
    async add(id, name, now) {
      const added = await rows(
        db,
        'insert into gw_partners (id, name, created_at) values ($1, $2, $3) on conflict do nothing returning id',
        [id, name, now],
      )
      return added.length === 1
    },
    async list() {
      const found = await rows(db, 'select id, name from gw_partners order by created_at, id')
      return found.map(row => ({ id: toText(row['id']), name: toText(row['name']) }))
    },
    async validate(keyId, now) {
      await rows(
        db,
        'insert into gw_validated_keys (key_id, validated_at) values ($1, $2) on conflict do nothing',
        [keyId, now],
      )
    },
    async validatedKeys(keyIds) {
      if (keyIds.length === 0) return new Set()
      const places = keyIds.map((_, index) => `$${index + 1}`).join(', ')
      const found = await rows(db, `select key_id from gw_validated_keys where key_id in (${places})`, keyIds)
      return new Set(found.map(row => toText(row['key_id'])))
    },
  }
}
