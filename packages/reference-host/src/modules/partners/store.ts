import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient } from '@gatewright/kernel/sql'

/** The host's partner records. Their keys are the issuer's. */
export interface PartnerStore {
  /** Whether any partner is known. */
  any(): Promise<boolean>
  /** Adds a partner. False when the id is taken: of two hosts that add it at once, one gets true. */
  add(id: string, name: string, now: EpochMs): Promise<boolean>
}

/** Partner records in SQL. */
export function partnerStore(db: SqlClient): PartnerStore {
  return {
    any: async () => (await rows(db, 'select 1 from gw_partners limit 1')).length > 0,
    async add(id, name, now) {
      const added = await rows(
        db,
        'insert into gw_partners (id, name, created_at) values ($1, $2, $3) on conflict do nothing returning id',
        [id, name, now],
      )
      return added.length === 1
    },
  }
}
