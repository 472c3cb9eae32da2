import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { Fault } from '@gatewright/kernel'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { collectTests, failingTests, manualClock, type TestRunner } from '@gatewright/kernel/testing'
import type { CardIssuer } from '@gatewright/reference-host'
import type { CardOrder } from '#packages/reference-host/dist/providers/cards/port.js'
import { type CardIssuerUnderTest, cardIssuerContract } from '@gatewright/reference-host/testing'
import t from 'tap'
import { userOwner } from '../harness/cards.ts'
import { openTestHost, startTestHost } from '../../harness/host.ts'
import * as internals from '../../harness/internals.ts'
import { openSqlite } from '../../harness/stores.ts'

const { PORTS, checkedProvider, migrateHost, cardNumber, securityCode, passesLuhn } = internals
const { port, sandbox } = PORTS.cards
const { signal } = new AbortController()
const order = (amountCents: number): CardOrder => ({
  limit: { amountCents, frequency: 'allTime' },
  disposable: false,
})

async function openSandbox(): Promise<CardIssuerUnderTest & { readonly db: SqlClient }> {
  const { connections, close } = await openSqlite(1, db => migrateHost(db))
  const [db] = connections as [SqlClient]
  const issuer = sandbox({ db, clock: manualClock(), secret: randomBytes(32) })
  const text = "select id from gw_sandbox_provider_calls where port = 'cards' and what = 'issued'"
  const cards = async (): Promise<number> => (await rows(db, text)).length
  return { issuer, cards, rejectedOrder: order(1_000_003), close, db }
}

for (const { name, run } of collectTests(runner => cardIssuerContract(runner, 'sandbox', openSandbox)))
  void t.test(`the sandbox issuer: ${name}`, run)

/** An issuer in memory, with one thing that `change` breaks. */
function inMemory(change: Partial<Record<Defect, true>> = {}) {
  return async (): Promise<CardIssuerUnderTest> => {
    const numbers = new Map<string, string>()
    let issued = 0
    const numberOf = (id: string): string => cardNumber(Buffer.alloc(32), change.twins ? 'same' : id)
    const issuer: CardIssuer = {
      name: change.shouts ? 'My Issuer!' : 'memory',
      async issue(id, { limit }, within) {
        if (!change.deaf) within.throwIfAborted()
        if (limit?.amountCents === 1) {
          if (change.issuesRejected) issued += 1
          return change.throwsError ? Promise.reject(new Error('refused')) : { rejected: 'too little' }
        }
        if (change.slow) await new Promise(resolve => setTimeout(resolve, 5))
        if (change.forgets || (change.slow ? !numbers.has(id) || issued < 2 : !numbers.has(id))) issued += 1
        numbers.set(id, numberOf(id))
        const last4 = change.mislabels ? '0000' : numberOf(id).slice(-4)
        const expirationYear = 2030
        return { last4, expirationMonth: change.lies ? 13 : 12, expirationYear }
      },
      async reveal(id, within) {
        if (!change.deaf) within.throwIfAborted()
        const pan = numbers.get(id) ?? (change.invents ? numberOf(id) : undefined)
        if (pan === undefined) throw new Fault('ERR_PROVIDER_REPLY', 'no such card')
        return { pan: change.miscounts ? `1${pan.slice(1)}` : pan, cvc: change.lies ? '12' : '123' }
      },
    }
    const failing = (code: Fault['code']): CardIssuer => {
      const fail = async (): Promise<never> => {
        throw new Fault(code, change.talks ? 'cannot reveal 4000 0012 3456 7899' : 'is down')
      }
      return { name: 'memory', issue: fail, reveal: fail }
    }
    return {
      issuer,
      cards: async () => issued,
      rejectedOrder: order(1),
      close: async () => {},
      down: failing('ERR_PROVIDER_UNAVAILABLE'),
      malformed: failing('ERR_PROVIDER_REPLY'),
    }
  }
}
type Defect =
  | 'forgets'
  | 'deaf'
  | 'talks'
  | 'shouts'
  | 'slow'
  | 'twins'
  | 'mislabels'
  | 'miscounts'
  | 'lies'
  | 'invents'
  | 'issuesRejected'
  | 'throwsError'

t.test('the contract passes a good issuer and finds each broken one', async t => {
  const failures = (open: () => Promise<CardIssuerUnderTest>): Promise<string[]> =>
    failingTests((runner: TestRunner) => cardIssuerContract(runner, 'memory', open))
  t.same(await failures(inMemory()), [])
  for (const [defect, expected] of [
    ['forgets', /ordered twice.*20 times/],
    ['slow', /20 times/],
    ['twins', /another card/],
    ['mislabels', /ends in last4/],
    ['miscounts', /ends in last4/],
    ['invents', /unknown card/],
    ['lies', /ordered twice/],
    ['deaf', /aborted/],
    ['talks', /without digits of a card/],
    ['shouts', /fits into a path/],
    ['issuesRejected', /expected no/],
    ['throwsError', /expected no/],
  ] as const) {
    t.match((await failures(inMemory({ [defect]: true }))).join(), expected, defect)
  }
})

t.test('derives numbers that pass Luhn, evenly, and another for another id or secret', t => {
  const secret = Buffer.alloc(32, 7)
  const counts = Array.from({ length: 10 }, () => 0)
  const seen = new Set<string>()
  for (let count = 0; count < 2000; count += 1) {
    const pan = cardNumber(secret, `card_${count}`)
    if (!/^400000\d{10}$/.test(pan) || !passesLuhn(pan)) t.fail(pan)
    seen.add(pan)
    for (const digit of pan.slice(6, 15)) counts[Number(digit)] = (counts[Number(digit)] ?? 0) + 1
    const cvc = securityCode(secret, pan, 1, 2030)
    if (!/^\d{3}$/.test(cvc)) t.fail(cvc)
  }
  t.equal(seen.size, 2000)
  // 1800 of each digit are expected; 200 is five standard deviations.
  t.ok(
    counts.every(count => Math.abs(count - 1800) < 200),
    counts.join(),
  )
  t.not(cardNumber(Buffer.alloc(32, 8), 'card_1'), cardNumber(secret, 'card_1'))
  const pan = cardNumber(secret, 'card_1')
  const codes = [1, 2, 3, 4, 5].map(month => securityCode(secret, pan, month, 2030))
  t.ok(new Set(codes).size > 1, 'the code depends on the expiry')
  t.notOk(passesLuhn('4000000000000003'))
  t.ok(passesLuhn('4000000000000002'))
  t.end()
})

t.test('a reply has the right form, and a failure reveals no number', async t => {
  const good: CardIssuer = {
    name: 'slow',
    issue: async () => ({ last4: '1234', expirationMonth: 1, expirationYear: 2030 }),
    reveal: async () => ({ pan: '4000001234567899', cvc: '123' }),
  }
  const wrapped = (change: object): CardIssuer =>
    checkedProvider(port, { ...good, ...change }, { count: () => {}, limitMs: 50 })
  t.match(await wrapped({}).issue('card_1', order(5), signal), { last4: '1234' })
  t.match(await wrapped({}).reveal('card_1', signal), { cvc: '123' })
  for (const reply of [
    undefined,
    {},
    { last4: '123', expirationMonth: 1, expirationYear: 2030 },
    { last4: '1234', expirationMonth: 13, expirationYear: 2030 },
    { rejected: '' },
  ])
    await t.rejects(wrapped({ issue: async () => reply }).issue('card_1', order(5), signal), {
      code: 'ERR_PROVIDER_REPLY',
    })
  for (const reply of [undefined, { pan: '4000-0012-3456-7899', cvc: '123' }, { pan: '4000001234567899' }]) {
    const error: unknown = await wrapped({ reveal: async () => reply })
      .reveal('card_1', signal)
      .catch((thrown: unknown) => thrown)
    t.match(error, { code: 'ERR_PROVIDER_REPLY' })
    t.notMatch(inspect(error), /7899/)
  }
})

t.test('a host with an issuer of its own uses it, and seeds no cards', async t => {
  const asked: string[] = []
  const cards: CardIssuer = {
    name: 'acme',
    issue: async id => {
      asked.push(id)
      return { last4: '4242', expirationMonth: 2, expirationYear: 2031 }
    },
    reveal: async () => ({ pan: '4000001234567899', cvc: '123' }),
  }
  const host = await openTestHost(t, {}, undefined, { cards })
  const owner = await userOwner(host)
  const card = await owner.make()
  t.match(card, { last4: '4242', expirationMonth: 2, expirationYear: 2031 })
  t.same(asked, [card['id']])
  await t.rejects(startTestHost({}, undefined, { cards: { ...cards, name: 'sandbox' } }), TypeError)
})
