import type { EpochMs } from '@gatewright/kernel'
import {
  rows,
  toInteger,
  toText,
  type SqlDialect,
  type SqlQueries,
  type SqlRow,
} from '@gatewright/kernel/sql'
import type { Money } from '../../ledger/money.ts'
import type { DepositReport, DepositStatus, NewDeposit, OpenDeposit } from '../../providers/deposits.ts'
import type { EventStore } from '../../records/events.ts'
import { ownedRows, type OwnedRows } from '../../records/owned-rows.ts'
import type { EventOutcome } from '../system/provider-events.ts'
import type { Deposit } from './deposit.ts'
import { keepConflict } from './payment-conflict.ts'
import { creditPayment, readPayments, type DepositPayments } from './payments.ts'

/** A page of a list. With `openSince`, only deposits that wait for money and were made after that time. */
interface DepositPage {
  readonly after: number
  readonly limit: number
  readonly openSince: EpochMs | undefined
}

/** The deposits of all accounts. Every change locks the row of the deposit first. */
export interface DepositRecords extends Pick<OwnedRows<Deposit>, 'find'> {
  /** Stores a deposit that the provider has opened. The caller has checked that the id is new. */
  create(
    tx: SqlQueries,
    deposit: NewDeposit & OpenDeposit & Pick<Deposit, 'id' | 'accountId' | 'provider'>,
    now: EpochMs,
  ): Promise<Deposit>
  /** Returns the deposit of an id whatever its account is, for the work beside requests. */
  findAny(db: SqlQueries, id: string): Promise<Deposit | undefined>
  page(db: SqlQueries, accountId: string, page: DepositPage): Promise<Deposit[]>
  /** Returns what was paid to each deposit that was paid, by its id. */
  payments(db: SqlQueries, deposits: readonly Deposit[]): Promise<ReadonlyMap<string, DepositPayments>>
  /**
   * Credits every payment that was not credited before, whatever state the deposit is in, and moves its state. A payment id of a provider
   * is credited once, ever: a payment with the id of another is kept on the deposit as `attention`, with an event. `ignored`:
   * nothing changed, or a payment could not be credited and no other was. `unknown`: this provider has no such deposit.
   */
  report(
    tx: SqlQueries,
    provider: string,
    report: DepositReport & { readonly id: string },
    now: EpochMs,
  ): Promise<EventOutcome>
}

/** What the records work with. */
interface DepositServices {
  readonly dialect: SqlDialect
  readonly money: Money
  readonly events: EventStore
  /** Takes what an operator must know. */
  readonly report: (error: unknown) => void
}

const KIND = 'deposit'
const WAITING = "status in ('awaitingDeposit', 'processing')"

/** Whether a provider's report may move a deposit. A payment completes a deposit in any state. */
export function mayMoveDeposit(from: DepositStatus, to: DepositStatus): boolean {
  if (from === 'awaitingDeposit') return to === 'processing' || to === 'failed'
  return from === 'processing' && to === 'failed'
}

/** Makes the records of deposits in a SQL database. */
export function depositRecords(services: DepositServices): DepositRecords {
  const { dialect, money, events } = services
  const { find, insert, lock } = ownedRows(dialect, 'gw_deposits', toDeposit)
  const findAny: DepositRecords['findAny'] = async (db, id) => {
    const [row] = await rows(db, 'select * from gw_deposits where id = $1', [id])
    return row && toDeposit(row)
  }

  return {
    find,
    findAny,
    payments: readPayments,
    async create(tx, deposit, now) {
      const { id, accountId, provider, reference, depositAddress, extraId, chainId, ...terms } = deposit
      const stored = await insert(tx, {
        id,
        account_id: accountId,
        provider,
        provider_reference: reference,
        currency: terms.currency,
        network: terms.network,
        amount: terms.amount,
        min_amount: terms.minAmount,
        max_amount: terms.maxAmount,
        chain_id: chainId,
        extra_id: extraId,
        deposit_address: canonical(depositAddress),
        status: 'awaitingDeposit',
        created_at: now,
        updated_at: now,
      })
      if (!stored) throw new Error(`deposit ${id} exists already`)
      const event = { accountId, subject: { kind: KIND, id }, to: stored.status, cause: 'created' }
      await events.record(tx, event, now)
      return stored
    },
    async page(db, accountId, { after, limit, openSince }) {
      const text = `select * from gw_deposits where account_id = $1 and position < $2
        ${openSince === undefined ? '' : `and ${WAITING} and created_at > $4`} order by position desc limit $3`
      const values = [accountId, after === 0 ? Number.MAX_SAFE_INTEGER : after, limit]
      return (await rows(db, text, openSince === undefined ? values : [...values, openSince])).map(toDeposit)
    },
    async report(tx, provider, { id, status, payments }, now) {
      const known = await findAny(tx, id)
      if (known?.provider !== provider) return 'unknown'
      const deposit = (await lock(tx, known.accountId, id)) as Deposit
      let from = deposit.status
      const moveTo = async (to: DepositStatus, cause: string, amountCents: number | null): Promise<void> => {
        const update = 'update gw_deposits set status = $2, updated_at = $3 where id = $1'
        await rows(tx, update, [id, to, now])
        const event = { accountId: deposit.accountId, subject: { kind: KIND, id }, cause, amountCents }
        await events.record(tx, { ...event, from, to }, now)
        from = to
      }
      let [outcome, conflict]: [EventOutcome, boolean] = ['ignored', false]
      for (const payment of payments) {
        const result = await creditPayment(tx, money, deposit, payment, now)
        if (result === 'conflict') {
          await keepConflict(tx, services, { ...deposit, status: from }, payment, now)
          conflict = true
        } else if (result === 'done') {
          await moveTo('completed', 'paid', payment.creditedCents)
          outcome = 'applied'
        }
      }
      // Only a payment completes a deposit: a report without one has seen a payment that is not credited yet.
      const to = status === 'completed' ? 'processing' : status
      if (mayMoveDeposit(from, to)) {
        await moveTo(to, 'reported', null)
        if (!conflict) outcome = 'applied'
      }
      return outcome
    },
  }
}

/** An address of Ethereum in lower case, so that it is found in whatever case it is given; any other as it is. */
export function canonical(address: string): string {
  return /^0x[0-9a-fA-F]{40}$/.test(address) ? address.toLowerCase() : address
}

function toDeposit(row: SqlRow): Deposit {
  const orNull = (name: string): string | null => (row[name] === null ? null : toText(row[name]))
  return {
    id: toText(row['id']),
    position: toInteger(row['position']),
    accountId: toText(row['account_id']),
    provider: toText(row['provider']),
    reference: toText(row['provider_reference']),
    currency: toText(row['currency']),
    network: toText(row['network']),
    amount: orNull('amount'),
    minAmount: toText(row['min_amount']),
    maxAmount: orNull('max_amount'),
    depositAddress: toText(row['deposit_address']),
    extraId: orNull('extra_id'),
    chainId: row['chain_id'] === null ? null : toInteger(row['chain_id']),
    status: toText(row['status']) as DepositStatus,
    createdAt: toInteger(row['created_at']),
    updatedAt: toInteger(row['updated_at']),
  }
}
