import { allow, type Verdict } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type * as Type from 'typebox/type'
import { deny, type HostDenial } from '../../../http/codes.ts'
import type { Success } from '../../../http/operation.ts'
import { idText } from '../../../schemas/names.ts'
import type { ModuleServices } from '../../services.ts'
import type { Payin } from '../payins/payin.ts'
import { isOpen } from '../payins/states.ts'
import { wirePayin } from './wire.ts'

/** The pay-in that a request names. */
export const PayinId: Type.TString = idText(120, 'The pay-in, by its id')

/** The caller's pay-in, locked, if it is settled or can still be. Denials: `not_found`, `invalid_request`. */
export async function lockPayin(
  payins: ModuleServices['payins'],
  tx: SqlQueries,
  accountId: string,
  id: string,
): Promise<Verdict<Payin, HostDenial>> {
  const payin = await payins.lock(tx, id, accountId)
  // Another account's pay-in is no more there than one that never was.
  if (!payin) return deny('not_found', 'no such pay-in', { field: 'payinId' })
  const { status } = payin
  if (status === 'settled' || isOpen(status)) return allow(payin)
  return denyPayin(`is ${status}: ask for a new one`)
}

/** A pay-in that cannot be paid in this way. */
export function denyPayin(why: string): HostDenial {
  return deny('invalid_request', `this pay-in ${why}`, { field: 'payinId' })
}

/** The pay-in as it stands now. */
export function payinSuccess(payin: Payin): Verdict<Success> {
  const summary =
    payin.status === 'settled' ? 'The pay-in is settled.' : 'The pay-in settles once its chain confirms it.'
  return allow({ data: { payin: wirePayin(payin) }, summary })
}
