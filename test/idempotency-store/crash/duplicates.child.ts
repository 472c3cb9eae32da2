// One host process with a pool of 10 that gets many duplicates of one write at once. Arguments: schema, mode,
// duplicates. Says `ready`, waits for a line, then prints what its clients got as one line of JSON.
import { once } from 'node:events'
import { createIdempotency } from '@gatewright/idempotency-store'
import type { Claim } from '#packages/idempotency-store/dist/execution/claim.js'
import type { IdempotencyDenial } from '#packages/idempotency-store/dist/codes.js'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { postgresIdempotency, postgresTransactionalIdempotency } from '@gatewright/idempotency-store/postgres'
import type { Verdict } from '@gatewright/kernel'
import { fromPgPool } from '@gatewright/kernel/sql'
import { openPostgresPool } from '../../harness/stores.ts'
import { response, write } from '../support.ts'
import { payIn } from './stores.ts'

/** What a process' clients got. */
export interface Tally {
  readonly fresh: number
  readonly replayed: number
  readonly inProgress: number
  readonly others: readonly string[]
  /** Longest that an unrelated query of the same process waited for a connection, in ms. */
  readonly longestQueryMs: number
  readonly tookMs: number
}

const [schema, mode, duplicates] = process.argv.slice(2) as [string, 'transactional' | 'two-phase', string]
const HANDLER_MS = 300
const pool = await openPostgresPool(schema, 10)
const db = fromPgPool(pool)

type WriteVerdict = Verdict<{ readonly replayed: boolean }, IdempotencyDenial>
const busy = (): Promise<void> => new Promise(resolve => setTimeout(resolve, HANDLER_MS))

function transactional(): () => Promise<WriteVerdict> {
  const { run } = createTransactionalIdempotency({ db, storage: tx => postgresTransactionalIdempotency(tx) })
  return () =>
    run(write(), async (tx, { effectId }) => {
      await busy()
      await payIn(tx, effectId)
      return response(201)
    })
}

function twoPhase(): () => Promise<WriteVerdict> {
  const idempotency = createIdempotency({ storage: postgresIdempotency(db) })
  const perform = async (claim: Claim): Promise<WriteVerdict> => {
    await busy()
    await db.transaction(tx => payIn(tx, claim.effectId))
    await idempotency.complete(claim, response(201))
    return { ok: true, value: { replayed: false } }
  }
  return async () => {
    const begun = await idempotency.begin(write())
    if (!begun.ok) return begun
    return begun.value.state === 'started'
      ? perform(begun.value.claim)
      : { ok: true, value: { replayed: true } }
  }
}

const serve = mode === 'transactional' ? transactional() : twoPhase()
await pool.query('select 1')
process.stdout.write('ready\n')
await once(process.stdin, 'data')
process.stdin.destroy()

const started = performance.now()
const served = new AbortController()
let longestQueryMs = 0
/** Other traffic of the same process, which needs the same pool. */
const others = (async () => {
  while (!served.signal.aborted) {
    const asked = performance.now()
    await pool.query('select 1')
    longestQueryMs = Math.max(longestQueryMs, performance.now() - asked)
    await new Promise(resolve => setTimeout(resolve, 5))
  }
})()
const results = await Promise.allSettled(Array.from({ length: Number(duplicates) }, serve))
const tookMs = performance.now() - started
served.abort()
await others

const name = (result: PromiseSettledResult<WriteVerdict>): string => {
  if (result.status === 'rejected') return String(result.reason)
  if (!result.value.ok) return result.value.code
  return result.value.value.replayed ? 'replayed' : 'fresh'
}
const names = results.map(name)
const count = (wanted: string): number => names.filter(each => each === wanted).length
const known = ['fresh', 'replayed', 'request_in_progress']
const tally: Tally = {
  fresh: count('fresh'),
  replayed: count('replayed'),
  inProgress: count('request_in_progress'),
  others: names.filter(each => !known.includes(each)),
  longestQueryMs: Math.round(longestQueryMs),
  tookMs: Math.round(tookMs),
}
process.stdout.write(`${JSON.stringify(tally)}\n`)
await pool.end()
