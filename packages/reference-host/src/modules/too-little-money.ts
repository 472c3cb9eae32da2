import type { HostDenial } from '@gatewright/host'
import { deny } from '../product/denials.ts'

/** Denies a movement of more money than there is. The denial is not stored, so that the same request works once there is enough. */
export function tooLittleMoney(availableCents: number): HostDenial {
  return deny('invalid_request', `amountCents is more than there is: ${availableCents} US cents`, {
    field: 'amountCents',
    details: { reason: 'insufficient_balance', availableCents },
  })
}
