// Stored responses are encrypted by option, on every store, with keys that can be replaced.
import { randomBytes } from 'node:crypto'
import { createIdempotency, createLostRuns, type IdempotencyStorage } from '@gatewright/idempotency-store'
import type { ResponseEncryption } from '#packages/idempotency-store/dist/response/encryption.js'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import {
  migrateIdempotency,
  postgresIdempotency,
  postgresTransactionalIdempotency,
} from '@gatewright/idempotency-store/postgres'
import { redisIdempotency } from '@gatewright/idempotency-store/redis'
import { migrateIdempotency as migrateSqlite, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { Fault } from '@gatewright/kernel'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { openPostgres, openRedis, openSqlite, uniqueName } from '../../harness/stores.ts'
import { instantTimer, stillTimer, write } from '../support.ts'

const [OLD, NEW] = [
  { id: '2026-01', key: randomBytes(32) },
  { id: '2026-02', key: randomBytes(32) },
] as const
const SECRET = 'card 4242 4242 4242 4242 – é 💸'
const RESPONSE = {
  status: 201,
  headers: [['content-type', 'application/json']] as const,
  body: JSON.stringify({ secret: SECRET, filler: 'x'.repeat(20_000) }),
  spends: [{ amountCents: 5, currency: 'USD' }],
}

/** A storage that remembers the responses that it was given. */
function spied(storage: IdempotencyStorage): { storage: IdempotencyStorage; texts: string[] } {
  const texts: string[] = []
  return {
    texts,
    storage: {
      ...storage,
      end(key, fence, ending, now) {
        if (ending.state === 'done') texts.push(ending.response)
        return storage.end(key, fence, ending, now)
      },
    },
  }
}

const make = (storage: IdempotencyStorage, encryption?: ResponseEncryption, clock = manualClock()) =>
  createIdempotency({ storage, clock, timer: stillTimer, ...(encryption ? { encryption } : {}) })

async function store(idempotency: ReturnType<typeof make>, key: string): Promise<void> {
  const begun = await idempotency.begin(write({ key }))
  if (!begun.ok || begun.value.state !== 'started') throw new Error(JSON.stringify(begun))
  await idempotency.complete(begun.value.claim, RESPONSE)
}

const STORES = {
  memory: async () => ({ storage: memoryIdempotency(), close: async () => {} }),
  async SQLite() {
    const { connections, close } = await openSqlite(1, migrateSqlite)
    return { storage: sqliteIdempotency(connections[0] as SqlClient), close }
  },
  async Postgres() {
    const { connections, close } = await openPostgres(1, migrateIdempotency)
    return { storage: postgresIdempotency(connections[0] as SqlClient), close }
  },
  async Redis() {
    const { connections, close } = await openRedis(1)
    return { storage: redisIdempotency(connections[0]!, { prefix: uniqueName() }), close }
  },
}

for (const [name, open] of Object.entries(STORES)) {
  await t.test(`stores no part of a response in the clear, and replays it, in ${name}`, async t => {
    const opened = await open()
    t.teardown(opened.close)
    const { storage, texts } = spied(opened.storage)
    await store(make(storage, { keys: [OLD] }), 'key-00000001')
    t.equal(texts.length, 1)
    t.match(texts[0], /^e1\.2026-01\.[\w+/=]+\.[\w+/=]+$/)
    // With characters that base64 does not have: it may have any others by chance.
    for (const part of ['4242 4242', '"USD"', 'content-type', '201 ']) t.notOk(texts[0]?.includes(part), part)
    const replay = { ok: true, value: { state: 'replay', response: RESPONSE } }
    t.match(await make(storage, { keys: [OLD] }).begin(write({ key: 'key-00000001' })), replay)
  })
}

await t.test('encrypts with the newest key, and reads what older keys or none have stored', async t => {
  const { storage, texts } = spied(memoryIdempotency())
  await store(make(storage), 'key-plain')
  await store(make(storage, { keys: [OLD] }), 'key-older')
  const rotated = { keys: [NEW, OLD] }
  await store(make(storage, rotated), 'key-newer')
  t.match(texts, [/^201 /, /^e1\.2026-01\./, /^e1\.2026-02\./])
  for (const key of ['key-plain', 'key-older', 'key-newer'])
    t.match(await make(storage, rotated).begin(write({ key })), { value: { response: RESPONSE } }, key)
})

await t.test(
  'faults on an unknown key, another key of the same id and no key, and never runs again',
  async t => {
    const storage = memoryIdempotency()
    await store(make(storage, { keys: [OLD] }), 'key-00000001')
    for (const [encryption, code, message] of [
      [{ keys: [NEW] }, 'ERR_DATA_KEY_MISSING', / the key 2026-01: add it to encryption\.keys again$/],
      [{ keys: [{ id: OLD.id, key: NEW.key }] }, 'ERR_STORE_REPLY', /the key 2026-01: it was changed/],
      [undefined, 'ERR_STORE_REPLY', /expected a stored response$/],
    ] as const) {
      const idempotency = make(storage, encryption)
      for (const _ of [1, 2])
        await t.rejects(idempotency.begin(write({ key: 'key-00000001' })), { name: 'Fault', code, message })
    }
    t.match(await make(storage, { keys: [NEW, OLD] }).begin(write({ key: 'key-00000001' })), {
      value: { state: 'replay' },
    })
  },
)

await t.test('faults on a response that was changed, cut, or moved to another record', async t => {
  const clock = manualClock()
  const inner = memoryIdempotency()
  const { storage, texts } = spied(inner)
  await store(make(storage, { keys: [OLD] }, clock), 'key-00000001')
  const [text = ''] = texts
  const [mark, id, iv = '', sealed = ''] = text.split('.')
  const flipped = (part: string): string => (part.startsWith('A') ? `B${part.slice(1)}` : `A${part.slice(1)}`)
  const hostile = [
    text,
    [mark, id, flipped(iv), sealed].join('.'),
    [mark, id, iv, flipped(sealed)].join('.'),
    [mark, id, iv, sealed.slice(0, -8)].join('.'),
    [mark, id, iv].join('.'),
    [mark, id, '', ''].join('.'),
    `${text}.more?`.replace(sealed, '***'),
  ]
  for (const [index, response] of hostile.entries()) {
    const key = `key-0000001${index}`
    // The same text in the record of another key.
    const moved: IdempotencyStorage = {
      ...inner,
      begin: async () => ({ state: 'done', response, expiresAt: clock.now() + 1000 }),
    }
    await t.rejects(make(moved, { keys: [OLD] }, clock).begin(write({ key })), {
      name: 'Fault',
      code: 'ERR_STORE_REPLY',
    })
  }
})

await t.test(
  'a completion that the store has made, but not acknowledged, is repeated with the same text',
  async t => {
    const clock = manualClock()
    const inner = memoryIdempotency()
    const texts: string[] = []
    const storage: IdempotencyStorage = {
      ...inner,
      async end(key, fence, ending, now) {
        const ended = await inner.end(key, fence, ending, now)
        texts.push(ending.state === 'done' ? ending.response : '')
        if (texts.length === 1) throw new Fault('ERR_STORE_UNAVAILABLE', 'the reply was lost')
        return ended
      },
    }
    const idempotency = createIdempotency({
      storage,
      clock,
      timer: instantTimer(clock),
      encryption: { keys: [OLD] },
    })
    const begun = await idempotency.begin(write())
    if (!begun.ok || begun.value.state !== 'started') throw new Error('not started')
    t.match(await idempotency.complete(begun.value.claim, RESPONSE), { state: 'stored' })
    t.equal(texts.length, 2)
    t.equal(texts[0], texts[1])
  },
)

await t.test('encrypts equal responses differently', async t => {
  const { storage, texts } = spied(memoryIdempotency())
  const idempotency = make(storage, { keys: [OLD] })
  for (const key of ['key-00000001', 'key-00000002']) await store(idempotency, key)
  t.not(texts[0], texts[1])
  t.not(texts[0]?.split('.')[2], texts[1]?.split('.')[2], 'another nonce')
})

await t.test('encrypts what an operator and the option recover decide', async t => {
  const clock = manualClock()
  const encryption = { keys: [OLD] }
  for (const by of ['operator', 'recover']) {
    const { storage, texts } = spied(memoryIdempotency())
    const options = { storage, clock, timer: stillTimer, encryption }
    const recover = async () => ({ state: 'completed', response: RESPONSE }) as const
    const host = createIdempotency(by === 'recover' ? { recover, ...options } : options)
    await host.begin(write())
    clock.advance(60_000)
    const operator = createLostRuns({ storage, clock, encryption })
    const [run] = (await operator.list()).runs
    if (by === 'operator') await operator.resolve(run?.id ?? '', { by, reason: 'r', response: RESPONSE })
    t.match(await host.begin(write()), { value: { state: 'replay', response: RESPONSE } })
    t.match(texts, [/^e1\./])
  }
})

for (const dialect of ['SQLite', 'Postgres'] as const) {
  await t.test(`encrypts in a transaction of ${dialect}`, async t => {
    const { connections, close } = await (dialect === 'SQLite'
      ? openSqlite(1, migrateSqlite)
      : openPostgres(1, migrateIdempotency))
    t.teardown(close)
    const db = connections[0] as SqlClient
    const transactional = () =>
      createTransactionalIdempotency({
        db,
        storage: tx => (dialect === 'SQLite' ? sqliteIdempotency(tx) : postgresTransactionalIdempotency(tx)),
        encryption: { keys: [OLD] },
      })
    t.match(await transactional().run(write(), async () => RESPONSE), { value: { replayed: false } })
    const [row] = await rows(db, 'select response from gw_idempotency')
    t.match(row?.['response'], /^e1\.2026-01\./)
    const never = async () => t.fail('ran again') as never
    for (const prepare of [undefined, never])
      t.match(await transactional().run(write(), never, prepare), {
        value: { replayed: true, response: RESPONSE },
      })
  })
}

await t.test('refuses keys that are not as declared, and names the option', async t => {
  const storage = memoryIdempotency()
  for (const [encryption, message] of [
    [{}, /encryption\.keys must be a list/],
    [{ keys: [] }, /at least one/],
    [{ keys: [{ id: 'a b', key: OLD.key }] }, /keys\[0\]\.id/],
    [{ keys: [OLD, { id: 'b', key: randomBytes(16) }] }, /keys\[1\]\.key must be a Uint8Array of 32 bytes/],
    [{ keys: [{ id: 'b', key: 'x'.repeat(32) }] }, /keys\[0\]\.key/],
    // 32 bytes of another type, of which only some would become the key.
    [{ keys: [{ id: 'b', key: new Uint16Array(16) }] }, /keys\[0\]\.key must be a Uint8Array/],
    [{ keys: [{ id: 'b', key: new DataView(new ArrayBuffer(32)) }] }, /keys\[0\]\.key must be a Uint8Array/],
    [{ keys: [OLD, OLD] }, /2026-01 twice/],
  ] as const) {
    for (const create of [createIdempotency, createLostRuns])
      t.throws(() => create({ storage, encryption } as never), { name: 'TypeError', message })
  }
})
