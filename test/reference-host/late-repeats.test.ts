// Repeats of writes whose idempotency records are gone.
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { sessionOf } from '../harness/host.ts'
import { moneyUser, newMoneyUser } from './harness/money.ts'
import { startOpenHost } from './harness/open-host.ts'
import { OUTSIDE } from './harness/transfers.ts'

const DAY_MS = 86_400_000
const clock = manualClock(Date.UTC(2026, 0, 31, 12))
const { host, wrongSums, close } = await startOpenHost(clock)
t.teardown(close)

/** The same JSON value in other bytes: members in the opposite order, with white space and an escape. */
function respelled(value: unknown): string {
  if (typeof value === 'string')
    return `"${value.replace(/[a-z]/, c => `\\u00${c.charCodeAt(0).toString(16)}`)}"`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => `"${name}" : ${respelled(member)}`)
  return `{ ${members.toReversed().join(' ,\n')} }`
}

const ann = await newMoneyUser(host.send, clock.now())
const bob = await newMoneyUser(host.send, clock.now())
await ann.fund(50_000)
const withdrawal = {
  amountCents: 1000,
  destination: { currency: 'usdc', network: 'base', address: OUTSIDE, extraId: null },
}
const writes: Readonly<Record<string, { path: string; body: Record<string, unknown> }>> = {
  payment: {
    path: '/payments',
    body: { to: { walletAddress: bob.address }, amountCents: 700, memo: 'Rent' },
  },
  withdrawal: { path: '/withdrawals', body: withdrawal },
  deposit: { path: '/deposits', body: { amountCents: 300, currency: 'USD' } },
  payin: { path: '/subscriptions/payin', body: { amountCents: 500, currency: 'USD' } },
}

for (const [name, { path, body }] of Object.entries(writes)) {
  t.test(`${name}: an equal repeat returns the same object after 44 days and moves nothing`, async t => {
    const renewed = async (user: typeof ann) => {
      return moneyUser(host.send, { token: await sessionOf(host.send, user.key) })
    }
    const idOf = (data: unknown): unknown => (data as Record<string, { id: string }>)[name]?.id
    const key = `late-repeat-${name}`
    const before = await renewed(ann)
    const made = await before.write(path, body, key)
    t.equal(made.status, 200, JSON.stringify(made.body))
    const id = idOf(made.body.data)
    t.type(id, 'string')
    const soon = await before.write(path, respelled(body), key)
    t.equal(soon.headers.get('idempotency-replayed'), 'true', 'it is replayed while the record is there')
    clock.advance(44 * DAY_MS)
    const later = await renewed(ann)
    const balance = await later.balance()
    for (const again of [body, respelled(body)]) {
      const repeated = await later.write(path, again, key)
      t.same([repeated.status, idOf(repeated.body.data)], [200, id])
      t.equal(await later.balance(), balance)
    }
    clock.advance(2 * DAY_MS)
    const other = await (await renewed(ann)).write(path, { ...body, amountCents: 1234 }, key)
    t.equal(other.status, 200, JSON.stringify(other.body))
    t.not(idOf(other.body.data), id, 'another amount is another write')
    t.same(await wrongSums(), [])
  })
}
