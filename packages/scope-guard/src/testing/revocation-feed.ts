import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { FeedChange, FeedEntry } from '@gatewright/kernel'
import type { TestRunner } from '@gatewright/kernel/internal/testing'
import type { RevocationFeed } from '../storage/feed-port.ts'

/** An empty feed under test, and how entries are appended to it. */
export interface RevocationFeedUnderTest {
  readonly feed: RevocationFeed
  /** Appends entries at their positions, as the issuer does. */
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
const ENTRIES: readonly FeedEntry[] = CHANGES.map((change, index) => ({ ...change, position: index + 1 }))

/** Declares the tests of the `RevocationFeed` contract. Run it against every reader. `open` is called once per test. */
export function revocationFeedContract(
  { describe, it }: TestRunner,
  name: string,
  open: () => Promise<RevocationFeedUnderTest>,
): void {
  const test = (title: string, run: (opened: RevocationFeedUnderTest) => Promise<void>): void =>
    it(title, async () => {
      const opened = await open()
      try {
        await run(opened)
      } finally {
        await opened.close()
      }
    })

  describe(`RevocationFeed on ${name}`, () => {
    test('returns nothing from an empty feed', async ({ feed }) => {
      assert.deepEqual(await feed.after(0, 10), [])
    })

    test('returns every member of every entry as it was appended, oldest first', async ({ feed, append }) => {
      await append(ENTRIES)
      assert.deepEqual(await feed.after(0, 10), ENTRIES)
    })

    test('returns the entries after a position, at most the given number', async ({ feed, append }) => {
      await append(ENTRIES)
      assert.deepEqual(await feed.after(0, 2), ENTRIES.slice(0, 2))
      assert.deepEqual(await feed.after(2, 2), ENTRIES.slice(2, 4))
      assert.deepEqual(await feed.after(4, 2), ENTRIES.slice(4))
      assert.deepEqual(await feed.after(5, 2), [])
    })

    test('orders entries by position, not by text or by time', async ({ feed, append }) => {
      const late = Array.from({ length: 12 }, (_, n) => {
        return { kind: 'session', id: randomUUID(), at: NOW - n, position: n + 1 } as const
      })
      await append(late)
      assert.deepEqual(await feed.after(8, 10), late.slice(8))
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
