import assert from 'node:assert/strict'
import type { ChangePage, ListingProvider } from '../providers/changes.ts'
import type { NamedProvider } from '../providers/port.ts'
import type { Reply } from '../providers/reply.ts'
import { assertValid, signal, type DeclareTest, type ProviderUnderTest } from './support.ts'

const HOUR_MS = 3_600_000
/** How many pages are read at most: a list that never ends would keep an operator waiting after a restore. */
const MOST_PAGES = 10_000

/** The test of `changedSince`, for a provider that has it. `make` makes something under an id. */
export function changesTest<P extends NamedProvider & ListingProvider<{ readonly id: string }>>(
  test: DeclareTest<ProviderUnderTest<P>>,
  page: Reply<unknown>,
  make: (provider: P, id: string) => Promise<unknown>,
): void {
  test('lists what was made since an instant, each once, and nothing from before', async (opened, id) => {
    const { provider } = opened
    const changedSince = provider.changedSince?.bind(provider)
    if (!changedSince) return
    const made = [id, `${id}2`, `${id}3`]
    for (const each of made) await make(provider, each)
    const listed = async (since: number): Promise<string[]> => {
      const ids: string[] = []
      let after: string | null = null
      let pages = 0
      do {
        const read: ChangePage<{ readonly id: string }> = await changedSince(since, after, signal)
        assertValid(read, page)
        ids.push(...read.changes.map(change => change.id))
        after = read.next
        pages += 1
        assert.ok(pages < MOST_PAGES, 'the list must end')
      } while (after !== null)
      return ids.filter(each => made.includes(each)).toSorted()
    }
    assert.deepEqual(await listed(Date.now() - HOUR_MS), made.toSorted())
    assert.deepEqual(await listed(Date.now() + HOUR_MS), [])
  })
}
