import { randomInt } from 'node:crypto'
import { allow, type Verdict } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { HostDenial } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import { lockAccount } from '../users/lock-account.ts'

/** The referrals of an account: its own code, how many accounts applied it, and whether it applied another's code. */
export interface Referral {
  readonly code: string
  readonly joined: number
  readonly appliedCode: string | null
}

/** Without vowels, so that no code is a word. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_LENGTH = 6

const FIND = 'select referral_code, referred_by from gw_users where account_id = $1'
const CODE = 'select account_id, joined from gw_referral_codes where code = $1'
const ADD_CODE = `insert into gw_referral_codes (code, account_id) values ($1, $2)
  on conflict (code) do nothing returning code`
const GIVE_CODE = 'update gw_users set referral_code = $2 where account_id = $1'
// One statement, so that of two codes that are applied simultaneously the first stays.
const APPLY = `update gw_users set referred_by = $2 where account_id = $1 and referred_by is null returning id`
const COUNT = 'update gw_referral_codes set joined = joined + 1 where code = $1'

/** Reads the referrals of an account; undefined if it has no code yet. */
async function find(db: SqlQueries, accountId: string): Promise<Referral | undefined> {
  const [user] = await rows(db, FIND, [accountId])
  const code = user?.['referral_code'] ?? null
  if (code === null) return undefined
  const [counted] = await rows(db, CODE, [toText(code)])
  const appliedCode = user?.['referred_by'] ?? null
  return {
    code: toText(code),
    joined: toInteger(counted?.['joined']),
    appliedCode: appliedCode === null ? null : toText(appliedCode),
  }
}

/** Reads the referrals of an account, and first generates its code if it has none. Simultaneous calls generate one. */
async function findOrGiveCode(tx: SqlQueries, accountId: string): Promise<Referral> {
  await lockAccount(tx, accountId)
  for (;;) {
    const found = await find(tx, accountId)
    if (found) return found
    const code = Array.from({ length: CODE_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
    // If another account has this code, nothing is inserted, and the loop generates another code.
    const added = await rows(tx, ADD_CODE, [code, accountId])
    if (added.length > 0) await rows(tx, GIVE_CODE, [accountId, code])
  }
}

/** Reads the referrals of an account. Its code is generated at the first read and never changes. */
export async function readReferral(db: SqlClient, accountId: string): Promise<Referral> {
  return (await find(db, accountId)) ?? db.transaction(tx => findOrGiveCode(tx, accountId))
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
  const [owner] = await rows(tx, CODE, [code])
  if (!owner) return deny('not_found', 'no account has this code', { field })
  if (owner['account_id'] === accountId)
    return deny('invalid_request', 'code must be that of another account', { field })
  const applied = await rows(tx, APPLY, [accountId, code])
  if (applied.length > 0) await rows(tx, COUNT, [code])
  const referral = await findOrGiveCode(tx, accountId)
  if (referral.appliedCode !== code)
    return deny('invalid_request', 'another code was applied before: it cannot be changed', { field })
  return allow(referral)
}
