import type { EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import { defer } from '@gatewright/kernel/internal/sql'
import { type Money, events, type EventOutcome } from '@gatewright/host'
import { pageSql, type PageOf } from '@gatewright/host/tables'
import { applyKept } from '@gatewright/host/internal'
import type { DepositStatus, NewDeposit, OpenDeposit } from '../../providers/deposits/port.ts'
import { canonicalAddress } from '../../chain/addresses.ts'
import { anyDeposit, depositTable, type Deposit } from './deposit.ts'
import { addObject } from '../../product/provider-objects.ts'
import { keepConflict } from './payment-conflict.ts'
import { creditPayment, readPayments, type DepositPaymentSummary } from './payments.ts'
import { depositReportEvent, type ReportDeposit } from './report-event.ts'

/** A page of a list. With `openSince`, only deposits without a payment that were made after that time. */
interface DepositPage extends PageOf {
  readonly openSince: EpochMs | undefined
}

/** The deposits of all accounts. Every change locks the row of the deposit first. */
export interface DepositRecords {
  /**
   * Stores a deposit that the provider has opened, and applies reports about it that were kept because it was unknown. The caller has
   * checked that the id is new.
   */
  create(
    tx: SqlQueries,
    deposit: NewDeposit & OpenDeposit & Pick<Deposit, 'id' | 'accountId' | 'provider'>,
    now: EpochMs,
  ): Promise<Deposit>
  page(db: SqlQueries, accountId: string, page: DepositPage): Promise<Deposit[]>
  /** Returns the payments to each deposit that has any, by deposit id. */
  payments(db: SqlQueries, deposits: readonly Deposit[]): Promise<ReadonlyMap<string, DepositPaymentSummary>>
  /**
   * Credits every payment that was not credited before, in any state of the deposit, and changes its state. Each payment id of
   * a provider is credited once, ever: another payment with the same id is recorded on the deposit as `attention`, with an
   * event. `ignored`: nothing changed, or a payment could not be credited and no other was. `unknown`: this provider has no
   * such deposit.
   */
  readonly report: ReportDeposit
}

/** The services that the records use. */
interface DepositServices {
  readonly money: Money
  /** Receives warnings for the operator. */
  readonly report: (error: unknown) => void
}

const KIND = 'deposit'
// A provider may use one address for several deposits, told apart by `extraId`.
const ADD_ADDRESS = 'insert into gw_provider_addresses (address) values ($1) on conflict do nothing'
const WAITING = "status in ('awaitingDeposit', 'processing')"

/** Whether a provider's report may move a deposit. A payment completes a deposit in any state. */
export function mayMoveDeposit(from: DepositStatus, to: DepositStatus): boolean {
  if (from === 'awaitingDeposit') return to === 'processing' || to === 'failed'
  return from === 'processing' && to === 'failed'
}

/** Makes the records of deposits in a SQL database. */
export function depositRecords(services: DepositServices): DepositRecords {
  const { money } = services
  const report: ReportDeposit = async (tx, provider, { id, status, payments }, now) => {
    const deposit = await anyDeposit.lock(tx, id)
    if (deposit?.provider !== provider) return 'unknown'
    let from = deposit.status
    const moveTo = async (to: DepositStatus, cause: string, amountCents: number | null): Promise<void> => {
      await depositTable.update(tx, deposit, { status: to, updatedAt: now })
      const event = { accountId: deposit.accountId, subject: { kind: KIND, id }, cause, amountCents }
      await events.record(tx, { ...event, from, to }, now)
      from = to
    }
    let [outcome, conflict]: [EventOutcome, boolean] = ['ignored', false]
    for (const payment of payments) {
      const result = await creditPayment(tx, deposit, payment, { money, now })
      if (result === 'conflict') {
        await keepConflict(tx, { ...deposit, status: from }, payment, { report: services.report, now })
        conflict = true
      } else if (result === 'done') {
        await moveTo('completed', 'paid', payment.creditedCents)
        outcome = 'applied'
      }
    }
    // Only a credited payment completes a deposit. A report `completed` without payments means that a payment was seen and is
    // not credited yet.
    const to = status === 'completed' ? 'processing' : status
    if (mayMoveDeposit(from, to)) {
      await moveTo(to, 'reported', null)
      if (!conflict) outcome = 'applied'
    }
    return outcome
  }

  return {
    report,
    payments: readPayments,
    async create(tx, deposit, now) {
      const { id, accountId } = deposit
      const depositAddress = canonicalAddress(deposit.depositAddress)
      const stored = await depositTable.insert(tx, {
        ...deposit,
        depositAddress,
        status: 'awaitingDeposit',
        createdAt: now,
        updatedAt: now,
      })
      if (!stored) throw new Error(`deposit ${id} exists already`)
      await addObject(tx, KIND, stored)
      await defer(tx, ADD_ADDRESS, [depositAddress])
      const event = { accountId, subject: { kind: KIND, id }, to: stored.status, cause: 'created' }
      await events.record(tx, event, now)
      const object = { provider: deposit.provider, objectId: id }
      const isReported = await applyKept(tx, object, { 'deposit.report': depositReportEvent(report) }, now)
      return isReported ? ((await depositTable.find(tx, accountId, id)) ?? stored) : stored
    },
    page(db, accountId, { openSince, ...page }) {
      if (openSince === undefined) return depositTable.page(db, accountId, page)
      const values = [accountId, openSince]
      const conditions = `where account_id = $1 and ${WAITING} and created_at > $2`
      return depositTable.select(db, conditions + pageSql(page, values), values)
    },
  }
}
