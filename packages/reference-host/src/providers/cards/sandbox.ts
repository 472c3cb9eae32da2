import { Fault, type EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import { SANDBOX_PROVIDER, sandboxCalls, type SandboxCalls, type SandboxOptions } from '../sandbox.ts'
import { cardNumber, securityCode } from './card-numbers.ts'
import type { CardIssuer, IssuedCard } from './port.ts'

const REJECTED_CENTS = 1_000_003
const DOWN_ONCE_CENTS = 1_000_004
const VALID_YEARS = 3

/**
 * Makes the built-in issuer of a sandbox. It stores when each card was issued, and no card number: numbers are derived from the secret
 * and the id of the card. Two limits are magic: 1 000 003 cents is rejected, with 1 000 004 the issuer is down at the first call.
 */
export function sandboxIssuer({
  db,
  clock,
  secret,
}: Pick<SandboxOptions, 'db' | 'clock' | 'secret'>): CardIssuer {
  const calls = sandboxCalls(db, 'cards')
  return {
    name: SANDBOX_PROVIDER,
    async issue(id, { limit }, signal) {
      signal.throwIfAborted()
      const now = clock.now()
      if (limit?.amountCents === REJECTED_CENTS) {
        await calls.addFirst(id, now, 'refused')
        return { rejected: 'the sandbox refuses this limit' }
      }
      const isDown = limit?.amountCents === DOWN_ONCE_CENTS
      const isFirst = await calls.addFirst(id, now, isDown ? 'down' : 'issued')
      if (isFirst && isDown)
        throw new Fault('ERR_PROVIDER_UNAVAILABLE', 'the sandbox issuer simulates an outage of one call')
      await calls.replace(id, 'down', now, 'issued')
      return issuedCard(secret, id, await issuedAt(calls, id))
    },
    async reveal(id, signal) {
      signal.throwIfAborted()
      const { expirationMonth, expirationYear } = issuedCard(secret, id, await issuedAt(calls, id))
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
  await sandboxCalls(tx, 'cards').addFirst(id, now, 'issued')
  return issuedCard(secret, id, now)
}

async function issuedAt(calls: SandboxCalls, id: string): Promise<EpochMs> {
  const call = await calls.find(id)
  if (call?.what !== 'issued') throw new Fault('ERR_PROVIDER_REPLY', 'the sandbox issuer has no such card')
  return call.at
}

function issuedCard(secret: Uint8Array, id: string, at: EpochMs): IssuedCard {
  const date = new Date(at)
  return {
    last4: cardNumber(secret, id).slice(-4),
    expirationMonth: date.getUTCMonth() + 1,
    expirationYear: date.getUTCFullYear() + VALID_YEARS,
  }
}
