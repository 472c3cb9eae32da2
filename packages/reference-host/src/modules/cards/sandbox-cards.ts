import { randomInt } from 'node:crypto'
import type { EpochMs } from '@gatewright/kernel'
import { newId } from '../../records/owned-rows.ts'
import { LIMIT_FREQUENCIES, type NewCard } from './card.ts'

const STATUSES = ['active', 'active', 'active', 'locked', 'not_activated', 'canceled'] as const
/** Makes up 25 cards for a new partner user of a sandbox, enough for several pages. */
export function sandboxCards(now: EpochMs): NewCard[] {
  const year = new Date(now).getUTCFullYear()
  return Array.from({ length: 25 }, () => ({
    id: newId('card'),
    last4: String(randomInt(10_000)).padStart(4, '0'),
    status: STATUSES[randomInt(STATUSES.length)] as NewCard['status'],
    limit:
      randomInt(4) === 0
        ? null
        : {
            amountCents: 1000 * randomInt(1, 500),
            frequency: LIMIT_FREQUENCIES[randomInt(LIMIT_FREQUENCIES.length)] as 'allTime',
          },
    expirationMonth: randomInt(1, 13),
    expirationYear: year + randomInt(1, 5),
    ...{ encryptedName: null, encryptedColor: null, encryptedEmoji: null, encryptedMemo: null },
    ...{ folderId: null, disposable: false, autoCancelAfterAuth: false, issuer: 'sandbox' },
    ...{ keyLineage: null, sessionPolicies: [] },
  }))
}
