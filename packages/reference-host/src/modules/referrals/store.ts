import { randomInt } from 'node:crypto'
import { allow, type Verdict } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { HostDenial } from '@gatewright/host/internal'
import { deny } from '../../product/denials.ts'

/** The referrals of an account: its own code, how many accounts applied it, and whether it applied another's code. */
export interface Referral {
  readonly code: string
  readonly joined: number
  readonly appliedCode: string | null
}

/** Without vowels, so that no code is a word. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_LENGTH = 6

const FIND = `select referral_code, referred_by,
    (select count(*) from gw_users invited where invited.referred_by = u.referral_code) as joined
  from gw_users u where account_id = $1`
const GIVE_CODE = `update gw_users set referral_code = $2 where account_id = $1 and referral_code is null
  and not exists (select 1 from gw_users taken where taken.referral_code = $2)`
const OWNER = 'select account_id from gw_users where referral_code = $1'
// One statement, so that of two codes that are applied simultaneously the first stays.
const APPLY = `update gw_users set referred_by = $2 where account_id = $1
  and (referred_by is null or referred_by = $2) returning id`

/** Reads the referrals of an account. Its code is generated at the first read and never changes. */
export async function readReferral(db: SqlQueries, accountId: string): Promise<Referral> {
  for (;;) {
    const [row] = await rows(db, FIND, [accountId])
    if (row?.['referral_code'] !== null) {
      const appliedCode = row?.['referred_by'] ?? null
      return {
        code: toText(row?.['referral_code']),
        joined: toInteger(row?.['joined']),
        appliedCode: appliedCode === null ? null : toText(appliedCode),
      }
    }
    // If another account has this code, the statement changes nothing, and the loop generates another code.
    const code = Array.from({ length: CODE_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
    await rows(db, GIVE_CODE, [accountId, code])
  }
}

/**
 * Applies the code of another account, once. Denials: `not_found`, `invalid_request` for the account's own code, or if it has
 * applied one before.
 */
export async function applyReferral(
  tx: SqlQueries,
  accountId: string,
  code: string,
): Promise<Verdict<Referral, HostDenial>> {
  const field = 'code'
  const [owner] = await rows(tx, OWNER, [code])
  if (!owner) return deny('not_found', 'no account has this code', { field })
  if (owner['account_id'] === accountId)
    return deny('invalid_request', 'code must be that of another account', { field })
  const applied = await rows(tx, APPLY, [accountId, code])
  if (applied.length === 0)
    return deny('invalid_request', 'another code was applied before: it cannot be changed', { field })
  return allow(await readReferral(tx, accountId))
}
