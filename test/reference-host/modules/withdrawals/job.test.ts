import { Fault } from '@gatewright/kernel'
import { compileSchema } from '@gatewright/host/internal'
import type { WithdrawalProvider, WithdrawalReport } from '@gatewright/reference-host'
import t, { type Test } from 'tap'
import * as internals from '../../../harness/internals.ts'
import { openMoney } from '../../harness/money-operations.ts'
import { uniqueName } from '../../../harness/stores.ts'

const { db, clock, services, addAccount, history } = await openMoney(t)
const { withdrawals } = services
const signal = new AbortController().signal
const DESTINATION = { currency: 'usdc', network: 'base', address: 'a', extraId: null }
const reported = (status: WithdrawalReport['status']): WithdrawalReport => ({
  status,
  reason: null,
  txHash: null,
  paidCents: null,
  relay: null,
})

async function made(provider = 'bank'): Promise<string> {
  const accountId = await addAccount(1000)
  const id = `wd_${uniqueName()}`
  const requested = { amountCents: 1000, currency: 'USD' }
  const hold = { id, accountId, amountCents: 1000, requested, held: false }
  const terms = { id, accountId, provider, amountCents: 1000, feeCents: 50, destination: DESTINATION, hold }
  await db.transaction(tx => withdrawals.create(tx, terms, clock.now()))
  return id
}

/** Runs the job of a withdrawal at a provider. Returns the calls to the provider, what was counted and reported, and the end. */
async function run(id: string, provider: Partial<WithdrawalProvider>) {
  const calls: unknown[] = []
  const [counted, errors]: [string[], unknown[]] = [[], []]
  const services = { db, clock, withdrawals, report: (error: unknown) => void errors.push(error) }
  const job = internals.sendJob(services, {
    provider: {
      name: 'bank',
      find: async (id: string, signal: AbortSignal) => {
        calls.push('find')
        return provider.find?.(id, signal)
      },
      send: async (...given: Parameters<WithdrawalProvider['send']>) => {
        calls.push(given.slice(0, 2))
        return provider.send?.(...given)
      },
    } as WithdrawalProvider,
    count: outcome => counted.push(outcome),
  })
  const accountId = (await internals.anyWithdrawal.find(db, id))?.accountId ?? 'acc_1'
  const outcome = await job({ kind: 'withdrawal.send', accountId, subjectId: id }, signal)
  const end = outcome === 'again' ? outcome : await db.transaction(outcome)
  return { calls, counted, errors, end }
}
async function stored(t: Test, id: string, expected: object): Promise<void> {
  t.match(await internals.anyWithdrawal.find(db, id), expected)
}

t.test('sends nothing while the account is frozen, and then what the provider does not know', async t => {
  const id = await made()
  const { accountId = '' } = (await internals.anyWithdrawal.find(db, id)) ?? {}
  await internals.freezeAccount(db, accountId, { now: clock.now() })
  const provider = { send: async () => reported('ready') }
  t.match(await run(id, provider), { calls: ['find'], end: 'again', errors: [] })
  await stored(t, id, { status: 'pending' })
  await internals.unfreezeAccount(db, accountId, { now: clock.now() })
  t.match(await run(id, provider), { calls: ['find', [id]], end: 'again' })
  await stored(t, id, { status: 'ready' })
})

t.test('sends what the provider does not know, and comes again until it has ended', async t => {
  const id = await made()
  const sent = [id, { amountCents: 1000, feeCents: 50, destination: DESTINATION }]
  const ready = { find: async () => undefined, send: async () => reported('ready') }
  t.same(await run(id, ready), { calls: ['find', sent], counted: ['applied'], errors: [], end: 'again' })
  await stored(t, id, { status: 'ready' })
  const completed = { find: async () => reported('completed') }
  t.same(await run(id, completed), { calls: ['find'], counted: ['applied'], errors: [], end: undefined })
  await stored(t, id, { status: 'completed' })
  t.same(await run(id, completed), { calls: [], counted: [], errors: [], end: undefined }, 'it has ended')
})

t.test('does not send what the provider knows', async t => {
  const id = await made()
  const pending = { find: async () => reported('pending') }
  t.same(await run(id, pending), { calls: ['find'], counted: ['ignored'], errors: [], end: 'again' })
})

t.test('does not send again what the provider had, and does not know any more', async t => {
  const id = await made()
  await run(id, { find: async () => reported('ready') })
  const gone = { find: async () => undefined }
  t.same(await run(id, gone), { calls: ['find'], counted: [], errors: [], end: 'again' })
  await stored(t, id, { status: 'ready', attention: 'outcome_unknown' })
})

t.test('asks no other provider than the one that it was made for', async t => {
  const id = await made('other')
  t.same(await run(id, {}), { calls: [], counted: [], errors: [], end: 'again' })
  await stored(t, id, { status: 'pending', attention: 'outcome_unknown' })
})

t.test('asks for attention after a lost call, and comes again', async t => {
  const lost = new Fault('ERR_PROVIDER_UNAVAILABLE', 'lost')
  const fail = async (): Promise<never> => {
    throw lost
  }
  const id = await made()
  t.match(await run(id, { find: fail }), { calls: ['find'], counted: [], errors: [lost], end: 'again' })
  t.match(await run(id, { find: async () => undefined, send: fail }), { errors: [lost], end: 'again' })
  await stored(t, id, { status: 'pending', attention: 'outcome_unknown' })
})

t.test('a withdrawal that the provider rejects fails with its reason', async t => {
  const id = await made()
  const rejecting = { find: async () => undefined, send: async () => ({ rejected: 'No such address.' }) }
  t.match(await run(id, rejecting), { counted: ['applied'], end: undefined })
  await stored(t, id, { status: 'failed', reason: 'No such address.', txHash: null, relay: null })
})

t.test('an unknown id and one that has ended need no call', async t => {
  t.same(await run('wd_none', {}), { calls: [], counted: [], errors: [], end: undefined })
})

t.test('applies a report that comes as an event', async t => {
  const event = internals.withdrawalReportEvent(withdrawals)
  const validate = compileSchema(event.data)
  const id = await made()
  const data = { id, ...reported('ready') }
  t.equal(validate(data), undefined)
  t.match(validate({ ...data, id: undefined }), { path: ['id'] })
  t.match(validate({ ...data, status: 'gone' }), { path: ['status'] })
  t.equal(
    await db.transaction(tx =>
      event.apply(tx, data as never, { provider: 'bank', now: clock.now(), moneyId: 'message-1' }),
    ),
    'applied',
  )
  const { accountId } = (await internals.anyWithdrawal.find(db, id))!
  t.equal((await history(accountId, 'withdrawal', id)).length, 2)
})
