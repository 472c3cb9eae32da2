import { deny, type HostDenial } from '../codes.ts'

/**
 * Makes the denial for a balance that is too small. It is not stored, so that the same request works once there is enough
 * money.
 */
export function tooLittleMoney(availableCents: number): HostDenial {
  return deny('invalid_request', `amountCents is more than there is: ${availableCents} US cents`, {
    field: 'amountCents',
    details: { reason: 'insufficient_balance', availableCents },
  })
}
