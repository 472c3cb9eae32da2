import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { requests } from '@gatewright/host/internal'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { userMoney } from '../balances/user-money.ts'
import { accountOfUser } from '../find-account.ts'
import { lockAccount } from './lock-account.ts'

/** The obstacles to erasing a user: money and open cards. */
interface EraseObstacles {
  readonly moneyCents: number
  readonly openCards: number
}

/** Whether a user was erased, and if not, why not. */
type EraseResult =
  | { readonly erased: true; readonly accountId: string }
  | { readonly erased: false; readonly obstacles: EraseObstacles | undefined }

/** Counts the obstacles to erasing a user. */
export async function eraseObstacles(db: SqlQueries, accountId: string): Promise<EraseObstacles> {
  const text = "select count(*) as n from gw_cards where account_id = $1 and status <> 'canceled'"
  const [row] = await rows(db, text, [accountId])
  return { moneyCents: await userMoney(db, accountId), openCards: toInteger(row?.['n']) }
}

/**
 * Erases the personal data of a user: profile, KYC fields, and the data key, so that texts which the account has encrypted can
 * never be decrypted, and its kept requests. Denied while the user has money or an open card, and for an unknown user (without obstacles). The account
 * stays, with its transactions and events. Repeating it changes nothing.
 */
export async function eraseUser(tx: SqlQueries, userId: string): Promise<EraseResult> {
  const accountId = accountOfUser(userId)
  const user = await rows(tx, 'select 1 from gw_users where account_id = $1 and id = $2', [accountId, userId])
  if (user.length === 0) return { erased: false, obstacles: undefined }
  await lockAccount(tx, accountId)
  const obstacles = await eraseObstacles(tx, accountId)
  if (obstacles.moneyCents !== 0 || obstacles.openCards > 0) return { erased: false, obstacles }
  await rows(tx, 'update gw_users set profile = null, data_key = null where account_id = $1', [accountId])
  // The links are erased, too, because they open the person's pages at the provider.
  const blank = `update gw_kyc_applications
    set fields = null, reason = null, completion_link = null, verification_link = null where account_id = $1`
  await rows(tx, blank, [accountId])
  await requests.erase(tx, accountId)
  return { erased: true, accountId }
}
