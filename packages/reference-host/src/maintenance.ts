import type { Chore } from './background.ts'
import type { Container } from './container.ts'
import { payinExpiry } from './modules/subscriptions/expiry.ts'
import * as token from './tokens.ts'

const MINUTE_MS = 60_000
/** How late a pay-in may end, and how long the tail of the ledger grows, at most. */
const SOON_MS = 5000
/** How long it is remembered that a client used an old name: 400 days, so that yearly jobs are seen. */
const ALIAS_USAGE_MS = 400 * 86_400_000
/** Rows of each kind that one round takes at most, so that a round is short and steals no time from requests. */
const LIMIT = 1000
const ACCOUNTS = 100

/**
 * What a host does beside requests: ends pay-ins that are due, keeps balances short to read, deletes what ended, and rotates
 * the signing key when it is due. A failure is reported, and what comes behind it is done all the same.
 */
export function maintenance(container: Container, report: (error: unknown) => void): readonly Chore[] {
  const { nonces, sql, dialect, idempotency, spend, aliasUsage } = container.get(token.BACKEND)
  const clock = container.get(token.CLOCK)
  const issuer = container.get(token.ISSUER)
  const ledger = container.get(token.LEDGER)
  const expire = payinExpiry({
    ...{ db: sql, dialect, clock },
    payins: container.get(token.PAYINS),
    endings: container.get(token.ENDINGS),
  })
  const collect = [
    () => nonces.collect(LIMIT, clock.now()),
    () => idempotency(sql).collect(LIMIT, clock.now()),
    () => spend(sql).collect(LIMIT, clock.now()),
    () => aliasUsage.collect(clock.now() - ALIAS_USAGE_MS, LIMIT),
    () => issuer.maintain(),
  ]
  return [
    { name: 'expire pay-ins', everyMs: SOON_MS, run: () => expire(LIMIT, report) },
    { name: 'fold balances', everyMs: SOON_MS, run: () => ledger.fold(ACCOUNTS) },
    {
      name: 'collect garbage',
      everyMs: MINUTE_MS,
      async run() {
        for (const task of collect) await task().catch(report)
      },
    },
  ]
}
