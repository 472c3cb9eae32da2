import { rows, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { type Row, instant, integer, json, named, nullable, table, text } from '@gatewright/host/tables'
import { accountOfObject } from '../../product/provider-objects.ts'
import type { Link } from '../../providers/kyc/port.ts'
import { lockAccount } from '../users/lock-account.ts'
import type { KycStatus } from './states.ts'

export const applications = table('gw_kyc_applications', {
  id: text,
  accountId: text,
  /** The personal data, encrypted. Null after it was erased, or if an operator decided before anything was submitted. */
  fields: nullable(text),
  /** The version of the provider's newest report; null before a report with a version. */
  version: nullable(integer),
  reason: nullable(text),
  completionLink: nullable(json<Link>()),
  externalVerificationLink: named('verification_link', nullable(json<Link>())),
  submittedAt: instant,
})
/** The application of an account. */
type Application = Row<typeof applications>

/** The identity check of an account. */
interface KycCheck {
  readonly status: KycStatus
  /** Undefined if nothing was submitted or decided yet. */
  readonly application: Application | undefined
}

const READ = `select u.kyc_status, a.* from gw_users u
  left join gw_kyc_applications a on a.account_id = u.account_id where u.account_id = $1`

function applicationOf(row: SqlRow): Application | undefined {
  return row['id'] === null ? undefined : applications.read(row)
}

/** Returns the identity check of an account; undefined for an account without a user. */
export async function findCheck(db: SqlQueries, accountId: string): Promise<KycCheck | undefined> {
  const [row] = await rows(db, READ, [accountId])
  return row && { status: row['kyc_status'] as KycStatus, application: applicationOf(row) }
}

/** Locks an account, then reads. The order matters: an application that was read before the lock could be outdated. */
export async function lockCheck(tx: SqlQueries, accountId: string): Promise<KycCheck> {
  const { kycStatus } = await lockAccount(tx, accountId)
  const [application] = await applications.select(tx, 'where account_id = $1', [accountId])
  return { status: kycStatus as KycStatus, application }
}

/** The same by the id of an application. Undefined for an unknown id; an application that is submitted again gets another id. */
export async function lockApplication(
  tx: SqlQueries,
  id: string,
): Promise<{ readonly status: KycStatus; readonly application: Application } | undefined> {
  const accountId = await accountOfObject(tx, 'kyc', id)
  const locked = accountId === undefined ? undefined : await lockCheck(tx, accountId)
  // It was submitted again between the two reads.
  if (locked?.application?.id !== id) return undefined
  return { status: locked.status, application: locked.application }
}
