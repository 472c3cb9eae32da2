// Compares a host with the plain model of one account while providers report in excess, late, twice and in any order.
import { deepEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { manualClock } from '@gatewright/kernel/testing'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import fc from 'fast-check'
import { networkEvent, networkRequest } from '../harness/card-payments.ts'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { keptHostStoresEnv } from '../../harness/host-stores.ts'
import { startTestHost, type HttpResponse, type TestHost } from '../../harness/host.ts'
import { WEBHOOK_SECRET } from '../harness/kyc.ts'
import { fundedUser, memberOf, withdrawalBody, type TransferUser } from '../harness/transfers.ts'
import {
  booksOf,
  clear,
  credit,
  isEarly,
  newReportModel,
  refund,
  report,
  reverse,
  type ModelAuthorization,
  type Books,
  type ReportModel,
} from './report-model.ts'

const MAX_OPEN = 15
/** So large that no cap denies anything. */
const POLICY = { dailySpendCapCents: 90_000_000, dailyWithdrawalCapCents: 90_000_000 }

/** One action; `pick` chooses what it is about, `copies` how often its event is delivered. */
interface Step {
  readonly act:
    | 'fund'
    | 'authorize'
    | 'increment'
    | 'clear'
    | 'reverse'
    | 'refund'
    | 'deposit'
    | 'pay'
    | 'withdraw'
    | 'report'
  readonly pick: number
  readonly cents: number
  readonly copies: number
  /** Whether a clearing is the last one, and a reversal gives back everything. */
  readonly isWhole: boolean
  /** How the money of an event is named: by its message, or by one of three ids, which another event may have had. */
  readonly moneyId: string | null
  readonly status: 'completed' | 'failed'
  readonly paidCents: number | null
  readonly payments: readonly (readonly [id: number, cents: number])[]
}
const ACTS: readonly Step['act'][] = [
  'fund',
  'authorize',
  'authorize',
  'increment',
  'clear',
  'clear',
  'clear',
  'reverse',
  'refund',
  'refund',
  'deposit',
  'pay',
  'pay',
  'withdraw',
  'report',
  'report',
  'report',
]
const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom(...ACTS),
  pick: fc.nat(1000),
  cents: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.constantFrom(1, 200, 100_000)),
  copies: fc.constantFrom(1, 1, 2),
  isWhole: fc.boolean(),
  moneyId: fc.constantFrom(null, null, 'a', 'b', 'c'),
  status: fc.constantFrom('completed', 'failed'),
  paidCents: fc.option(fc.oneof(fc.constantFrom(0, 50, 150, 100_000), fc.nat(500)), { freq: 2 }),
  payments: fc.array(fc.tuple(fc.nat(4), fc.constantFrom(1, 100, 250)), { maxLength: 3 }),
})

/** What a run works with. */
interface Run {
  readonly host: TestHost
  readonly user: TransferUser
  readonly cardId: string
  readonly model: ReportModel
  readonly name: string
  now(): number
}

const of = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(list.length, 1)]

function okay(what: string, { status, body }: HttpResponse): HttpResponse['body'] {
  if (status !== 200) throw new Error(`${what}: ${status} ${JSON.stringify(body)}`)
  return body
}

/**
 * Reports a movement of money. An id that was taken before moves nothing, whatever the terms are. An early refund is not taken, but its id keeps
 * its terms: it is taken later with the same ones.
 */
async function move(
  run: Run,
  { pick, copies, moneyId }: Step,
  event: { readonly type: string; readonly idMember: string; readonly terms: object },
  book: (known: ModelAuthorization) => void,
): Promise<void> {
  const known = of(run.model.authorizations, pick)
  if (!known) return
  const { type, idMember } = event
  const named = moneyId === null ? {} : { [idMember]: moneyId }
  const terms = JSON.stringify(event.terms)
  const isTaken = moneyId !== null && known.taken.has(`${type} ${moneyId}`)
  const isOther = type === 'refunded' && (known.early.get(moneyId ?? '') ?? terms) !== terms
  const early = !isTaken && !isOther && type === 'refunded' && isEarly(known)
  const data = { id: known.id, ...named, ...event.terms }
  await deliver(run, `authorization.${type}`, data, copies, early ? 404 : 200)
  if (early && moneyId !== null) known.early.set(moneyId, terms)
  if (isTaken || isOther || early) return
  if (moneyId !== null) known.taken.add(`${type} ${moneyId}`)
  book(known)
}

/** Delivers one message as often as `copies` says: a repeat has the same id. */
async function deliver(
  run: Run,
  type: string,
  data: object,
  copies: number,
  status = 200,
): Promise<HttpResponse['body']> {
  const message = { id: randomUUID(), now: run.now() }
  const [first] = await Promise.all(
    Array.from({ length: copies }, () => networkEvent(run.host.send, { type, data }, message)),
  )
  if (first?.status === status && status !== 200) return first.body
  return okay(type, first as HttpResponse)
}

function mustBe(what: string, is: unknown, right: boolean): void {
  if (is !== right) throw new Error(`${what}: is ${String(is)}, must be ${right}`)
}

const perform: Readonly<Record<Step['act'], (run: Run, step: Step) => Promise<void>>> = {
  async fund({ user, model }, { cents }) {
    okay('play money', await user.write('/deposits', { amountCents: cents }))
    model.availableCents += cents
  },
  async authorize(run, { cents }) {
    const { model, cardId } = run
    const data = networkRequest(cardId, { amountCents: cents })
    const body = await deliver(run, 'authorization.request', data, 1)
    const fits = cents <= model.availableCents
    mustBe('approved', (body.data['decision'] as { approved: boolean }).approved, fits)
    if (!fits) return
    model.availableCents -= cents
    const nothing = { reversedCents: 0, clearedCents: 0, refundedCents: 0, excessCents: 0 }
    const amounts = { totalCents: cents, heldCents: cents, holds: 1, ...nothing }
    model.authorizations.push({
      kind: 'authorization',
      id: data.id,
      state: 'authorized',
      taken: new Set(),
      early: new Map(),
      ...amounts,
    })
  },
  async increment(run, { pick, cents }) {
    const known = of(run.model.authorizations, pick)
    if (!known) return
    const data = { id: known.id, incrementId: randomUUID(), amountCents: cents, currency: 'USD' }
    const body = await deliver(run, 'authorization.increment', data, 1)
    const fits = known.state === 'authorized' && cents <= run.model.availableCents
    mustBe('approved', (body.data['decision'] as { approved: boolean }).approved, fits)
    if (!fits) return
    run.model.availableCents -= cents
    known.totalCents += cents
    known.heldCents += cents
    known.holds += 1
  },
  async clear(run, step) {
    const { cents, isWhole: final } = step
    await move(
      run,
      step,
      { type: 'cleared', idMember: 'clearingId', terms: { amountCents: cents, final } },
      known => clear(run.model, known, cents, final),
    )
  },
  async reverse(run, step) {
    const cents = step.isWhole ? null : step.cents
    const terms = cents === null ? {} : { amountCents: cents }
    await move(run, step, { type: 'reversed', idMember: 'reversalId', terms }, known =>
      reverse(run.model, known, cents),
    )
  },
  async refund(run, step) {
    const { cents } = step
    await move(run, step, { type: 'refunded', idMember: 'refundId', terms: { amountCents: cents } }, known =>
      refund(run.model, known, cents),
    )
  },
  async deposit({ user, model }) {
    if (model.deposits.length >= MAX_OPEN) return
    const opened = await user.write('/deposits', { currency: 'usdc', network: 'base' })
    model.deposits.push(memberOf(opened, 'deposit').id)
  },
  async pay(run, { pick, status, payments, copies }) {
    const id = of(run.model.deposits, pick)
    if (id === undefined) return
    const paid = payments.map(([at, creditedCents]) => ({ id: `${run.name}-${at}`, creditedCents }))
    await deliver(run, 'deposit.report', { id, status, payments: paid }, copies)
    for (const { id: paymentId, creditedCents } of paid) credit(run.model, paymentId, creditedCents)
  },
  async withdraw({ user, model }, { cents }) {
    if (model.withdrawals.filter(({ state }) => state === 'open').length >= MAX_OPEN) return
    const amountCents = 100 + cents
    const response = await user.write('/withdrawals', withdrawalBody(amountCents))
    mustBe(`a withdrawal of ${amountCents}`, response.status === 200, amountCents <= model.availableCents)
    if (response.status !== 200) return
    model.availableCents -= amountCents
    const { id } = memberOf(response, 'withdrawal')
    const known = { id, amountCents, state: 'open', paidExcessCents: 0, returnedCents: 0 } as const
    model.withdrawals.push({ ...known, kind: 'withdrawal' })
  },
  async report(run, { pick, status, paidCents, copies }) {
    const known = of(run.model.withdrawals, pick)
    if (!known) return
    const data = { id: known.id, status, reason: null, txHash: null, paidCents, relay: null }
    await deliver(run, 'withdrawal.report', data, copies)
    report(run.model, known, status, paidCents)
  },
}

const count = async (db: SqlClient, text: string): Promise<number> =>
  toInteger((await rows(db, `select ${text}`))[0]?.['n'])

/** What the host and its database say. Sums over all accounts: each run subtracts those from before it. */
async function readBooks(db: SqlClient, dialect: 'postgres' | 'sqlite', user?: TransferUser): Promise<Books> {
  const ledger = createLedger(db)
  const read = user && okay('balances', await user.read('/balances'))
  const [balance] = (read?.data['balances'] ?? []) as { availableCents: number; pendingCents: number }[]
  const excess = (table: string): Promise<number> =>
    count(db, `coalesce(sum(excess_cents), 0) as n from ${table}`)
  return {
    available: balance?.availableCents ?? 0,
    pending: balance?.pendingCents ?? 0,
    cleared: await ledger.balance(db, 'outside:cards:sandbox'),
    paidOut: await ledger.balance(db, 'outside:withdrawals:sandbox'),
    fees: await ledger.balance(db, 'house:fees'),
    deposited: -(await ledger.balance(db, 'outside:deposits:sandbox')),
    counted: await count(db, 'coalesce(sum(used), 0) as n from gw_spend_counters'),
    holds: await count(db, 'count(*) as n from gw_spend_holds'),
    authorizationExcess: await excess('gw_authorizations'),
    withdrawalExcess: await excess('gw_withdrawals'),
  }
}

function since(books: Books, before: Books): Books {
  const names = Object.keys(books) as (keyof Books)[]
  return Object.fromEntries(names.map(name => [name, books[name] - before[name]])) as unknown as Books
}

/**
 * Performs random steps on new accounts of one host, and compares its books, balances, holds, caps and excess with the model after
 * each step. Returns how many steps there were of each kind.
 */
export async function compareReports(
  stores: 'embedded' | 'postgres',
  { numRuns, steps }: { readonly numRuns: number; readonly steps: number },
): Promise<Record<string, number>> {
  const place = await keptHostStoresEnv(stores)
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-reports-'))
  const env = { ...place.env, DATA_DIR: folder }
  const clock = manualClock(Date.UTC(2026, 5, 1, 12))
  const secrets = { PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}`, RATE_LIMITS: 'off' }
  const host = await startTestHost({ ...env, ...secrets }, clock)
  const { db, close } = openDatabaseOf(env)
  const dialect = stores === 'postgres' ? 'postgres' : 'sqlite'
  const done: Record<string, number> = {}
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: Math.ceil(steps / 2), maxLength: steps, size: 'max' }),
        async all => {
          const before = await readBooks(db, dialect)
          const user = await fundedUser(host, 0, { now: clock.now(), policy: POLICY })
          const card = memberOf(await user.write('/cards', {}), 'card')
          const model = newReportModel()
          const run: Run = { host, user, cardId: card.id, model, name: randomUUID(), now: () => clock.now() }
          // Money to begin with.
          await perform.fund(run, { cents: 3000 } as Step)
          for (const each of all) {
            clock.advance(1000)
            await perform[each.act](run, each)
            done[each.act] = (done[each.act] ?? 0) + 1
            deepEqual(
              since(await readBooks(db, dialect, user), before),
              booksOf(model),
              `after ${JSON.stringify(each)}`,
            )
          }
          const { sumCents, wrongAccounts } = await createLedger(db).check()
          deepEqual({ sumCents, wrongAccounts }, { sumCents: 0, wrongAccounts: [] })
        },
      ),
      { numRuns },
    )
  } finally {
    await close()
    await host.close()
    await place.drop()
    rmSync(folder, { recursive: true, force: true })
  }
  return done
}
