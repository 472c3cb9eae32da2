import { randomUUID } from 'node:crypto'
import { routeOf } from '#packages/session-issuer/dist/route.js'
import { keyRecord, policyIdOf, sessionRecord } from '#packages/session-issuer/dist/testing/sample-records.js'
import { migrateCredentials, sqliteCredentials } from '@gatewright/session-issuer/sqlite'
import t from 'tap'
import { openSqlite } from '../harness/stores.ts'

t.test('a route is two base62 characters, the same for an account whenever it is computed', async t => {
  const routes = new Set(Array.from({ length: 2000 }, () => routeOf(randomUUID())))
  t.same(
    [...routes].filter(route => !/^[0-9A-Za-z]{2}$/.test(route)),
    [],
  )
  t.ok(routes.size > 1200, 'accounts are spread')
  t.equal(routeOf('acc'), 'QU')
})

t.test('refuses ids that do not have the route of their account', async t => {
  const { connections, close } = await openSqlite(1, migrateCredentials)
  t.teardown(close)
  const { keys, sessions } = sqliteCredentials(connections[0]!)
  const wrong = { name: 'TypeError', message: /must have the route QU of its account/ }
  const commit = (key = keyRecord('acc'), policyId = policyIdOf('acc')) =>
    keys.commit('acc', 0, {
      keys: [key],
      policies: [{ id: policyId, lineageId: key.id, document: {} }],
      feed: [],
    })
  await t.rejects(commit(keyRecord('acc', { id: 'QVid' })), wrong)
  await t.rejects(commit(keyRecord('acc'), 'QUid'), wrong)
  await t.rejects(commit(keyRecord('acc'), 'pol_QVid'), wrong)
  await t.rejects(sessions.insert(sessionRecord({ accountId: 'acc', sessionId: 'QVid' }), []), wrong)
  const child = sessionRecord({ accountId: 'acc', ancestry: ['QVid'] })
  await t.rejects(sessions.insert(child, []), wrong)
  const own = [{ id: policyIdOf('other'), document: {} }]
  await t.rejects(sessions.insert(sessionRecord({ accountId: 'acc' }), own), wrong)
  t.equal(await commit(), true)
})
