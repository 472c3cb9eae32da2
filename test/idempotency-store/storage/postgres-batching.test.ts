import type { Ending, BeginResult } from '#packages/idempotency-store/dist/storage/port.js'
import { postgresIdempotency } from '@gatewright/idempotency-store/postgres'
import { Fault, GRACE_MS } from '@gatewright/kernel'
import type { SqlClient, SqlRow } from '@gatewright/kernel/sql'
import { withinTransactionScope } from '@gatewright/kernel/internal/sql'
import { race } from '@gatewright/kernel/testing'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import {
  beginAll,
  done,
  endAll,
  keys,
  LEASE,
  NOW,
  openHost,
  openHosts,
  STARTED,
  times,
  watch,
  type Host,
} from './hosts.ts'

void t.test('sends a first call alone, and the calls made meanwhile in one statement', async t => {
  const { storage, batchSizes, failedStates } = await openHost(t)
  t.same(await beginAll(storage, keys(50)), times(50, STARTED))
  t.same(await endAll(storage, keys(50), done('{}')), times(50, true))
  t.same(await beginAll(storage, keys(50)), times(50, done('{}')))
  t.same(batchSizes, [1, 49, 1, 49, 50])
  t.same(failedStates, [])
})

void t.test('sends at most 64 calls in a statement, and has at most 4 statements in flight', async t => {
  const host = await openHost(t)
  const begun = await beginAll(host.storage, keys(1000))
  t.same(begun, times(1000, STARTED))
  t.equal(Math.max(...host.batchSizes), 64)
  t.equal(host.batchSizes.length, 1 + Math.ceil(999 / 64))
  t.equal(host.mostInFlight, 4)
})

void t.test('sends a response of more than 16 KiB alone', async t => {
  const { storage, batchSizes } = await openHost(t)
  await beginAll(storage, keys(4))
  batchSizes.length = 0
  const endings = ['x'.repeat(16_385), 'a', 'b', 'x'.repeat(16_384)].map(done)
  await race(4, index => storage.end(`key ${index}`, NOW, endings[index] as Ending, NOW))
  t.same(
    batchSizes.toSorted((a, b) => a - b),
    [1, 1, 2],
  )
  t.same(await beginAll(storage, keys(4)), endings)
})

void t.test('returns texts byte for byte, and distinguishes an empty response from none', async t => {
  const { storage, failedStates } = await openHost(t)
  const texts = [
    '',
    '"',
    '\\',
    '\\"',
    '{}',
    '{"a":[1,"\\n"]}',
    'NULL',
    'null',
    ',',
    ' ',
    '\n',
    'é\u0301',
    "'",
  ]
  const each = keys(texts.length)
  const begin = (index: number): Promise<BeginResult> =>
    storage.begin(each[index] as string, texts[index] as string, LEASE, NOW)
  t.same(await race(texts.length, begin), Array(texts.length).fill(STARTED))
  const endings = texts.map(done)
  t.same(
    await race(texts.length, index => storage.end(each[index] as string, NOW, endings[index] as Ending, NOW)),
    Array(texts.length).fill(true),
  )
  t.same(await race(texts.length, begin), endings)
  t.same(failedStates, [])
})

void t.test('ends each run of a statement with its own ending', async t => {
  const { storage, batchSizes } = await openHost(t)
  await beginAll(storage, keys(5))
  batchSizes.length = 0
  const endings: Ending[] = [done('"a"'), { state: 'free', expiresAt: LEASE }, { state: 'lost' }, done('"b"')]
  const fences = [NOW, NOW, NOW, NOW - 1]
  const won = await race(5, index =>
    storage.end(`key ${index - 1}`, fences[index - 1] ?? NOW, endings[index - 1] ?? done(''), NOW),
  )
  t.same(won, [false, true, true, true, false])
  t.same(batchSizes, [1, 4])
  t.same(await beginAll(storage, keys(5)), [
    done('"a"'),
    { state: 'started', fence: NOW + 1 },
    { state: 'lost', fence: NOW },
    { state: 'running' },
    { state: 'running' },
  ])
})

void t.test('starts one of many batched begins of a key, on three hosts', async t => {
  const hosts = await openHosts(t, 3)
  for (let round = 0; round < randomCases(20); round++) {
    const each = keys(10, `round ${round}`)
    const begun = await race(180, index => {
      const { storage } = hosts[index % 3] as Host
      return storage.begin(each[index % 10] as string, index < 90 ? 'f' : 'g', LEASE, NOW)
    })
    const counts = [...each.keys()].map(key => {
      const states = begun.filter((_, index) => index % 10 === key).map(({ state }) => state)
      const count = (wanted: string): number => states.filter(state => state === wanted).length
      return [count('started'), count('running'), count('reused')]
    })
    t.same(counts, times(10, [1, 8, 9]))
  }
  t.ok(Math.max(...hosts.flatMap(host => host.batchSizes)) > 5, 'calls shared statements')
  t.same(
    hosts.flatMap(host => host.failedStates),
    [],
  )
})

void t.test('keeps one of many batched endings of a key, on three hosts', async t => {
  const hosts = await openHosts(t, 3)
  for (let round = 0; round < randomCases(20); round++) {
    const each = keys(10, `round ${round}`)
    await beginAll((hosts[0] as Host).storage, each)
    const won = await race(90, index => {
      const { storage } = hosts[index % 3] as Host
      return storage.end(each[index % 10] as string, NOW, done(`${index}`), NOW)
    })
    const kept = await beginAll((hosts[1] as Host).storage, each)
    for (const [key, begun] of kept.entries()) {
      const winners = [...won.keys()].filter(index => index % 10 === key && won[index])
      t.equal(winners.length, 1)
      t.same(begun, done(`${winners[0]}`))
    }
  }
  t.same(
    hosts.flatMap(host => host.failedStates),
    [],
  )
})

void t.test('never deadlocks hosts', async t => {
  const hosts = (await openHosts(t, 3)) as [Host, Host, Host]
  const [one, two, three] = hosts
  const each = keys(64)
  const orders = [each, each.toReversed()]
  for (let round = 0; round < randomCases(30); round++) {
    const now = NOW + 1000 * round
    const begun = await race(128, index => {
      const key = orders[index >> 6]?.[index & 63] as string
      // The records of the last round have ended and are taken over while they are collected.
      if (index === 64) void three.storage.collect(1000, now + GRACE_MS)
      return (hosts[index >> 6] as Host).storage.begin(key, 'f', now + 500, now)
    })
    const fenceOf = new Map<string, number>()
    for (const [index, result] of begun.entries()) {
      if (result.state === 'started') fenceOf.set(orders[index >> 6]?.[index & 63] as string, result.fence)
    }
    t.equal(fenceOf.size, 64, 'each key was started')
    t.equal(begun.filter(({ state }) => state === 'started').length, 64, 'and once')
    const won = await race(192, index => {
      const key = (orders[index >> 6] ?? each)[index & 63] as string
      if (index >= 128) return three.storage.begin(key, 'f', now + 500, now).then(() => false)
      const ending: Ending = { state: 'done', response: `${index >> 6}`, expiresAt: now + 500 }
      return (hosts[index >> 6] as Host).storage.end(key, fenceOf.get(key) as number, ending, now)
    })
    t.equal(won.filter(Boolean).length, 64, 'each key was ended once')
  }
  t.same([...one.failedStates, ...two.failedStates, ...three.failedStates], [])
})

void t.test('sends a statement for each call in a transaction, and with batching: false', async t => {
  const host = await openHost(t)
  const texts: string[] = []
  await host.db.transaction(async tx => {
    let last: Promise<unknown> = Promise.resolve()
    const storage = postgresIdempotency({
      dialect: 'postgres',
      query: (text, values) => {
        texts.push(text)
        const reply = last.then(() => tx.query(text, values))
        last = reply
        return reply
      },
    })
    t.same(await beginAll(storage, keys(5)), times(5, STARTED))
  })
  t.equal(texts.length, 5)
  host.batchSizes.length = 0
  const unbatched = postgresIdempotency(host.db, { batching: false })
  t.same(await beginAll(unbatched, keys(5)), times(5, { state: 'running' }))
  // A begin that finds a record reads it by a second statement.
  t.same(host.batchSizes, times(10, 1))
})

void t.test('refuses only the call made within a transaction of the same client', async t => {
  const { db, storage, batchSizes } = await openHost(t)
  const outside = storage.begin('first', 'f', LEASE, NOW)
  const inside = withinTransactionScope(db, async () =>
    Promise.allSettled([storage.begin('inside', 'f', LEASE, NOW), storage.end('inside', NOW, done(''), NOW)]),
  )
  const others = beginAll(storage, keys(3))
  for (const each of await inside) {
    t.match(each, { status: 'rejected', reason: { code: 'ERR_OUTSIDE_TRANSACTION' } })
  }
  t.same(await outside, STARTED)
  t.same(await others, times(3, STARTED))
  t.same(batchSizes, [1, 3])
})

void t.test('of calls for one key in a statement, the first begins the run', async t => {
  const { storage } = await openHost(t)
  const begun = await race(4, index => storage.begin(index === 0 ? 'other' : 'key', `f${index}`, LEASE, NOW))
  t.same(begun, [STARTED, STARTED, { state: 'reused' }, { state: 'reused' }])
})

void t.test('sends calls again one by one only after an error with the code of the server', async t => {
  const { db } = await openHost(t)
  for (const [code, isRepeated] of [
    ['40P01', true],
    ['08006', false],
    ['ECONNRESET', false],
    ['E_ANY', false],
  ] as const) {
    const cause = Object.assign(new Error('failed'), { code })
    const { storage } = watch(db, async size => {
      if (size > 1) throw new Fault('ERR_STORE_UNAVAILABLE', 'failed', { cause })
    })
    const begun = await Promise.allSettled(keys(3, code).map(key => storage.begin(key, 'f', LEASE, NOW)))
    const rejected = { status: 'rejected', reason: { code: 'ERR_STORE_UNAVAILABLE' } }
    for (const each of begun.slice(1)) t.match(each, isRepeated ? { status: 'fulfilled' } : rejected, code)
  }
})

void t.test(
  'fails all calls of a statement whose reply has a row of another key, or a row twice',
  async t => {
    const { db } = await openHost(t)
    const changes: ((found: readonly SqlRow[]) => readonly SqlRow[])[] = [
      found => found.map(row => ({ ...row, digest: 'unknown' })),
      found => [...found, ...found.slice(1)],
    ]
    for (const [index, change] of changes.entries()) {
      const changing: SqlClient = {
        dialect: 'postgres',
        transaction: work => db.transaction(work),
        query: async (text, values) => {
          const { rows } = await db.query(text, values)
          return { rows: rows.length > 1 ? change(rows) : rows }
        },
      }
      const storage = postgresIdempotency(changing)
      const names = keys(3, `change ${index}`)
      const begun = await Promise.allSettled(names.map(key => storage.begin(key, 'f', LEASE, NOW)))
      for (const each of begun.slice(1)) t.match(each, { reason: { code: 'ERR_STORE_REPLY' } })
    }
  },
)
