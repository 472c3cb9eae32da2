import type { EpochMs } from '@gatewright/kernel'
import { rowLock, rows, toInteger, toText, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { type EventOutcome, type Sealer, events, newId } from '@gatewright/host'
import type { KycApplication, KycReport, Link } from '../../providers/kyc/port.ts'
import { isNewer, lastReported, mayReport, REPORTED } from './reports.ts'
import { digestOf, sealedFields } from './sealed-fields.ts'
import { LOCKED_STATUSES, mayMove, type KycStatus } from './states.ts'

/** The state of an application, without its personal data. */
export interface KycState {
  readonly status: KycStatus
  /** Undefined if nothing was submitted or decided yet. */
  readonly id: string | undefined
  readonly reason: string | null
  readonly completionLink: Link | null
  readonly externalVerificationLink: Link | null
}

/**
 * The outcome of a submission: `repeated` for the same fields while they are pending, `invalid_state` if the status does not allow
 * a submission.
 */
type SubmitOutcome =
  | { readonly outcome: 'submitted' | 'repeated'; readonly id: string }
  | { readonly outcome: 'invalid_state'; readonly status: KycStatus }

/** Identity checks: one application per account, its status in `gw_users`. Every change locks the row of the user first. */
export interface KycRecords {
  read(db: SqlQueries, accountId: string): Promise<KycState>
  submit(tx: SqlQueries, accountId: string, application: KycApplication, now: EpochMs): Promise<SubmitOutcome>
  /** Returns the application to send to the provider; undefined unless its status is `pending`. */
  waiting(db: SqlQueries, id: string): Promise<KycApplication | undefined>
  /**
   * Applies a report of the provider if the status allows it and it is newer, or the newest one while the status is `pending`.
   * `whilePending` is for the provider's response to the job: a decision that was made during the call is kept, and a response
   * without a version counts. `nationalId` is removed from the fields in any case.
   */
  report(
    tx: SqlQueries,
    id: string,
    report: KycReport,
    now: EpochMs,
    only?: { readonly whilePending?: boolean },
  ): Promise<EventOutcome>
  /** Removes `nationalId` from the fields of an application that needs no further call to the provider. */
  dropNationalId(tx: SqlQueries, id: string): Promise<void>
  /**
   * Applies the decision of an operator, from any status, and returns the id of the application. No report ends `locked`,
   * `denied` or `canceled` that an operator decided on. After the decision `pending` the caller must add the job that calls the
   * provider.
   */
  decide(
    tx: SqlQueries,
    accountId: string,
    decision: { readonly status: KycStatus; readonly reason: string | null; readonly cause: string },
    now: EpochMs,
  ): Promise<string>
}

const READ = `select u.account_id, u.kyc_status, a.id, a.fields, a.version, a.reason, a.completion_link, a.verification_link
  from gw_users u left join gw_kyc_applications a on a.account_id = u.account_id`
const SUBMIT = `insert into gw_kyc_applications (account_id, id, fields, submitted_at) values ($1, $2, $3, $4)
  on conflict (account_id) do update set id = excluded.id, fields = excluded.fields, version = null, reason = null,
    completion_link = null, verification_link = null, submitted_at = excluded.submitted_at`
const REPORT = `update gw_kyc_applications
  set fields = $2, version = $3, reason = $4, completion_link = $5, verification_link = $6 where account_id = $1`

/** Makes the records of identity checks in a SQL database. */
export function kycRecords(sealer: Sealer): KycRecords {
  const { open, seal, withoutNationalId } = sealedFields(sealer)
  const readRow = async (db: SqlQueries, accountId: string): Promise<SqlRow | undefined> =>
    (await rows(db, `${READ} where u.account_id = $1`, [accountId]))[0]
  /** Locks the user, then reads. The order matters: a row that was read before the lock could be outdated. */
  const lock = async (tx: SqlQueries, accountId: string): Promise<SqlRow | undefined> => {
    await rows(tx, `select 1 from gw_users where account_id = $1${rowLock(tx, 'for update')}`, [accountId])
    return readRow(tx, accountId)
  }
  const accountOf = async (db: SqlQueries, id: string): Promise<string | undefined> => {
    const [row] = await rows(db, 'select account_id from gw_kyc_applications where id = $1', [id])
    return row && toText(row['account_id'])
  }
  const move = async (
    tx: SqlQueries,
    change: { accountId: string; id: string; from: KycStatus; to: KycStatus; cause: string },
    now: EpochMs,
  ): Promise<void> => {
    const { accountId, id, from, to, cause } = change
    if (from === to) {
      // If an operator confirms a lock by the provider, that is recorded once: from then on no report ends the lock.
      const mayConfirm = cause !== REPORTED && LOCKED_STATUSES.includes(to)
      if (!mayConfirm || !(await lastReported(tx, change))) return
    }
    await rows(tx, 'update gw_users set kyc_status = $2 where account_id = $1', [accountId, to])
    await events.record(tx, { accountId, subject: { kind: 'kyc', id }, from, to, cause }, now)
  }

  return {
    async read(db, accountId) {
      return stateOf((await readRow(db, accountId)) as SqlRow)
    },
    async submit(tx, accountId, application, now) {
      const row = (await lock(tx, accountId)) as SqlRow
      const { status: from, id: known } = stateOf(row)
      const digest = digestOf(application)
      if (!mayMove('submitted', from, 'pending')) {
        const same = from === 'pending' && known !== undefined && open(row)?.digest === digest
        return same ? { outcome: 'repeated', id: known } : { outcome: 'invalid_state', status: from }
      }
      // A new id, because the provider has already responded to the application with the old one.
      const id = newId('kyc')
      await rows(tx, SUBMIT, [accountId, id, seal(accountId, { digest, application }), now])
      await move(tx, { accountId, id, from, to: 'pending', cause: 'submitted' }, now)
      return { outcome: 'submitted', id }
    },
    async waiting(db, id) {
      const accountId = await accountOf(db, id)
      const row = accountId === undefined ? undefined : await readRow(db, accountId)
      return row && row['id'] === id && row['kyc_status'] === 'pending' ? open(row)?.application : undefined
    },
    async report(tx, id, report, now, { whilePending = false } = {}) {
      const accountId = await accountOf(tx, id)
      const row = accountId === undefined ? undefined : await lock(tx, accountId)
      // The application was submitted again between the two reads, and has another id now.
      if (accountId === undefined || row?.['id'] !== id) return 'unknown'
      const { status: from } = stateOf(row)
      const { status: to, version, reason } = report
      const fields = withoutNationalId(row)
      const known = row['version'] === null ? null : toInteger(row['version'])
      // After a decision `pending` the provider is called again, and its newest report counts again; a response counts even
      // without a version.
      const repeated = from === 'pending' && (version === known || (whilePending && version === null))
      const late = whilePending && from !== 'pending'
      const newer = !late && (repeated || isNewer(version, known))
      const newest = newer ? (version ?? known) : known
      if (!newer || !(await mayReport(tx, { accountId, id, from, to, version }))) {
        const text = 'update gw_kyc_applications set fields = $2, version = $3 where account_id = $1'
        // The version of a report is stored even if the report is not applied, so that an older report that arrives later is
        // ignored.
        await rows(tx, text, [accountId, fields, newest])
        return 'ignored'
      }
      // An erased application gets no links, because they open pages about the person.
      const links = [report.completionLink, report.externalVerificationLink].map(each =>
        each === null || fields === null ? null : JSON.stringify(each),
      )
      await rows(tx, REPORT, [accountId, fields, newest, reason, ...links])
      await move(tx, { accountId, id, from, to, cause: REPORTED }, now)
      return 'applied'
    },
    async dropNationalId(tx, id) {
      const accountId = await accountOf(tx, id)
      const row = accountId === undefined ? undefined : await lock(tx, accountId)
      if (row?.['id'] !== id) return
      const text = 'update gw_kyc_applications set fields = $2 where id = $1'
      await rows(tx, text, [id, withoutNationalId(row)])
    },
    async decide(tx, accountId, { status: to, reason, cause }, now) {
      const { status: from, id: known } = stateOf((await lock(tx, accountId)) as SqlRow)
      const id = known ?? newId('kyc')
      // The version stays, so that an older report that arrives later is ignored.
      const text = `insert into gw_kyc_applications (account_id, id, reason, submitted_at) values ($1, $2, $3, $4)
        on conflict (account_id) do update set reason = excluded.reason, completion_link = null, verification_link = null`
      await rows(tx, text, [accountId, id, reason, now])
      await move(tx, { accountId, id, from, to, cause }, now)
      return id
    },
  }
}

function stateOf(row: SqlRow): KycState {
  const linkOrNull = (value: unknown): Link | null =>
    value === null ? null : (JSON.parse(toText(value)) as Link)
  return {
    status: toText(row['kyc_status']) as KycStatus,
    id: row['id'] === null ? undefined : toText(row['id']),
    reason: row['reason'] === null ? null : toText(row['reason']),
    completionLink: linkOrNull(row['completion_link']),
    externalVerificationLink: linkOrNull(row['verification_link']),
  }
}
