import assert from 'node:assert/strict'
import { race } from '@gatewright/kernel/testing'
import type { IdempotencyStorage, RunRecord } from '../storage/port.ts'
import { DAY, LEASE, MINUTE, NOW, started, type DefineTest } from './support.ts'

const PRINT = 'a'.repeat(43)

/** Defines the tests of lost runs that somebody takes over. */
export function takeOvers(test: DefineTest): void {
  const LATER = LEASE + MINUTE

  test('takes over a run exactly at the end of its lease, with a larger fence, and not before', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    assert.equal(await connection(1).takeOver(key, fence, LATER, LEASE - 1), undefined)
    const taken = await connection(1).takeOver(key, fence, LATER, LEASE)
    assert.ok(taken !== undefined && taken >= LEASE, `the fence is the clock, not ${taken}`)
    assert.deepEqual(await connection(0).begin(key, 'a', LATER, LATER - 1), { state: 'running' })
    assert.deepEqual(await connection(0).begin(key, 'a', LATER, LATER), { state: 'lost', fence: taken })
  })

  test('gives a larger fence to a take-over whose clock is behind', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    await connection(0).end(key, fence, { state: 'lost' }, NOW)
    assert.equal(await connection(1).takeOver(key, fence, LATER, NOW - MINUTE), fence + 1)
  })

  test('takes over no run of another fence, none that has ended, and no unknown key', async (connection, key) => {
    assert.equal(await connection(0).takeOver(key, NOW, LATER, LEASE), undefined)
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    for (const other of [fence - 1, fence + 1])
      assert.equal(await connection(0).takeOver(key, other, LATER, LEASE), undefined)
    const ending = { state: 'done', response: '{}', expiresAt: LATER } as const
    await connection(0).end(key, fence, ending, LEASE)
    assert.equal(await connection(1).takeOver(key, fence, LATER + DAY, LATER), undefined)
    assert.deepEqual(await connection(0).begin(key, 'a', LATER, LATER - 1), ending)
  })

  test('refuses every ending and extension by an owner whose lost run was taken over', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    const taken = (await connection(1).takeOver(key, fence, LATER, LEASE)) as number
    const done = { state: 'done', response: '"late"', expiresAt: LATER + DAY } as const
    assert.equal(await connection(0).end(key, fence, done, LEASE), false)
    assert.equal(await connection(0).end(key, fence, { state: 'free', expiresAt: LATER }, LEASE), false)
    assert.equal(await connection(0).end(key, fence, { state: 'lost' }, LEASE), false)
    assert.equal(await connection(0).extend(key, fence, LATER + DAY, LEASE), false)
    const decided = { ...done, response: '"decided"' }
    assert.equal(await connection(1).end(key, taken, decided, LEASE), true)
    assert.deepEqual(await connection(0).begin(key, 'a', LATER, LEASE), decided)
  })

  test('gives the run to one of 50 simultaneous take-overs', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    const taken = await race(50, index => connection(index).takeOver(key, fence, LATER, LEASE))
    assert.equal(taken.filter(each => each !== undefined).length, 1)
  })

  test('gives the run to one of simultaneous take-overs, recoveries and late endings', async (connection, key) => {
    for (let round = 0; round < 10; round++) {
      const name = `${key}${round}`
      const fence = started(await connection(0).begin(name, 'a', LEASE, NOW))
      const done = { state: 'done', response: '"late"', expiresAt: LEASE + DAY } as const
      const results = await race(8, async index => {
        const storage = connection(index + round)
        if (index % 3 === 0) return (await storage.takeOver(name, fence, LATER, LEASE)) !== undefined
        if (index % 3 === 1) return storage.end(name, fence, { ...done, response: `${index}` }, LEASE)
        return storage.end(name, fence, { state: 'free', expiresAt: LATER + index }, LEASE)
      })
      const { state } = await connection(round).begin(name, 'a', LATER, LEASE)
      const kinds = [0, 1, 2].map(kind => results.some((won, index) => won && index % 3 === kind))
      assert.equal(kinds.filter(Boolean).length, 1, `one kind wins, not ${kinds.join()}`)
      assert.equal(state, ['running', 'done', 'started'][kinds.indexOf(true)])
    }
  })
}

/** Defines the tests of the decisions that are kept with a record. */
export function decisions(test: DefineTest): void {
  const NOTE = 'by "Zoë" \\ \n\u0001 \u{1f4b8} 5d4b'

  test('keeps the decision with an ending, and through later runs of the key', async (connection, key) => {
    const first = started(await connection(0).begin(key, PRINT, LEASE, NOW))
    assert.equal((await connection(1).find(key))?.decision, null)
    const free = { state: 'free', expiresAt: NOW + DAY } as const
    assert.equal(await connection(0).end(key, first, { ...free, decision: NOTE }, NOW), true)
    assert.equal((await connection(1).find(key))?.decision, NOTE)
    const second = started(await connection(0).begin(key, PRINT, LEASE, NOW))
    assert.equal((await connection(1).find(key))?.decision, NOTE)
    const done = { state: 'done', response: '{"é":1}', expiresAt: NOW + DAY } as const
    assert.equal(await connection(0).end(key, second, done, NOW), true)
    assert.equal((await connection(1).find(key))?.decision, NOTE)
    assert.deepEqual(await connection(2).begin(key, PRINT, LEASE, NOW), done)
  })

  test('replaces a decision by the next one, and keeps it if a repeated ending has another', async (connection, key) => {
    const done = { state: 'done', response: '{}', expiresAt: NOW + 1 } as const
    for (const decision of ['x'.repeat(2000), 'second']) {
      const fence = started(await connection(0).begin(key, PRINT, LEASE, NOW + 1))
      assert.equal(await connection(0).end(key, fence, { ...done, decision }, NOW), true)
      assert.equal(await connection(1).end(key, fence, { ...done, decision: 'other' }, NOW), true)
      assert.equal((await connection(2).find(key))?.decision, decision)
    }
  })

  test('keeps the records of keys apart that differ only in the account, or have none', async (connection, key) => {
    const [digest = ''] = key.split('.')
    const keys = [`${digest}.acc_1`, `${digest}.acc_2`, digest]
    const fences = await Promise.all(
      keys.map(async each => started(await connection(0).begin(each, each, LEASE, NOW))),
    )
    for (const [index, each] of keys.entries()) {
      assert.equal((await connection(1).find(each))?.key, each)
      const done = { state: 'done', response: `"${each}"`, expiresAt: LEASE } as const
      assert.equal(await connection(1).end(each, fences[index] as number, done, NOW), true)
      assert.deepEqual(await connection(0).begin(each, each, LEASE, NOW), done)
    }
  })

  test('finds the label, the begin and the state of a record, and nothing under a new key', async (connection, key) => {
    const label = { operation: 'payments.create', account: '{"tenant":"Zoë \\u0000 \\n"}' }
    assert.equal(await connection(0).find(key), undefined)
    const fence = started(await connection(0).begin(key, PRINT, LEASE, NOW, label))
    const record: RunRecord = {
      key,
      fingerprint: PRINT,
      fence,
      ...label,
      beganAt: NOW,
      state: 'running',
      until: LEASE,
      decision: null,
    }
    assert.deepEqual(await connection(1).find(key), record)
    const taken = (await connection(1).takeOver(key, fence, LEASE + DAY, LEASE)) as number
    const owned = { ...record, fence: taken, until: LEASE + DAY }
    assert.deepEqual(await connection(2).find(key), owned)
    await connection(1).end(key, taken, { state: 'free', expiresAt: LEASE + MINUTE }, LEASE)
    assert.deepEqual(await connection(2).find(key), { ...owned, state: 'free', until: LEASE + MINUTE })
    const again = started(await connection(0).begin(key, 'b'.repeat(43), LEASE + DAY, LEASE + MINUTE))
    assert.deepEqual(await connection(2).find(key), {
      ...record,
      fingerprint: 'b'.repeat(43),
      fence: again,
      operation: '',
      account: '',
      beganAt: LEASE + MINUTE,
      until: LEASE + DAY,
    })
  })
}

/** Defines the tests of the list of lost runs. Each uses an account of its own, because the store may be shared. */
export function lostRunLists(test: DefineTest): void {
  const listed = async (storage: IdempotencyStorage, account: string, now: number): Promise<string[]> =>
    (await storage.listLost({ limit: 100, now, account })).map(({ key }) => key)

  test('lists runs from the end of their lease on, and no running, done or free ones', async (connection, key) => {
    const label = { operation: 'payments.create', account: key }
    const begin = async (part: string): Promise<number> =>
      started(await connection(0).begin(key + part, PRINT, LEASE, NOW, label))
    await begin('a')
    await connection(0).end(`${key}b`, await begin('b'), { state: 'lost' }, NOW)
    const expiresAt = LEASE + DAY
    await connection(0).end(`${key}c`, await begin('c'), { state: 'done', response: '{}', expiresAt }, NOW)
    await connection(0).end(`${key}d`, await begin('d'), { state: 'free', expiresAt }, NOW)
    assert.deepEqual(await listed(connection(1), key, LEASE - 1), [`${key}b`])
    assert.deepEqual(await listed(connection(1), key, LEASE), [`${key}a`, `${key}b`])
    const [first, second] = await connection(2).listLost({ limit: 100, now: LEASE, account: key })
    const run = { fingerprint: PRINT, fence: NOW, ...label, beganAt: NOW, state: 'running', decision: null }
    assert.deepEqual(first, { key: `${key}a`, until: LEASE, ...run })
    assert.deepEqual(second, { key: `${key}b`, until: 0, ...run })
  })

  test('lists a run no longer while it is taken over, and after it was decided', async (connection, key) => {
    const fence = started(await connection(0).begin(key, PRINT, LEASE, NOW, { operation: 'o', account: key }))
    const taken = (await connection(1).takeOver(key, fence, LEASE + MINUTE, LEASE)) as number
    assert.deepEqual(await listed(connection(2), key, LEASE), [])
    assert.deepEqual(await listed(connection(2), key, LEASE + MINUTE), [key])
    await connection(1).end(key, taken, { state: 'free', expiresAt: LEASE + DAY }, LEASE)
    assert.deepEqual(await listed(connection(2), key, LEASE + DAY), [])
    started(await connection(0).begin(key, PRINT, LEASE + 1, LEASE, { operation: 'o', account: key }))
    assert.deepEqual(await listed(connection(2), key, LEASE), [])
    assert.deepEqual(await listed(connection(2), key, LEASE + 1), [key])
  })

  test('lists runs in the order of their begins, those of one instant by key, in pages', async (connection, key) => {
    const label = { operation: 'o', account: key }
    // Different first letters, because an adapter may keep them apart.
    const keys = ['b', 'Z', 'a', '-', '0', '_', 'Q', 'x', '9'].map(letter => `${letter}${key}`.slice(0, 64))
    const began = new Map(keys.map((each, index) => [each, NOW + (index % 3)]))
    for (const [each, at] of began) started(await connection(0).begin(each, PRINT, LEASE, at, label))
    const at = (each: string): number => began.get(each) as number
    const expected = keys.toSorted((one, other) => at(one) - at(other) || (one < other ? -1 : 1))
    for (const limit of [1, 2, 4, 9, 100]) {
      const found: RunRecord[] = []
      for (let pages = 0; pages < 10; pages++) {
        const page = { limit, now: LEASE, account: key, after: found.at(-1) }
        const records = await connection(pages).listLost(page)
        found.push(...records)
        if (records.length < limit) break
        assert.equal(records.length, limit)
      }
      assert.deepEqual(
        found.map(record => record.key),
        expected,
      )
    }
  })

  test('lists the runs of one account, or of all', async (connection, key) => {
    const begin = (part: string, account: string): Promise<unknown> =>
      connection(0).begin(key + part, PRINT, LEASE, NOW, { operation: 'o', account })
    await begin('1', `${key}é`)
    await begin('2', `${key}e`)
    assert.deepEqual(await listed(connection(1), `${key}é`, LEASE), [`${key}1`])
    assert.deepEqual(await listed(connection(1), `${key}E`, LEASE), [])
    const all: RunRecord[] = []
    for (;;) {
      const page = await connection(1).listLost({ limit: 500, now: LEASE, after: all.at(-1) })
      all.push(...page)
      if (page.length < 500) break
    }
    const own = all.filter(record => record.key.startsWith(key)).map(record => record.key)
    assert.deepEqual(own, [`${key}1`, `${key}2`])
  })
}
