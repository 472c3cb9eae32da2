import { allow, type Verdict } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type * as Type from 'typebox/type'
import { idText } from '@gatewright/host/schemas'
import type { Success, HostDenial } from '@gatewright/host'
import { deny } from '../../../product/denials.ts'
import { payins } from '../payins/payin-store.ts'
import type { Payin } from '../payins/payin.ts'
import { isOpen } from '../payins/states.ts'
import { payinData } from './fields.ts'

/** Schema of the pay-in id in a request. */
export const PayinId: Type.TString = idText(120, 'The pay-in, by its id')

/**
 * Locks the caller's pay-in if it is settled or can still be paid. Denials: `not_found`, `invalid_request`.
 */
export async function lockPayin(
  tx: SqlQueries,
  accountId: string,
  id: string,
): Promise<Verdict<Payin, HostDenial>> {
  const payin = await payins.lock(tx, accountId, id)
  // Other accounts' pay-ins are denied like unknown ids.
  if (!payin) return deny('not_found', 'no such pay-in', { field: 'payinId' })
  const { status } = payin
  if (status === 'settled' || isOpen(status)) return allow(payin)
  return denyPayin(`is ${status}: ask for a new one`)
}

/** Makes the denial of a payment that the current state of a pay-in does not allow. */
export function denyPayin(why: string): HostDenial {
  return deny('invalid_request', `this pay-in ${why}`, { field: 'payinId' })
}

/** Responds with the current state of a pay-in. */
export function payinSuccess(payin: Payin): Verdict<Success> {
  const summary =
    payin.status === 'settled' ? 'The pay-in is settled.' : 'The pay-in settles once its chain confirms it.'
  return allow({ data: { payin: payinData(payin) }, summary })
}
