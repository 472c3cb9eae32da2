// Several hosts over one real store at once.
import { race } from '@gatewright/kernel/testing'
import { createIssuer, type Issuer, type IssuerOptions } from '@gatewright/session-issuer'
import { migrateCredentials, postgresCredentials } from '@gatewright/session-issuer/postgres'
import { redisCredentials } from '@gatewright/session-issuer/redis'
import { migrateCredentials as migrateSqlite, sqliteCredentials } from '@gatewright/session-issuer/sqlite'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { openPostgres, openRedis, openSqlite, uniqueName } from '../../harness/stores.ts'
import { memorySigningKeys, must, newKey, newSession, OWNER, PEPPER, USER } from '../fixtures.ts'

type Stores = Pick<IssuerOptions, 'keys' | 'sessions' | 'audit'> & Partial<Pick<IssuerOptions, 'signingKeys'>>

const BACKENDS: Record<string, () => Promise<{ stores: Stores[]; close(): Promise<void> }>> = {
  Postgres: async () => {
    const { connections, close } = await openPostgres(4, migrateCredentials)
    const encryptionKey = randomBytes(32)
    return { stores: connections.map(db => postgresCredentials(db, { encryptionKey })), close }
  },
  Redis: async () => {
    const { connections, close } = await openRedis(4)
    const prefix = `${uniqueName()}:`
    return { stores: connections.map(client => redisCredentials(client, { prefix })), close }
  },
  SQLite: async () => {
    const { connections, close } = await openSqlite(1, migrateSqlite)
    const encryptionKey = randomBytes(32)
    return { stores: connections.map(db => sqliteCredentials(db, { encryptionKey })), close }
  },
}

for (const [name, open] of Object.entries(BACKENDS)) {
  void t.test(`hosts over ${name}`, async t => {
    const { stores, close } = await open()
    t.teardown(close)
    const signingKeys = stores[0]?.signingKeys ?? memorySigningKeys()
    const hosts = Array.from({ length: 4 }, (_, index) =>
      createIssuer({
        issuer: 'x',
        audience: 'x',
        environment: 'sandbox',
        peppers: [PEPPER],
        maxLiveKeys: 10,
        maxKeysBelow: 8,
        signingKeys,
        ...(stores[index % stores.length] as Stores),
      }),
    )
    const host = (index: number): Issuer => hosts[index % 4] as Issuer
    const works = async (text: string): Promise<boolean> => (await host(0).authenticateKey(text, 'user')).ok

    await t.test('30 keys made at once at a cap of 10: ten, and each of them works', async t => {
      const accountId = uniqueName()
      const made = await race(30, index => host(index).createKey({ ...USER, accountId, scopes: [] }))
      const texts = made.flatMap(verdict => (verdict.ok ? [verdict.value.text] : []))
      t.equal(texts.length, 10)
      for (const text of texts) t.equal(await works(text), true)
    })

    await t.test('a key changed and keys created below it at once: no chain passes its bound', async t => {
      for (let n = 0; n < 5; n++) {
        const accountId = uniqueName()
        const root = await newKey(host(0), [], { accountId })
        const documentOf = (bytes: number) => ({ x: 'x'.repeat(bytes - 8) })
        let parent = root.key
        for (let n = 0; n < 3; n++)
          parent = (await newKey(host(1), [], { accountId, parent, policy: documentOf(8192) })).key
        const child = await newKey(host(1), [], { accountId, parent })
        const outcomes = await race(5, async index => {
          if (index % 4 === 0)
            return host(index).changeKey(root.key, child.key.id, { policy: documentOf(8000) })
          const parent = await host(index).authenticateKey(child.text, 'user')
          const leaf = { ...USER, accountId, scopes: [], policy: documentOf(193) }
          return parent.ok ? host(index).createKey({ ...leaf, parent: parent.value }) : parent
        })
        t.ok(outcomes.some(({ ok }) => ok) && outcomes.some(({ ok }) => !ok))
        const { keys } = await (stores[0] as Stores).keys.load(accountId)
        for (const { policyIds } of keys) {
          const documents = await host(0).policies(policyIds)
          t.ok(documents.reduce((sum: number, one) => sum + JSON.stringify(one).length, 0) <= 32_768)
        }
      }
    })

    await t.test(
      '50 roots and keys below made at once pass neither cap, and a root gets its slot',
      async t => {
        const accountId = uniqueName()
        const { key } = await newKey(host(0), [], { accountId })
        for (let n = 0; n < 6; n++) await newKey(host(0), [], { accountId, parent: key })
        const made = await race(50, index => {
          const parent = index % 5 === 0 ? {} : { parent: key }
          return host(index).createKey({ ...USER, accountId, scopes: [], ...parent })
        })
        const { keys } = await (stores[0] as Stores).keys.load(accountId)
        const live = keys.filter(one => one.revokedAt === null)
        t.equal(live.length, 10)
        t.ok(live.filter(one => one.ancestry.length > 0).length <= 8)
        const roots = made.filter((_, index) => index % 5 === 0)
        t.equal(roots.filter(({ ok }) => ok).length, 9, 'all slots are roots that were just made')
      },
    )

    await t.test('of 10 rotations at once one successor lives', async t => {
      const accountId = uniqueName()
      const { key } = await newKey(host(0), ['a.read'], { accountId })
      const all = await race(10, index => host(index).rotateKey(key, key.id))
      const texts = all.flatMap(verdict => (verdict.ok ? [verdict.value.text] : []))
      t.equal(texts.length, 1)
      t.equal(await works(texts[0] as string), true)
    })

    await t.test('a key made below one that is being narrowed never holds more than it', async t => {
      const accountId = uniqueName()
      const root = await newKey(host(0), ['a.read', 'b.read'], { accountId })
      const made = await race(9, async index => {
        if (index === 4) return host(index).changeKey(root.key, root.key.id, { scopes: ['a.read'] })
        return host(index).createKey({ ...USER, accountId, parent: root.key, scopes: ['a.read', 'b.read'] })
      })
      const narrow = must(await host(0).authenticateKey(root.text, 'user'))
      t.same(narrow.scopes, ['a.read'])
      for (const { scopes } of must(await host(0).visibleKeys(narrow))) t.same(scopes, ['a.read'])
      t.ok(made.every(verdict => verdict.ok || verdict.code === 'unauthorized'))
    })

    await t.test('nothing minted while the key is being revoked outlives it', async t => {
      const accountId = uniqueName()
      const { key } = await newKey(host(0), ['a.read'], { accountId })
      const parent = await newSession(host(0), key)
      const all = await race(16, async index => {
        if (index === 8) {
          await host(index).revokeAccount(accountId)
          return undefined
        }
        const minted = await host(index).issueSession(index % 2 === 0 ? key : parent)
        return minted.ok ? minted.value.session : undefined
      })
      for (const session of all) if (session) t.equal(await host(0).isCurrent(session), false)
      t.equal(await host(0).isCurrent(parent), false)
    })

    await t.test('no key made by a session escapes while the session is ended with its keys', async t => {
      const accountId = uniqueName()
      const { key } = await newKey(host(0), ['a.read'], { accountId })
      const session = await newSession(host(0), key)
      await newKey(host(0), [], { accountId, parent: session })
      const made = await race(9, async index => {
        if (index !== 4) return host(index).createKey({ ...USER, accountId, scopes: [], parent: session })
        must(await host(index).endSessionWithKeys(key, session.sessionId))
        return undefined
      })
      for (const verdict of made) if (verdict?.ok) t.equal(await works(verdict.value.text), false)
      const { keys } = await (stores[0] as Stores).keys.load(accountId)
      const live = keys.filter(one => one.revokedAt === null)
      t.same(
        live.map(one => one.id),
        [key.id],
      )
    })

    await t.test('20 consoles opened at once: the cap of them live, and all key slots stay free', async t => {
      const accountId = uniqueName()
      const opened = await race(20, index => host(index).openConsole({ ...OWNER, accountId, scopes: [] }))
      const sessions = opened.map(verdict => must(verdict).session)
      const current = await Promise.all(sessions.map(session => host(0).isCurrent(session)))
      t.equal(current.filter(Boolean).length, 5)
      const made = await race(12, index => host(index).createKey({ ...USER, accountId, scopes: [] }))
      t.equal(made.filter(({ ok }) => ok).length, 10)
    })

    await t.test('a console is ended once, and ends with its key however many end it at once', async t => {
      const accountId = uniqueName()
      const { session } = must(await host(0).openConsole({ ...OWNER, accountId, scopes: [] }))
      const ended = await race(8, index => host(index).endSession('operator', session.sessionId))
      t.equal(
        ended.reduce((sum, verdict) => sum + must(verdict), 0),
        1,
      )
      t.equal(await host(0).isCurrent(session), false)
      const stored = await (stores[0] as Stores).keys.find(session.keyId)
      t.ok(stored?.console && stored.revokedAt !== null)
    })

    await t.test('uses on several hosts keep the latest', async t => {
      const accountId = uniqueName()
      const { key, text } = await newKey(host(0), [], { accountId })
      const before = Date.now()
      await race(8, index => host(index).authenticateKey(text, 'user'))
      await race(4, index => host(index).flush())
      const stored = await (stores[0] as Stores).keys.find(key.id)
      t.ok((stored?.lastUsedAt ?? 0) >= before)
    })
  })
}

t.test('hosts that start at once on an empty Postgres agree on one signing key', async t => {
  const { stores, close } = await (
    BACKENDS['Postgres'] as () => ReturnType<(typeof BACKENDS)['Postgres'] & object>
  )()
  t.teardown(close)
  const documents = await race(4, index => {
    const store = stores[index] as Stores
    return createIssuer({
      issuer: 'x',
      audience: 'x',
      environment: 'sandbox',
      peppers: [PEPPER],
      ...(store as Required<Stores>),
    }).jwks()
  })
  t.equal(new Set(documents.flatMap(({ keys }) => keys.map(key => key.kid))).size, 1)
})
