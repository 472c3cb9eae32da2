import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { FEED_LANES, FEED_START, positionsAfter, type FeedChange, type FeedEntry } from '@gatewright/kernel'
import { openedTests } from '@gatewright/kernel/internal/testing'
import type { TestRunner } from '@gatewright/kernel/testing'
import type { RevocationFeed } from '../storage/feed-port.ts'

/** An empty feed under test, and how entries are appended to it. */
export interface RevocationFeedUnderTest {
  readonly feed: RevocationFeed
  /** Appends entries at their lanes and positions, in this order, as the issuer does. */
  append(entries: readonly FeedEntry[]): Promise<void>
  close(): Promise<void>
}

const NOW = 1_767_225_600_000

/** Every kind of entry, some with ids that adapters may fail to store. */
const CHANGES: readonly FeedChange[] = [
  { kind: 'session', id: 'ses_1', at: NOW },
  { kind: 'key', id: 'key_1', version: 2, at: NOW + 1 },
  { kind: 'key', id: 'key_2', version: 5, at: NOW + 2, from: NOW + 9 },
  { kind: 'key', id: "'; drop table gw_feed; --", at: NOW + 3 },
  { kind: 'session', id: '{tag}:*\r\né\ud83d\ude00', at: NOW + 4 },
]
const LANE = 3
const ENTRIES: readonly FeedEntry[] = CHANGES.map((change, index) => ({
  ...change,
  lane: LANE,
  position: index + 1,
}))

/** A revocation in a lane. */
const entryAt = (lane: number, position: number, at: number = NOW): FeedEntry => ({
  kind: 'session',
  id: `ses ${lane} ${position}`,
  at,
  lane,
  position,
})

/** The positions of a reader that has read one lane up to a position, and nothing else. */
const upTo = (position: number): readonly number[] => FEED_START.with(LANE, position)

const byPlace = (one: FeedEntry, other: FeedEntry): number =>
  one.lane - other.lane || one.position - other.position

/** Declares the tests of the `RevocationFeed` contract. Run it against every reader. `open` is called once per test. */
export function revocationFeedContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<RevocationFeedUnderTest>,
): void {
  const test = openedTests(runner, open)

  runner.describe(`RevocationFeed on ${name}`, () => {
    test('returns nothing from an empty feed', async ({ feed }) => {
      assert.deepEqual(await feed.after(FEED_START, 10), [])
    })

    test('returns every member of every entry as it was appended, oldest first', async ({ feed, append }) => {
      await append(ENTRIES)
      assert.deepEqual(await feed.after(FEED_START, 10), ENTRIES)
    })

    test('returns the entries after a position, at most the given number', async ({ feed, append }) => {
      await append(ENTRIES)
      assert.deepEqual(await feed.after(upTo(0), 2), ENTRIES.slice(0, 2))
      assert.deepEqual(await feed.after(upTo(2), 2), ENTRIES.slice(2, 4))
      assert.deepEqual(await feed.after(upTo(4), 2), ENTRIES.slice(4))
      assert.deepEqual(await feed.after(upTo(5), 2), [])
    })

    test('orders entries by position, not by text or by time', async ({ feed, append }) => {
      const late = Array.from({ length: 12 }, (_, n) => ({
        ...entryAt(LANE, n + 1, NOW - n),
        id: randomUUID(),
      }))
      await append(late)
      assert.deepEqual(await feed.after(upTo(8), 10), late.slice(8))
    })

    test('reads each lane from its own position, the first and the last lane too', async ({
      feed,
      append,
    }) => {
      const lanes = FEED_START.map((_, lane) => [entryAt(lane, 1), entryAt(lane, 2)] as const)
      for (const [first] of lanes) await append([first])
      for (const [, second] of lanes.toReversed()) await append([second])
      const all = lanes.flat()
      assert.deepEqual((await feed.after(FEED_START, 10)).toSorted(byPlace), all)
      const odd = FEED_START.map((_, lane) => (lane % 2 === 0 ? 0 : 1))
      assert.deepEqual(
        (await feed.after(odd, 10)).toSorted(byPlace),
        all.filter(({ lane, position }) => lane % 2 === 0 || position === 2),
      )
    })

    test('finds an entry that another lane gets after an entry with a larger position was read', async opened => {
      const { feed, append } = opened
      await append([entryAt(FEED_LANES - 1, 9)])
      const positions = positionsAfter(FEED_START, await feed.after(FEED_START, 10))
      await append([entryAt(0, 1)])
      assert.deepEqual(await feed.after(positions, 10), [entryAt(0, 1)])
    })

    test('returns at most the given number of each lane, so a full lane does not hide another', async opened => {
      const { feed, append } = opened
      const full = Array.from({ length: 12 }, (_, n) => entryAt(LANE, n + 1))
      const other = [entryAt(LANE + 1, 1), entryAt(LANE + 1, 2)]
      await append([...full, ...other])
      const read: FeedEntry[] = []
      for (let positions = FEED_START, pages = 0, last = false; !last; pages++) {
        const page = await feed.after(positions, 5)
        assert.deepEqual(
          page.filter(({ lane }) => lane === LANE),
          full.slice(5 * pages, 5 * pages + 5),
        )
        if (pages === 0) assert.equal(page.length, 7)
        read.push(...page)
        positions = positionsAfter(positions, page)
        last = page.length < 5
      }
      assert.deepEqual(read.toSorted(byPlace), [...full, ...other])
    })

    test('notifies its listener after an append, if it can, and not after the subscription ended', async opened => {
      const { feed, append } = opened
      if (!feed.subscribe) return
      let calls = 0
      let wake: () => void = () => {}
      const woken = new Promise<void>(resolve => {
        wake = resolve
      })
      const end = await feed.subscribe(() => {
        calls++
        wake()
      })
      await append(ENTRIES.slice(0, 1))
      await woken
      await end()
      const before = calls
      await append(ENTRIES.slice(1))
      assert.equal(calls, before)
    })
  })
}
