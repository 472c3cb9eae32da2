import type { IdempotencyStorage } from '@gatewright/idempotency-store'
import type { Clock } from '@gatewright/kernel'
import type { AliasUsageStorage } from '@gatewright/legacy-alias-router'
import type { SpendStorage } from '@gatewright/scope-guard'
import type { Issuer } from '@gatewright/session-issuer'
import type { NonceStorage } from '@gatewright/signature-verifier'

/** What garbage is collected from. */
export interface Collected {
  readonly nonces: NonceStorage
  readonly records: IdempotencyStorage
  readonly spend: SpendStorage
  readonly aliasUsage: AliasUsageStorage
  readonly issuer: Issuer
}

const EVERY_MS = 60_000
/** How long it is remembered that a client used an old name: 400 days, so that yearly jobs are seen. */
const ALIAS_USAGE_MS = 400 * 86_400_000
/** Rows of each kind that one round deletes at most, so that a round is short and steals no time from requests. */
const LIMIT = 1000

/**
 * Deletes what ended, and rotates the signing key when it is due, once a minute until stopped. Every host of a
 * database may do it at once. A round that fails is reported and tried again a minute later.
 */
export function startMaintenance(
  { nonces, records, spend, aliasUsage, issuer }: Collected,
  clock: Clock,
  report: (error: unknown) => void,
): () => Promise<void> {
  let round: Promise<unknown> = Promise.resolve()
  const run = async (): Promise<void> => {
    const tasks = [
      () => nonces.collect(LIMIT, clock.now()),
      () => records.collect(LIMIT, clock.now()),
      () => spend.collect(LIMIT, clock.now()),
      () => aliasUsage.collect(clock.now() - ALIAS_USAGE_MS, LIMIT),
      () => issuer.maintain(),
    ]
    for (const task of tasks) await task().catch(report)
  }
  const timer = setInterval(() => {
    round = round.then(run)
  }, EVERY_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await round
  }
}
