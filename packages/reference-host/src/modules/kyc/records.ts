import { malformedReply, type EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { events, type EventOutcome, newId } from '@gatewright/host'
import { type Sealer } from '@gatewright/host/internal'
import type { KycApplication, KycReport, Link } from '../../providers/kyc/port.ts'
import { accountOfObject, addObject, removeObject } from '../../product/provider-objects.ts'
import { applications, findCheck, lockApplication, lockCheck } from './applications.ts'
import { isCounted, lastReported, mayReport, REPORTED } from './reports.ts'
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
    at: { readonly now: EpochMs; readonly whilePending?: boolean },
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

const NO_LINKS = { completionLink: null, externalVerificationLink: null }
const SUBMIT = `insert into gw_kyc_applications (account_id, id, fields, submitted_at) values ($1, $2, $3, $4)
  on conflict (account_id) do update set id = excluded.id, fields = excluded.fields, version = null, reason = null,
    completion_link = null, verification_link = null, submitted_at = excluded.submitted_at`
// The version stays, so that an older report that arrives later is ignored.
const DECIDE = `insert into gw_kyc_applications (account_id, id, reason, submitted_at) values ($1, $2, $3, $4)
  on conflict (account_id) do update set reason = excluded.reason, completion_link = null, verification_link = null`

/** Makes the records of identity checks in a SQL database. */
export function kycRecords(sealer: Sealer): KycRecords {
  const { open, seal, withoutNationalId } = sealedFields(sealer)
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
    await events.record(tx, { accountId, subject: { kind: 'kyc', id }, from, to, cause, keep: true }, now)
  }

  return {
    async read(db, accountId) {
      const check = await findCheck(db, accountId)
      if (!check) throw malformedReply('database', 'the user of an account')
      const { status, application } = check
      return {
        status,
        id: application?.id,
        reason: application?.reason ?? null,
        completionLink: application?.completionLink ?? null,
        externalVerificationLink: application?.externalVerificationLink ?? null,
      }
    },
    async submit(tx, accountId, application, now) {
      const { status: from, application: known } = await lockCheck(tx, accountId)
      const digest = digestOf(application)
      if (!mayMove('submitted', from, 'pending')) {
        const same = from === 'pending' && known && open(known)?.digest === digest
        return same ? { outcome: 'repeated', id: known.id } : { outcome: 'invalid_state', status: from }
      }
      // A new id, because the provider has already responded to the application with the old one.
      const id = newId('kyc')
      if (known) await removeObject(tx, 'kyc', known.id)
      await addObject(tx, 'kyc', { id, accountId })
      await rows(tx, SUBMIT, [accountId, id, seal(accountId, { digest, application }), now])
      await move(tx, { accountId, id, from, to: 'pending', cause: 'submitted' }, now)
      return { outcome: 'submitted', id }
    },
    async waiting(db, id) {
      const accountId = await accountOfObject(db, 'kyc', id)
      const check = accountId === undefined ? undefined : await findCheck(db, accountId)
      return check?.application?.id === id && check.status === 'pending'
        ? open(check.application)?.application
        : undefined
    },
    async report(tx, id, report, { now, whilePending = false }) {
      const locked = await lockApplication(tx, id)
      if (!locked) return 'unknown'
      const { status: from, application } = locked
      const { accountId, version: known } = application
      const { status: to, version, reason } = report
      const fields = withoutNationalId(application)
      const newer = isCounted({ from, version, known, whilePending })
      const newest = { fields, version: newer ? (version ?? known) : known }
      if (!newer || !(await mayReport(tx, { accountId, id, from, to, version }))) {
        // The version of a report is stored even if the report is not applied, so that an older report that arrives later is
        // ignored.
        await applications.update(tx, application, newest)
        return 'ignored'
      }
      // An erased application gets no links, because they open pages about the person.
      const { completionLink, externalVerificationLink } = fields === null ? NO_LINKS : report
      await applications.update(tx, application, {
        ...newest,
        reason,
        completionLink,
        externalVerificationLink,
      })
      await move(tx, { accountId, id, from, to, cause: REPORTED }, now)
      return 'applied'
    },
    async dropNationalId(tx, id) {
      const locked = await lockApplication(tx, id)
      if (!locked) return
      const { application } = locked
      await applications.update(tx, application, { fields: withoutNationalId(application) })
    },
    async decide(tx, accountId, { status: to, reason, cause }, now) {
      const { status: from, application } = await lockCheck(tx, accountId)
      const id = application?.id ?? newId('kyc')
      if (!application) await addObject(tx, 'kyc', { id, accountId })
      await rows(tx, DECIDE, [accountId, id, reason, now])
      await move(tx, { accountId, id, from, to, cause }, now)
      return id
    },
  }
}
