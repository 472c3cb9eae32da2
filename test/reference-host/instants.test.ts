// Every place of the API that reads an instant reads RFC 3339 in full.
import t from 'tap'
import { bearer, bootstrapUser, openTestHost } from '../harness/host.ts'
import { partnerUser } from './harness/partner.ts'
import { sampleOf } from '../harness/random-cases.ts'

const host = await openTestHost(t, { RATE_LIMITS: 'off' })
const user = await bootstrapUser(host.send)
const headers = bearer(user.token)
const partner = await partnerUser(host, 'usr-instants', ['transactions.read'])

/** Spellings of 2099-06-30T12:00:00.120Z, in the future. */
const SPELLINGS = [
  '2099-06-30T12:00:00.12Z',
  '2099-06-30T12:00:00.120Z',
  '2099-06-30T12:00:00.120456Z',
  '2099-06-30T12:00:00.1204567890123456789Z',
  '2099-06-30t12:00:00.12z',
  '2099-06-30T12:00:00.12+00:00',
  '2099-06-30T12:00:00.12-00:00',
  '2099-06-30T14:00:00.12+02:00',
  '2099-06-30T06:30:00.120000000-05:30',
  '2099-07-01T02:00:00.12+14:00',
]
const AT = '2099-06-30T12:00:00.120Z'
const WRONG = [
  '2099-06-30T12:00:00',
  '2099-06-31T12:00:00Z',
  '2099-02-29T12:00:00Z',
  '2099-06-30T24:00:00Z',
  '2099-06-30T12:00:00.Z',
  '2099-06-30T12:00:00+24:00',
  '2099-06-30T12:00:00+0200',
  '2099-06-30T12:00Z',
  '20990630T120000Z',
  'tomorrow',
  '4086504000000',
]

/** The lists with `from` and `to`, and how to read them. */
const LISTS: Readonly<Record<string, (query: string) => ReturnType<typeof host.send>>> = {
  '/user/v1/transactions': query => host.send(`/user/v1/transactions?${query}`, { headers }),
  '/user/v1/transactions.csv': query => host.send(`/user/v1/transactions.csv?${query}`, { headers }),
  '/user/v1/subscriptions/payins': query => host.send(`/user/v1/subscriptions/payins?${query}`, { headers }),
  '/user/v1/bills': query => host.send(`/user/v1/bills?${query}`, { headers }),
  '/user/v1/payments': query => host.send(`/user/v1/payments?${query}`, { headers }),
  '/user/v1/deposits': query => host.send(`/user/v1/deposits?${query}`, { headers }),
  '/user/v1/deposits?scope=all': query => host.send(`/user/v1/deposits?scope=all&${query}`, { headers }),
  '/user/v1/withdrawals': query => host.send(`/user/v1/withdrawals?${query}`, { headers }),
  '/user/v1/subscriptions': query => host.send(`/user/v1/subscriptions?${query}`, { headers }),
  '/user/v1/requests': query => host.send(`/user/v1/requests?${query}`, { headers }),
  '/partner/v1/transactions': query => partner(`/partner/v1/transactions?${query}`),
}

/** Each list with each of the texts as each of its two ends. */
const queriesOf = (texts: readonly string[]) =>
  Object.keys(LISTS).flatMap(path =>
    ['from', 'to'].flatMap(name => texts.map(text => ({ path, name, query: `${name}=${text}` }))),
  )

t.test('lists read every spelling of an instant, also as a form sends its sign', async t => {
  const denied: string[] = []
  // Unencoded, a plus becomes a space.
  const texts = SPELLINGS.flatMap(text => [encodeURIComponent(text), text])
  for (const { path, query } of sampleOf(queriesOf(texts)))
    if ((await LISTS[path]?.(query))?.status !== 200) denied.push(`${path}?${query}`)
  t.same(denied, [])
})

t.test('lists read one instant from all of its spellings', async t => {
  const { body } = await host.send('/user/v1/deposits', {
    body: { amountCents: 100 },
    headers: { ...headers, 'idempotency-key': 'instants-1' },
  })
  t.ok(body)
  const [made] = (await host.send('/user/v1/transactions', { headers })).body.data['transactions'] as {
    createdAt: string
  }[]
  const at = Date.parse((made as { createdAt: string }).createdAt)
  const shifted = (ms: number, hours: number, zone: string): string =>
    new Date(ms + hours * 3_600_000).toISOString().replace('Z', zone)
  for (const [hours, zone] of [
    [0, 'Z'],
    [0, 'z'],
    [0, '+00:00'],
    [14, '+14:00'],
    [-5, '-05:00'],
  ] as const) {
    const count = async (query: string): Promise<number> =>
      ((await host.send(`/user/v1/transactions?${query}`, { headers })).body.data['transactions'] as object[])
        .length
    t.equal(await count(`from=${shifted(at, hours, zone)}`), 1, `from ${zone}`)
    t.equal(await count(`from=${shifted(at + 1, hours, zone)}`), 0, `from, 1 ms later, ${zone}`)
    t.equal(await count(`to=${shifted(at, hours, zone)}`), 0, `to ${zone}`)
    t.equal(await count(`to=${shifted(at + 1, hours, zone)}`), 1, `to, 1 ms later, ${zone}`)
  }
})

t.test('lists of money choose by the time of creation, also by days and beside a cursor', async t => {
  for (const number of [1, 2, 3])
    await host.send('/user/v1/bills', {
      body: { payee: 'City Power', amountCents: 100, dueAt: '2099-01-01' },
      headers: { ...headers, 'idempotency-key': `bills-range-${number}` },
    })
  const bills = async (query: string) => {
    const { data } = (await host.send(`/user/v1/bills?${query}`, { headers })).body
    return data as { bills: { id: string; createdAt: string }[]; nextCursor: string | null }
  }
  const all = (await bills('')).bills
  const at = (all[1] as { createdAt: string }).createdAt
  const ids = (found: { id: string }[]): string[] => found.map(({ id }) => id)
  const since = all.filter(({ createdAt }) => createdAt >= at)
  t.same(ids((await bills(`from=${at}`)).bills), ids(since))
  t.same(ids((await bills(`to=${at}`)).bills), ids(all.filter(({ createdAt }) => createdAt < at)))
  const day = at.slice(0, 10)
  t.same(ids((await bills(`from=${day}&to=2099-01-01`)).bills), ids(all))
  t.same((await bills('to=2020-01-01')).bills, [])
  const first = await bills(`from=${at}&limit=1`)
  const rest = await bills(`from=${at}&limit=100&cursor=${first.nextCursor ?? ''}`)
  t.same([...ids(first.bills), ...ids(rest.bills)], ids(since))
  t.match(await host.send('/user/v1/bills?from=2026-02-01&to=2026-01-01', { headers }), {
    status: 400,
    body: { field: 'to' },
  })
})

t.test('kept requests and subscriptions are chosen by their time', async t => {
  const read = async (list: string, query: string) =>
    (await host.send(`/user/v1/${list}?limit=100&${query}`, { headers })).body.data[list] as {
      id: string
      createdAt: string
    }[]
  const all = await read('requests', 'operation=bills.create')
  const at = all[1]?.createdAt ?? ''
  t.same(
    await read('requests', `operation=bills.create&to=${at}`),
    all.filter(each => each.createdAt < at),
  )
  t.same(
    await read('requests', `operation=bills.create&from=${at}`),
    all.filter(each => each.createdAt >= at),
  )
  const plan = { body: { plan: 'basic' }, headers: { ...headers, 'idempotency-key': 'subscription-range' } }
  t.equal((await host.send('/user/v1/subscriptions/checkout', plan)).status, 200)
  const createdAt = (await read('subscriptions', ''))[0]?.createdAt ?? ''
  t.equal((await read('subscriptions', `from=${createdAt}`)).length, 1)
  t.equal((await read('subscriptions', `to=${createdAt}`)).length, 0)
})

t.test('lists deny what is no instant and no date', async t => {
  const allowed: string[] = []
  const texts = [...WRONG, '2099-06-30T12:00:00 0200', '2099-06-30 12:00:00Z'].map(encodeURIComponent)
  for (const { path, name, query } of sampleOf(queriesOf(texts))) {
    const response = await LISTS[path]?.(query)
    if (response?.status !== 400 || response.body['field'] !== name) allowed.push(`${path}?${query}`)
  }
  t.same(allowed, [])
})

/** Writes with an instant in the body: the instant that they answer with. */
const WRITES: Readonly<
  Record<string, (text: string, key: string) => Promise<{ status: number; at: unknown; field: unknown }>>
> = {
  async 'dueAt of a bill'(dueAt, key) {
    const { status, body } = await host.send('/user/v1/bills', {
      body: { payee: 'City Power', amountCents: 100, dueAt },
      headers: { ...headers, 'idempotency-key': key.replaceAll(' ', '-') },
    })
    return { status, at: (body.data?.['bill'] as { dueAt?: string })?.dueAt, field: body['field'] }
  },
  async 'expiresAt of a key'(expiresAt) {
    const { status, body } = await host.send('/user/v1/keys', { body: { expiresAt }, headers })
    const listed = (await host.send('/user/v1/keys?limit=100', { headers })).body['keys'] as {
      id: string
      expiresAt?: string
    }[]
    const made = listed.find(({ id }) => id === body['userKeyId'])
    return { status, at: made?.expiresAt, field: body['field'] }
  },
  async 'notAfter of a policy'(notAfter) {
    const policy = { notAfter, notBefore: '2026-01-01t00:00:00z' }
    const { status, body } = await host.send('/user/v1/sessions', { body: { policy }, headers })
    return { status, at: status === 200 ? AT : undefined, field: body['field'] }
  },
}

t.test('writes read every spelling of an instant alike, and deny a text that is not an instant', async t => {
  for (const [name, write] of Object.entries(WRITES)) {
    for (const [index, text] of SPELLINGS.entries())
      t.match(await write(text, `${name} ${index}`), { status: 200, at: AT }, `${name}: ${text}`)
    for (const [index, text] of WRONG.entries()) {
      // A number is a time of another form.
      const field = name.split(' ')[0] as string
      t.match(await write(text, `${name} wrong ${index}`), { status: 400, field }, `${name}: ${text}`)
    }
  }
})

t.test('a policy ends at the instant that its spelling says', async t => {
  const past = new Date(Date.now() - 60_000).toISOString()
  for (const notAfter of [past, past.toLowerCase(), past.replace('Z', '999999999+00:00')]) {
    const { body } = await host.send('/user/v1/sessions', { body: { policy: { notAfter } }, headers })
    const denied = await host.send('/user/v1/cards', { headers: bearer(body['sessionToken'] as string) })
    t.match(denied, { status: 403, body: { error: 'policy_blocked', rule: 'notAfter' } }, notAfter)
  }
})
