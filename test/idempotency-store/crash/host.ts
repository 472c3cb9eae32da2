import { createIdempotency, type RecoveryResult } from '@gatewright/idempotency-store'
import type { IdempotencyDenial } from '#packages/idempotency-store/dist/codes.js'
import type { LostRun } from '#packages/idempotency-store/dist/options.js'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import type { Verdict, Clock } from '@gatewright/kernel'
import { rows } from '@gatewright/kernel/sql'
import { response, write } from '../support.ts'
import { payIn, type CrashStore } from './stores.ts'

/** `transactional`: record and rows in one transaction. The others: begin, effect, complete; with a recovery or not. */
export type Mode = 'transactional' | 'two-phase' | 'two-phase with recovery'

export type Outcome = Verdict<{ readonly replayed: boolean; readonly status: number }, IdempotencyDenial>

/** A host as it starts: its pay-in operation over a store. A restart is another call of this. */
export function startHost(store: CrashStore, mode: Mode, clock: Clock): () => Promise<Outcome> {
  if (mode === 'transactional') {
    const { run } = createTransactionalIdempotency({
      db: store.db,
      storage: store.transactionStorage,
      clock,
    })
    return async () => {
      const result = await run(write(), async (tx, { effectId }) => {
        await payIn(tx, effectId)
        return response(201)
      })
      if (!result.ok) return result
      return { ok: true, value: { replayed: result.value.replayed, status: result.value.response.status } }
    }
  }
  /** Asks the ledger. The lost process is dead and its transaction over, so "not there" is final. */
  const recover = async ({ effectId }: LostRun): Promise<RecoveryResult> => {
    const found = await rows(store.db, 'select id from payins where id = $1', [effectId])
    return found.length > 0 ? { state: 'completed', response: response(201) } : { state: 'never_happened' }
  }
  const idempotency = createIdempotency({
    storage: store.storage(store.db),
    clock,
    // A dead run responses nobody, so waiting for it would only take time here.
    waitMs: 0,
    ...(mode === 'two-phase' ? {} : { recover }),
  })
  return async () => {
    const begun = await idempotency.begin(write())
    if (!begun.ok) return begun
    if (begun.value.state === 'replay') {
      return { ok: true, value: { replayed: true, status: begun.value.response.status } }
    }
    const { claim } = begun.value
    await store.db.transaction(tx => payIn(tx, claim.effectId))
    await idempotency.complete(claim, response(201))
    return { ok: true, value: { replayed: false, status: 201 } }
  }
}
