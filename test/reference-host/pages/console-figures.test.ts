// What the console adds up and sorts in the browser, without one.
import t from 'tap'

interface Transaction {
  readonly direction: string
  readonly status: string
  readonly amountCents: number
  readonly createdAt: string
  readonly source: { readonly kind: string }
}
interface Cap {
  readonly rule: string
  readonly unit: string
  readonly cap: number
  readonly remaining: number
}
interface Spending {
  readonly tags: readonly { readonly name: string }[]
  readonly days: readonly { readonly at: number; readonly cents: readonly number[]; readonly total: number }[]
}
const folder = `${process.cwd()}/build/packages/reference-host/browser/helper/console`
const { daysOfData, spendingOf } = (await import(`${folder}/overview/spend-days.js`)) as {
  daysOfData(transactions: readonly { readonly createdAt: string }[], most: number, now: number): number
  spendingOf(transactions: readonly Transaction[], count: number, now: number): Spending
}
const { pagedFeed } = (await import(`${folder}/transaction-feed.js`)) as {
  pagedFeed(read: () => Promise<object>): {
    readonly items: readonly unknown[]
    more(): Promise<unknown>
    clear(): void
  }
}
const { plotTop } = (await import(`${folder}/overview/spend-plot.js`)) as { plotTop(most: number): number }
const { tightestFirst } = (await import(`${folder}/keys/cap-words.js`)) as {
  tightestFirst(caps: readonly Cap[]): Cap[]
}
const { allowsNothing, policyLines } = (await import(`${folder}/keys/key-words.js`)) as {
  allowsNothing(key: { policy: unknown }): boolean
  policyLines(key: { policy: unknown }): string[]
}

const { readStoredSession } = (await import(`${folder}/stored-session.js`)) as {
  readStoredSession(now: number): unknown
}

const NOW = Date.UTC(2026, 2, 1, 0, 0, 5)
const spent = (createdAt: string, amountCents: number, changes: object = {}): Transaction => ({
  direction: 'debit',
  status: 'completed',
  amountCents,
  createdAt,
  source: { kind: 'payment' },
  ...changes,
})

t.test('adds spending up by days of UTC, across the end of a month', t => {
  const { days, tags } = spendingOf(
    [
      spent('2026-03-01T00:00:00.000Z', 1),
      spent('2026-02-28T23:59:59.999Z', 20),
      spent('2026-02-28T00:00:00.000Z', 300, { source: { kind: 'authorization' } }),
      spent('2026-02-27T23:59:59.999Z', 4000),
      spent('2026-02-26T23:59:59.999Z', 50_000),
    ],
    3,
    NOW,
  )
  t.same(
    tags.map(({ name }) => name),
    ['Cards', 'Payments'],
  )
  t.same(
    days.map(({ cents, total }) => [...cents, total]),
    [
      [0, 4000, 4000],
      [300, 20, 320],
      [0, 1, 1],
    ],
  )
  t.equal(days.at(-1)?.at, Date.UTC(2026, 2, 1))
  t.end()
})

t.test('begins with the day of the first transaction, at most 30 days ago', t => {
  const from = (createdAt: string): number =>
    daysOfData([spent('2026-03-01T00:00:01.000Z', 1), spent(createdAt, 1)], 30, NOW)
  t.same([daysOfData([], 30, NOW), from('2026-03-01T00:00:00.000Z')], [1, 1])
  t.equal(from('2026-02-28T23:59:59.999Z'), 2)
  t.equal(from('2026-02-28T00:00:00.000Z'), 2)
  t.same([from('2026-01-31T00:00:00.000Z'), from('2026-01-30T23:59:59.999Z')], [30, 30])
  t.equal(from('2026-03-02T00:00:00.000Z'), 1, 'the clock of the host is ahead')
  t.end()
})

t.test('counts money that left or is promised to leave, and nothing else', t => {
  const at = '2026-03-01T00:00:01.000Z'
  const { tags, days } = spendingOf(
    [
      spent(at, 1, { status: 'pending' }),
      spent(at, 2, { source: { kind: 'something new' } }),
      ...['declined', 'failed', 'reversed'].map(status => spent(at, 100, { status })),
      spent(at, 100, { direction: 'credit' }),
      spent(at, 100, { source: { kind: 'move' } }),
    ],
    1,
    NOW,
  )
  t.same(
    tags.map(({ name }) => name),
    ['Payments', 'Other'],
  )
  t.same(days[0]?.cents, [1, 2])
  t.same(spendingOf([], 30, NOW).tags, [])
  t.equal(spendingOf([], 30, NOW).days.length, 30)
  t.end()
})

t.test('sorts caps by what money they leave free, and counts of calls after them', t => {
  const cap = (rule: string, unit: string, most: number, remaining: number): Cap => ({
    rule,
    unit,
    cap: most,
    remaining,
  })
  const sorted = tightestFirst([
    cap('few calls', 'count', 5, 1),
    cap('day', 'cents', 10_000, 700),
    cap('once', 'cents', 500, 500),
    cap('no calls', 'count', 0, 0),
    cap('month', 'cents', 90_000, 0),
  ])
  t.same(
    sorted.map(({ rule }) => rule),
    ['month', 'once', 'day', 'no calls', 'few calls'],
  )
  t.end()
})

t.test('ends a plot at the next amount whose lines are round', async t => {
  const tops = { 1: 4, 4: 4, 5: 8, 4660: 8000, 8000: 8000, 8001: 10_000, 10_001: 20_000, 0: 4 }
  for (const [most, top] of Object.entries(tops)) t.equal(plotTop(Number(most)), top, most)
})

t.test('says every member of a policy in words, also one that it does not know', t => {
  const limits = [
    { operations: ['bills.*'], window: 'month', maxCents: 700 },
    { operations: ['cards.authorize'], window: 'day', maxCount: 5 },
  ]
  t.same(policyLines({ policy: [{ maxAuthAmountCents: 5000, limits }, { newMember: [1] }] }), [
    'At most 50.00 USD in one payment',
    'At most 7.00 USD a month for bills; At most 5 card payments a day',
    'newMember: [1]',
  ])
  t.same(policyLines({ policy: null }), [])
  t.same(policyLines({ policy: { notAfter: '2027-01-01T00:00:00Z', allowCardSecrets: false } }), [
    'Not after 2027-01-01 00:00:00 UTC',
    'Never shows card numbers',
  ])
  t.end()
})

t.test('a key whose policy allows no operation is frozen, and says so', t => {
  t.same(policyLines({ policy: [{ allowOperations: [] }] }), ['Blocked: may do nothing'])
  t.equal(allowsNothing({ policy: [{ dailySpendCapCents: 1 }, { allowOperations: [] }] }), true)
  t.equal(allowsNothing({ policy: { allowOperations: ['cards.list'] } }), false)
  t.equal(allowsNothing({ policy: null }), false)
  t.end()
})

t.test('a list that is read again does not wait for the page of the list before', async t => {
  const responses: ((page: object) => void)[] = []
  const feed = pagedFeed(() => new Promise(resolve => responses.push(resolve)))
  const page = (id: string) => ({ ok: true, data: { items: [{ id }], nextCursor: null } })
  void feed.more()
  feed.clear()
  const second = feed.more()
  t.equal(responses.length, 2, 'a request of its own')
  responses[0]?.(page('before'))
  responses[1]?.(page('new'))
  await second
  t.same(feed.items, [{ id: 'new' }])
})

t.test('a row that two pages have is in the list once', async t => {
  const pages = [
    ['c', 'b'],
    ['b', 'a', 'a'],
  ]
  const feed = pagedFeed(async () => {
    const items = (pages.shift() ?? []).map(id => ({ id }))
    return { ok: true, data: { items, nextCursor: pages.length > 0 ? 'next' : null } }
  })
  await feed.more()
  await feed.more()
  t.same(feed.items, [{ id: 'c' }, { id: 'b' }, { id: 'a' }])
})

t.test('uses no stored session that is damaged, incomplete or over, and forgets it', t => {
  let stored: string | null = null
  const sessionStorage = {
    getItem: () => stored,
    removeItem: () => {
      stored = null
    },
  }
  Object.assign(globalThis, { sessionStorage })
  const good = {
    sessionToken: 'token',
    sessionId: 'session',
    expiresAt: new Date(NOW + 1).toISOString(),
    address: '0x1',
    wallet: { name: 'Wallet' },
  }
  const read = (value: unknown): unknown => {
    stored = typeof value === 'string' ? value : JSON.stringify(value)
    return readStoredSession(NOW)
  }
  t.same(read(good), good)
  for (const bad of [
    '{"sessionToken":',
    'null',
    '5',
    { ...good, expiresAt: new Date(NOW).toISOString() },
    { ...good, expiresAt: 'soon' },
    { ...good, sessionToken: undefined },
    { ...good, sessionId: 1 },
    { ...good, address: '' },
    { ...good, wallet: undefined },
    { ...good, wallet: {} },
  ]) {
    t.equal(read(bad), undefined, JSON.stringify(bad))
    t.equal(stored, null)
  }
  t.end()
})
