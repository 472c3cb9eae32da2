import { newId } from '@gatewright/host'
import { randomInt } from 'node:crypto'
import { SANDBOX_PROVIDER } from '../../providers/sandbox.ts'
import { issueInSandbox } from '../../providers/cards/sandbox.ts'
import { LIMIT_FREQUENCIES, NO_LABELS, type NewCard } from './card.ts'
import type { SeedCards } from '../users/resolve.ts'
import { cards } from './store.ts'

const STATUSES = ['active', 'active', 'active', 'locked', 'not_activated', 'canceled'] as const
const COUNT = 25

/**
 * Makes the function that gives new partner users of a sandbox 25 random cards of the built-in issuer, enough for several
 * pages.
 */
export function seedSandboxCards(secret: Uint8Array): SeedCards {
  return async (tx, accountId, now) => {
    const made: NewCard[] = []
    for (let count = 0; count < COUNT; count += 1) {
      const id = newId('card')
      made.push({
        id,
        ...(await issueInSandbox(tx, secret, id, now)),
        issuer: SANDBOX_PROVIDER,
        status: STATUSES[randomInt(STATUSES.length)] as NewCard['status'],
        limit: randomInt(4) === 0 ? null : randomLimit(),
        ...NO_LABELS,
        folderId: null,
        disposable: false,
        autoCancelAfterAuth: false,
        keyLineage: null,
        sessionPolicies: [],
      })
    }
    await cards.insert(tx, accountId, made, now)
  }
}

function randomLimit(): NewCard['limit'] {
  const frequency = LIMIT_FREQUENCIES[randomInt(LIMIT_FREQUENCIES.length)] as 'allTime'
  return { amountCents: 1000 * randomInt(1, 500), frequency }
}
