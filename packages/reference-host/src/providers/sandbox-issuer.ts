import { Fault, type Clock, type EpochMs } from '@gatewright/kernel'
import { rows, toInteger, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import type { CardIssuer, IssuedCard } from './card-issuer.ts'
import { cardNumber, securityCode } from './card-numbers.ts'
import { SANDBOX_PROVIDER } from './sandbox-kyc.ts'

const REJECTED_CENTS = 1_000_003
const DOWN_ONCE_CENTS = 1_000_004
const VALID_YEARS = 3

const FIRST = `insert into gw_sandbox_provider_calls (port, id, at, what) values ('cards', $1, $2, $3)
  on conflict (port, id) do nothing returning id`
const UP_AGAIN = `update gw_sandbox_provider_calls set what = 'issued'
  where port = 'cards' and id = $1 and what = 'down'`
const READ = `select at from gw_sandbox_provider_calls where port = 'cards' and id = $1 and what = 'issued'`

/** What the built-in issuer needs. */
interface SandboxIssuerOptions {
  readonly db: SqlClient
  readonly clock: Clock
  /** The numbers of all cards are derived from it. */
  readonly secret: Uint8Array
}

/**
 * Makes the built-in issuer of a sandbox. It stores when each card was issued, and no card number: numbers are derived from the secret
 * and the id of the card. Two limits are magic: 1 000 003 cents is rejected, with 1 000 004 the issuer is down at the first call.
 */
export function sandboxIssuer({ db, clock, secret }: SandboxIssuerOptions): CardIssuer {
  return {
    name: SANDBOX_PROVIDER,
    async issue(id, { limit }, signal) {
      signal.throwIfAborted()
      if (limit?.amountCents === REJECTED_CENTS) {
        await rows(db, FIRST, [id, clock.now(), 'refused'])
        return { rejected: 'the sandbox refuses this limit' }
      }
      const isDown = limit?.amountCents === DOWN_ONCE_CENTS
      const [first] = await rows(db, FIRST, [id, clock.now(), isDown ? 'down' : 'issued'])
      if (first && isDown)
        throw new Fault('ERR_PROVIDER_UNAVAILABLE', 'the sandbox issuer simulates an outage of one call')
      await rows(db, UP_AGAIN, [id])
      return issuedCard(secret, id, await issuedAt(db, id))
    },
    async reveal(id, signal) {
      signal.throwIfAborted()
      const { expirationMonth, expirationYear } = issuedCard(secret, id, await issuedAt(db, id))
      const pan = cardNumber(secret, id)
      return { pan, cvc: securityCode(secret, pan, expirationMonth, expirationYear) }
    },
  }
}

/** Issues a card of the sandbox in a transaction, for users that come with cards. */
export async function issueInSandbox(
  tx: SqlQueries,
  secret: Uint8Array,
  id: string,
  now: EpochMs,
): Promise<IssuedCard> {
  await rows(tx, FIRST, [id, now, 'issued'])
  return issuedCard(secret, id, now)
}

async function issuedAt(db: SqlQueries, id: string): Promise<EpochMs> {
  const [row] = await rows(db, READ, [id])
  if (!row) throw new Fault('ERR_PROVIDER_REPLY', 'the sandbox issuer has no such card')
  return toInteger(row['at'])
}

function issuedCard(secret: Uint8Array, id: string, at: EpochMs): IssuedCard {
  const date = new Date(at)
  return {
    last4: cardNumber(secret, id).slice(-4),
    expirationMonth: date.getUTCMonth() + 1,
    expirationYear: date.getUTCFullYear() + VALID_YEARS,
  }
}
