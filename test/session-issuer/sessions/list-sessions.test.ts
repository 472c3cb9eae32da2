import t from 'tap'
import type { ApiKey, Issuer } from '@gatewright/session-issuer'
import type { SessionPage } from '#packages/session-issuer/dist/sessions/list-sessions.js'
import { allPages, must, newKey, newSession, OWNER, setUp } from '../fixtures.ts'

/** Reads all pages. `between` runs after each page. */
const pagesOf = (
  issuer: Issuer,
  caller: ApiKey,
  limit?: number,
  between?: () => Promise<unknown>,
): Promise<SessionPage[]> =>
  allPages(after => issuer.listSessions(caller, { ...(limit && { limit }), ...after }), between)
const idsOf = (pages: readonly SessionPage[]): string[] =>
  pages.flatMap(({ sessions }) => sessions.map(({ sessionId }) => sessionId))

t.test('lists sessions in pages, latest end first, those of one end by falling id', async t => {
  const { issuer } = setUp()
  const { key } = await newKey(issuer, [])
  const made = []
  for (let n = 0; n < 10; n++) made.push(await newSession(issuer, key, { ttlSeconds: 900 + (n % 3) }))
  const sorted = made
    .toSorted((a, b) => b.expiresAt - a.expiresAt || (a.sessionId < b.sessionId ? 1 : -1))
    .map(({ sessionId }) => sessionId)
  for (const limit of [1, 3, 4, 9, 10, 100]) {
    const pages = await pagesOf(issuer, key, limit)
    t.same(idsOf(pages), sorted, `limit ${limit}`)
    t.same(pages.length, Math.ceil(10 / limit), `pages at limit ${limit}`)
  }
})

t.test('repeats and misses no session while others begin and end between the pages', async t => {
  const { issuer, clock } = setUp()
  const { key } = await newKey(issuer, [])
  for (let n = 0; n < 8; n++) {
    clock.advance(1000)
    await newSession(issuer, key)
  }
  const before = idsOf(await pagesOf(issuer, key, 100))
  const [, last] = before
  const pages = await pagesOf(issuer, key, 2, async () => {
    clock.advance(1000)
    await newSession(issuer, key)
    must(await issuer.endSession(key, last as string))
  })
  t.same(idsOf(pages), before)
})

t.test('lists 50 sessions unless asked for up to 100, and throws for another limit', async t => {
  const { issuer } = setUp()
  const { key } = await newKey(issuer, [])
  for (let n = 0; n < 110; n++) await newSession(issuer, key)
  t.equal(must(await issuer.listSessions(key)).sessions.length, 50)
  t.equal(must(await issuer.listSessions(key, { limit: 100 })).sessions.length, 100)
  for (const limit of [0, 101, 1.5, NaN])
    await t.rejects(issuer.listSessions(key, { limit }), {
      name: 'TypeError',
      message: /^limit must be an integer/,
    })
})

t.test('finds the sessions of a key below behind any number of others', async t => {
  const { issuer, clock } = setUp()
  const { key: root } = await newKey(issuer, [])
  const { key: child } = await newKey(issuer, [], { parent: root })
  const own = [await newSession(issuer, child)]
  clock.advance(1000)
  for (let n = 0; n < 600; n++) await newSession(issuer, root)
  clock.advance(1000)
  own.push(await newSession(issuer, child))
  const pages = await pagesOf(issuer, child)
  t.same(idsOf(pages), own.map(({ sessionId }) => sessionId).toReversed())
  t.equal(pages.length, 2)
})

t.test('lists the sessions of a key below in pages of the limit', async t => {
  const { issuer } = setUp()
  const { key: root } = await newKey(issuer, [])
  const { key: child } = await newKey(issuer, [], { parent: root })
  const made = []
  for (let n = 0; n < 5; n++) made.push(await newSession(issuer, child, { ttlSeconds: 900 - n }))
  await newSession(issuer, root)
  const pages = await pagesOf(issuer, child, 2)
  t.same(
    pages.map(({ sessions }) => sessions.length),
    [2, 2, 1],
  )
  t.same(
    idsOf(pages),
    made.map(({ sessionId }) => sessionId),
  )
})

t.test('leaves out the sessions that ended with their key, or when it was changed', async t => {
  const { issuer } = setUp()
  const { key: root } = await newKey(issuer, [])
  const { key: changed } = await newKey(issuer, [], { parent: root })
  const { key: revoked } = await newKey(issuer, [], { parent: root })
  const own = await newSession(issuer, root)
  for (const key of [changed, revoked]) await newSession(issuer, key)
  t.equal(idsOf(await pagesOf(issuer, root)).length, 3)
  const again = must(await issuer.changeKey(root, changed.id, { scopes: changed.scopes }))
  must(await issuer.revokeKey(root, revoked.id))
  const later = await newSession(issuer, again)
  const live = [own.sessionId, later.sessionId].toSorted()
  t.same(idsOf(await pagesOf(issuer, root)).toSorted(), live)
  t.same(idsOf(await pagesOf(issuer, root, 1)).toSorted(), live, 'on short pages, too')
})

t.test('lists the sessions that a partner created in an account, to a root only', async t => {
  const { issuer } = setUp()
  const { key: root } = await newKey(issuer, ['a'])
  const { key: child } = await newKey(issuer, ['a'], { parent: root })
  const owner = { accountId: 'partner', userId: null, walletAddress: null }
  const { key: partner } = must(await issuer.createKey({ surface: 'partner', ...owner, scopes: ['a'] }))
  const { sessionId } = await newSession(issuer, partner, { subject: OWNER })
  t.same(idsOf(await pagesOf(issuer, root)), [sessionId])
  t.same(idsOf(await pagesOf(issuer, child)), [])
  const changed = must(await issuer.changeKey(partner, partner.id, { scopes: partner.scopes }))
  t.same(idsOf(await pagesOf(issuer, root)), [])
  const again = await newSession(issuer, changed, { subject: OWNER })
  t.same(idsOf(await pagesOf(issuer, root)), [again.sessionId])
  must(await issuer.revokeKey('operator', partner.id))
  t.same(idsOf(await pagesOf(issuer, root)), [])
})
