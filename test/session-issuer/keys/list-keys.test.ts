import t from 'tap'
import type { ApiKey, Issuer } from '@gatewright/session-issuer'
import type { KeyPage } from '#packages/session-issuer/dist/keys/list-keys.js'
import { allPages, DAY, must, newKey, newSession, setUp, setUpStored } from '../fixtures.ts'

/** Reads all pages. `between` runs after each page. */
const pagesOf = (
  issuer: Issuer,
  caller: ApiKey,
  limit?: number,
  between?: () => Promise<unknown>,
): Promise<KeyPage[]> =>
  allPages(after => issuer.listKeys(caller, { ...(limit && { limit }), ...after }), between)
const idsOf = (pages: readonly KeyPage[]): string[] =>
  pages.flatMap(({ keys }) => keys.map(({ key }) => key.id))
const bytesOf = ({ keys }: KeyPage): number =>
  keys.reduce(
    (sum, { policies }) => sum + policies.reduce<number>((all, one) => all + JSON.stringify(one).length, 0),
    0,
  )
const padded = (bytes: unknown): object => ({ x: 'x'.repeat((bytes as number) - '{"x":""}'.length) })

t.test('lists keys in pages, newest first, those of one instant by falling id', async t => {
  const { issuer, clock } = setUp()
  const { key: root } = await newKey(issuer, ['a.read'])
  const made: ApiKey[] = [root]
  for (let n = 0; n < 9; n++) {
    if (n % 3 === 0) clock.advance(1)
    made.push((await newKey(issuer, [], { parent: root })).key)
  }
  const sorted = made
    .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id)
  for (const limit of [1, 3, 4, 9, 10, 100]) {
    const pages = await pagesOf(issuer, root, limit)
    t.same(idsOf(pages), sorted, `limit ${limit}`)
    t.same(pages.length, Math.ceil(10 / limit), `pages at limit ${limit}`)
  }
})

t.test('repeats and misses no key while others are created and revoked between the pages', async t => {
  const { issuer, clock } = setUp()
  const { key: root } = await newKey(issuer, ['a.read'])
  for (let n = 0; n < 8; n++) {
    clock.advance(1)
    await newKey(issuer, [], { parent: root })
  }
  const before = idsOf(await pagesOf(issuer, root, 100))
  let ended: string | undefined
  const pages = await pagesOf(issuer, root, 2, async () => {
    clock.advance(1)
    await newKey(issuer, [], { parent: root })
    // Ends and deletes the last key of the first page, so that the position names a key that is gone.
    if (ended !== undefined) return
    must(await issuer.revokeKey(root, (ended = before[1] as string)))
    clock.advance(8 * DAY)
    t.match(await issuer.maintain(), { collectedKeys: 1 })
  })
  t.same(idsOf(pages), before)
})

t.test('lists 50 keys unless asked for up to 100, and throws for another limit', async t => {
  const { issuer } = setUp({ maxLiveKeys: 200, maxKeysBelow: 200 })
  const { key: root } = await newKey(issuer, [])
  for (let n = 0; n < 110; n++) await newKey(issuer, [], { parent: root })
  t.equal(must(await issuer.listKeys(root)).keys.length, 50)
  t.equal(must(await issuer.listKeys(root, { limit: 100 })).keys.length, 100)
  for (const limit of [0, 101, 1.5, NaN])
    await t.rejects(issuer.listKeys(root, { limit }), {
      name: 'TypeError',
      message: /^limit must be an integer/,
    })
})

t.test('ends a page before its policies pass 32 KiB, and gives each key some page', async t => {
  const { issuer, clock } = setUpStored(padded)
  const { key: root } = await newKey(issuer, [])
  const sizes = [16_384, 16_384, 1000, 31_769, 100, 32_768, 32_769, 50]
  for (const size of sizes) {
    clock.advance(1)
    await newKey(issuer, [], { parent: root, policy: size })
  }
  const pages = await pagesOf(issuer, root)
  t.same(
    pages.map(page => [page.keys.length, bytesOf(page)]),
    // The root, made first and so last, has no policy.
    [
      [1, 50],
      [1, 32_769],
      [1, 32_768],
      [2, 31_869],
      [2, 17_384],
      [2, 16_384],
    ],
  )
  t.equal(idsOf(pages).length, sizes.length + 1)
})

t.test('reads no policy of a key on another page', async t => {
  const set = setUp()
  const { key: root } = await newKey(set.issuer, [])
  for (let n = 0; n < 40; n++) {
    set.clock.advance(1)
    if (n % 2 === 0)
      must(
        await set.issuer.revokeKey(
          root,
          (await newKey(set.issuer, [], { parent: root, policy: { n } })).key.id,
        ),
      )
  }
  let read: readonly string[] = []
  const { keys } = set.options
  const spied = {
    ...keys,
    policies: (ids: readonly string[]) => ((read = [...read, ...ids]), keys.policies(ids)),
  }
  const { issuer } = setUp({ ...set.options, keys: spied })
  const page = must(await issuer.listKeys(root, { limit: 5 }))
  t.equal(page.keys.length, 5)
  t.same(
    read,
    page.keys.flatMap(({ key }) => key.policyIds),
  )
})

t.test('shows the keys a caller may see without their policies', async t => {
  const { issuer } = setUp()
  const { key: root } = await newKey(issuer, [])
  const { key: child } = await newKey(issuer, [], { parent: root })
  const { key: below } = await newKey(issuer, [], { parent: child })
  const { key: other } = await newKey(issuer, [], { parent: root })
  const seen = async (by: Parameters<Issuer['visibleKeys']>[0]): Promise<string[]> =>
    must(await issuer.visibleKeys(by))
      .map(({ id }) => id)
      .sort()
  t.same(await seen(root), [root, child, below, other].map(({ id }) => id).sort())
  t.same(await seen(child), [child, below].map(({ id }) => id).sort())
  t.same(await seen(await newSession(issuer, below)), [below.id])
  t.notMatch(JSON.stringify(must(await issuer.visibleKeys(root))), /digest|pepper/)
  must(await issuer.revokeKey(root, child.id))
  t.match(await issuer.visibleKeys(child), { code: 'unauthorized' })
})

t.test('fills a page with policies of exactly 32 KiB, and no byte more', async t => {
  for (const [second, pages] of [
    [16_384, 1],
    [16_385, 2],
  ] as const) {
    const { issuer } = setUpStored(padded)
    const { key: root } = await newKey(issuer, [])
    for (const size of [16_384, second]) await newKey(issuer, [], { parent: root, policy: size })
    t.equal((await pagesOf(issuer, root)).length, pages)
  }
})

t.test('shows all own policies of a key that shares the first of them with other keys', async t => {
  const { issuer, clock } = setUp()
  const { key: root } = await newKey(issuer, [])
  const session = await newSession(issuer, root, { policy: { shared: true } })
  const own = [{ own: 0 }, undefined, { own: 2 }, { own: 3 }, { own: 4 }]
  for (const policy of own) {
    clock.advance(1)
    await newKey(issuer, [], { parent: session, ...(policy && { policy }) })
  }
  const [page] = await pagesOf(issuer, root)
  t.same(
    page?.keys.map(({ policies }) => policies),
    [...own.map(policy => [{ shared: true }, ...(policy ? [policy] : [])]).toReversed(), []],
  )
})
