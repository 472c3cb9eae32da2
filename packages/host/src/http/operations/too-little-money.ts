import { money } from '../../schemas/us-dollars.ts'
import { deny, type HostDenial } from '../codes.ts'

/**
 * Makes the denial for a balance that is too small. It is not stored, so that the same request works once there is enough
 * money. Amounts are in US cents.
 */
export function tooLittleMoney(availableCents: number, requestedCents: number): HostDenial {
  const message = `the balance is ${money(availableCents)}: ${money(requestedCents)} requested`
  return deny('insufficient_balance', message, {
    field: 'amountCents',
    details: { availableCents, requestedCents },
  })
}
