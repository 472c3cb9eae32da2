import { allow, type Session, type Verdict } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import type { SqlQueries } from '@gatewright/kernel/sql'
import {
  type HostServices,
  type Operation,
  type Success,
  ledgerWrite,
  type WriteContext,
  type HostDenial,
} from '@gatewright/host'
import { ledgerAccounts, tooLittleMoney } from '@gatewright/host/internal'
import { deny } from '../../product/denials.ts'
import { addressPayee } from '../../product/payees.ts'
import type { NewWithdrawal, WithdrawalProvider } from '../../providers/withdrawals/port.ts'
import { lockAccountFirst } from '../users/lock-account.ts'
import { invalidState } from '../invalid-state.ts'
import { denyOwnAddress } from './destination.ts'
import { Body, isEqual, priced, readTerms, type PreparedWithdrawal } from './terms.ts'
import { WithdrawalResponse, withdrawalResponse, withdrawalBodyExample, withdrawalExample } from './wire.ts'
import { countOpenAndFindOwn, SEND_JOB, withdrawalTable, type Withdrawal } from './withdrawal.ts'
import type { WithdrawalRecords } from './records.ts'
import type { PayinReceiver } from '../../chain/receivers.ts'

/** What the creation of a withdrawal works with. */
export interface CreateWithdrawalServices extends Pick<HostServices, 'db' | 'clock' | 'jobs' | 'ledger'> {
  readonly withdrawals: WithdrawalRecords
  readonly receivers: readonly PayinReceiver[]
}

const MAX_OPEN = 20
/** How long after a `pending` response an equal request of a partner counts as a poll of the same withdrawal. */
const POLLED_FOR_MS = 600_000

/** Makes `withdrawals.create` of a surface. */
export function createWithdrawal(
  surface: Surface,
  services: CreateWithdrawalServices,
  provider: WithdrawalProvider,
): Operation {
  const { withdrawals, db, clock, receivers } = services
  const respond = response(surface, services)
  return ledgerWrite<(typeof Body)['partner'], (typeof WithdrawalResponse)['partner'], PreparedWithdrawal>({
    id: 'withdrawals.create',
    title: 'Withdraw money',
    surface,
    method: 'POST',
    paths: [`/${surface}/v1/withdrawals`],
    credential: 'session',
    scopes: ['withdrawals.write'],
    body: Body[surface] as (typeof Body)['partner'],
    response: WithdrawalResponse[surface] as (typeof WithdrawalResponse)['partner'],
    example: {
      body: withdrawalBodyExample,
      response: (surface === 'user'
        ? { withdrawal: withdrawalExample }
        : { ...withdrawalExample, state: 'pending', repeated: false }) as never,
    },
    ...(surface === 'partner' ? { denies: [409] as const } : {}),
    spends: 'withdrawal',
    requires: 'onboarding',
    async prepare({ caller, body }, effectId) {
      const { accountId } = caller.session
      const id = `wd_${effectId}`
      if (await withdrawalTable.find(db, accountId, id)) return allow({ existing: id })
      const wanted = await readTerms(provider, body)
      if (!wanted.ok) return wanted
      if (surface === 'partner') {
        const polled = (await withdrawals.openToPolling(db, accountId, clock.now())).find(
          isEqual(wanted.value),
        )
        if (polled) return allow({ existing: polled.id })
      }
      return priced({ provider, receivers }, body, wanted.value)
    },
    async write({ caller, body: { amountCents } }, context) {
      const { tx, effectId, prepared, permits, spendsNothing } = context
      const { accountId } = caller.session
      const now = clock.now()
      // Two simultaneous equal requests of a partner are one withdrawal: the second waits for this lock, and then finds the
      // first. Open withdrawals are counted later.
      await lockAccountFirst(tx, accountId)
      const polled =
        'terms' in prepared && surface === 'partner'
          ? (await withdrawals.openToPolling(tx, accountId, now)).find(isEqual(prepared.terms))?.id
          : undefined
      const existing = 'existing' in prepared ? prepared.existing : polled
      if (existing !== undefined) {
        const found = await withdrawalTable.lock(tx, accountId, existing)
        if (!found) throw new Error(`withdrawal ${existing} was there before this write and is gone`)
        spendsNothing()
        const permitted = await permits({ amountCents, currency: 'USD' })
        return permitted.ok ? respond(tx, found, existing !== `wd_${effectId}`) : permitted
      }
      if (!('terms' in prepared)) throw new Error('a withdrawal without terms must exist')
      const { keyId } = caller.session
      const terms = { ...prepared.terms, accountId, keyId, provider: provider.name }
      const made = await make(services, terms, context)
      return made.ok ? respond(tx, made.value, false) : made
    },
  })
}

/** Reserves the caps, holds the money and adds the job that sends it. A denial rolls all of it back. */
async function make(
  {
    withdrawals,
    clock,
    jobs,
    ledger,
    receivers,
  }: Pick<CreateWithdrawalServices, 'withdrawals' | 'clock' | 'jobs' | 'ledger' | 'receivers'>,
  terms: NewWithdrawal & Pick<Session, 'accountId' | 'keyId'> & Pick<Withdrawal, 'provider'>,
  { tx, effectId, reserve }: WriteContext<PreparedWithdrawal>,
): Promise<Verdict<Withdrawal>> {
  const now = clock.now()
  const id = `wd_${effectId}`
  const { accountId } = terms
  const { address } = terms.destination
  const { open, isOwnAddress } = await countOpenAndFindOwn(tx, accountId, address)
  if (open >= MAX_OPEN)
    return deny('policy_blocked', `${MAX_OPEN} withdrawals are under way: wait until one of them ends`, {
      details: { rule: 'max_withdrawals' },
    })
  if (isOwnAddress || receivers.some(({ receiver }) => receiver === address)) return denyOwnAddress
  const payee = addressPayee(terms.destination)
  const hold = await reserve({ amountCents: terms.amountCents, currency: 'USD', payee })
  if (!hold.ok) return hold
  const made = await withdrawals.create(tx, { ...terms, id, hold: hold.value }, now)
  if (made === 'insufficient') {
    const availableCents = await ledger.balance(tx, ledgerAccounts.user(accountId))
    return tooLittleMoney(availableCents, terms.amountCents)
  }
  await jobs.add(tx, { kind: SEND_JOB, accountId, subjectId: id }, now)
  return allow(made)
}

/** Makes a function that responds with a withdrawal as it is now. For a partner, it stays open to polling as long as the response is `pending`. */
function response(
  surface: Surface,
  { withdrawals, clock }: Pick<CreateWithdrawalServices, 'withdrawals' | 'clock'>,
) {
  return async (
    tx: SqlQueries,
    withdrawal: Withdrawal,
    repeated: boolean,
  ): Promise<Verdict<Success, HostDenial>> => {
    const { id, status, reason } = withdrawal
    if (surface === 'partner') {
      await withdrawals.setPolling(tx, withdrawal, status === 'pending' ? clock.now() + POLLED_FOR_MS : null)
      if (status === 'failed')
        return invalidState(surface, `the withdrawal failed: ${reason ?? 'unknown'}`, 'status')
    }
    return allow({
      data: withdrawalResponse(surface, withdrawal, repeated),
      summary: `The withdrawal is ${status}.`,
      ...(surface === 'user' ? { next: `GET /user/v1/withdrawals/${id}` } : {}),
    })
  }
}
