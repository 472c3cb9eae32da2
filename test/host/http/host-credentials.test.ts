// Which credential of a request is read, by whom it is decided, and what counts as a failure.
import type { RequestFacts } from '@gatewright/http'
import { setImmediate } from 'node:timers/promises'
import { allow, type Rule } from '@gatewright/kernel'
import t from 'tap'
import { hostCredentials } from '#packages/host/dist/http/credentials/credentials.js'

type Services = Parameters<typeof hostCredentials>[0]

const KEY = { id: 'key_1', accountId: 'acc_1', version: 3, lineageId: 'lin_1', ancestry: [] }
const RULE = { operation: 'cards.list', surface: 'user', allOf: ['cards.read'] } as Rule

const IDS = { accountId: 'acc', keyId: 'key', sessionId: 'ses' }

/** The credentials of a host over services that record what they are asked. */
function setUp({
  directUserKey = false,
  requireHttps = false,
  found = KEY,
  denies = false,
  held = false,
}: {
  directUserKey?: boolean
  requireHttps?: boolean
  found?: object | null
  denies?: boolean
  held?: boolean
} = {}) {
  const asked: unknown[][] = []
  const guard = (name: string) => ({
    prepare: (rule: Rule) => void asked.push([name, 'prepare', rule]),
    check: async (facts: object, rule: Rule) => {
      asked.push([name, 'check', facts, rule])
      return allow({ headers: [['a', 'b']], session: IDS, evidence: { policyRevision: 'rev' } })
    },
    recheck: async (_access: unknown, facts: object) => {
      asked.push([name, 'recheck', facts])
      return allow({})
    },
    authorize: async (session: { sessionId: string }, facts: object, rule: Rule) => {
      asked.push([name, 'authorize', session.sessionId, facts, rule])
      if (denies) return { ok: false, code: 'policy_blocked', status: 403, message: 'blocked' }
      return allow({ headers: [], session: { sessionId: session.sessionId } })
    },
  })
  const services = {
    guard: guard('guard'),
    keyGuard: guard('keyGuard'),
    issuer: {
      async authenticateKey(
        text: string | undefined,
        surface: string,
        reading: { limitRead?: (read: () => unknown) => unknown; cacheMs?: number } = {},
      ) {
        asked.push(['authenticateKey', text, surface])
        await reading.limitRead?.(async () => undefined)
        return found ? allow(found) : { ok: false, code: 'unauthorized', status: 401, message: 'no' }
      },
    },
    limits: {
      failedKeys: {
        runWithinLimit: async (address: string, run: () => unknown) => {
          asked.push(['runWithinLimit', address])
          return run()
        },
        charge: async (address: string) => {
          await setImmediate()
          asked.push(['charge', address])
        },
      },
    },
    directUserKey,
    requireHttps,
    webTokens: {
      authenticate: (token: string) =>
        token === 'a.b'
          ? allow({ webSession: { accountId: 'acc_1', sessionId: 'ses_1' } })
          : { ok: false, code: 'unauthorized', status: 401, message: 'no' },
    },
    validated: async (id: string) => id === 'key_1',
    isPaused: async () => false,
    isHeld: async (id: string, cacheMs: number) => {
      if (held) asked.push(['isHeld', id, cacheMs])
      return held
    },
  }
  return { asked, credentials: hostCredentials(services as unknown as Services) }
}

const facts = (fields: Record<string, string> = {}, secure = true): RequestFacts =>
  ({ address: '192.0.2.1', secure, header: (name: string) => fields[name] }) as never
const called = (asked: unknown[][]): unknown[] =>
  asked.map(([name, what]) => (name === 'guard' || name === 'keyGuard' ? `${name}.${String(what)}` : name))

t.test('reads no credential that was sent without HTTPS, if the host requires it', async t => {
  for (const [requireHttps, secure, denied] of [
    [true, false, true],
    [true, true, false],
    [false, false, false],
  ] as const) {
    const { credentials, asked } = setUp({ requireHttps })
    for (const { check } of Object.values(credentials)) {
      asked.length = 0
      const checked = await check(
        facts({ authorization: 'Bearer a.b', 'x-user-key': 'k', 'x-partner-key': 'k' }, secure),
        RULE,
      )
      if (!denied) {
        t.equal(checked.ok, true)
        continue
      }
      t.match(checked, { code: 'https_required', status: 403 })
      t.same(asked, [])
    }
  }
})

t.test('reads a user key in place of a session only with DIRECT_USER_KEY, on the user surface', async t => {
  const key = facts({ 'x-user-key': 'gw_a' })
  for (const [directUserKey, surface, expected] of [
    [false, 'user', ['guard.check']],
    [true, 'partner', ['guard.check']],
    [true, 'user', ['authenticateKey', 'runWithinLimit', 'guard.authorize']],
  ] as const) {
    const { credentials, asked } = setUp({ directUserKey })
    t.equal((await credentials.session.check(key, { ...RULE, surface })).ok, true)
    t.same(called(asked), expected)
    asked.length = 0
    await credentials['session-alone'].check(key, { ...RULE, surface })
    t.same(called(asked), ['guard.check'])
  }
})

t.test('takes the key from X-User-Key or as the bearer token, and denies two different ones', async t => {
  const { credentials, asked } = setUp({ directUserKey: true })
  const { check } = credentials.session
  for (const [fields, text] of [
    [{ 'x-user-key': 'gw_a' }, 'gw_a'],
    [{ authorization: 'Bearer gw_b' }, 'gw_b'],
    [{ authorization: 'bearer gw_b' }, 'gw_b'],
    [{ 'x-user-key': 'gw_a', authorization: 'Bearer gw_a' }, 'gw_a'],
    [{ 'x-user-key': 'gw_a', authorization: 'Bearer eyJ' }, 'gw_a'],
  ] as const) {
    asked.length = 0
    t.equal((await check(facts(fields), RULE)).ok, true)
    t.same(asked[0], ['authenticateKey', text, 'user'])
    t.same(asked.at(-1)?.slice(0, 3), ['guard', 'authorize', 'key:key_1'])
    t.equal(asked.at(-1)?.at(-1), RULE)
  }
  asked.length = 0
  t.match(await check(facts({ 'x-user-key': 'gw_a', authorization: 'Bearer gw_b' }), RULE), {
    code: 'invalid_request',
    field: 'x-user-key',
  })
  t.same(asked, [])
  for (const fields of [{}, { authorization: 'Bearer eyJ' }]) {
    asked.length = 0
    await check(facts(fields), RULE)
    t.same(called(asked), ['guard.check'])
  }
})

t.test('a key needs no scope of the operation, and its use is decided by the guard of keys', async t => {
  for (const surface of ['user', 'partner'] as const) {
    const { credentials, asked } = setUp()
    const credential = credentials[`${surface}-key`]
    t.same(await credential.check(facts({ [`x-${surface}-key`]: 'gw_a' }), RULE), { ok: true, value: KEY })
    const rule = { operation: 'cards.list', surface, allOf: [] }
    t.same(asked, [
      ['authenticateKey', 'gw_a', surface],
      ['runWithinLimit', '192.0.2.1'],
      ['keyGuard', 'authorize', 'key:key_1', { authorization: undefined, address: '192.0.2.1' }, rule],
    ])
    credential.prepare?.(RULE)
    t.same(asked.at(-1), ['keyGuard', 'prepare', rule])
    await credential.check(facts(), { ...RULE, operation: 'cards.get' })
    t.match(asked.at(-1)?.at(-1), { operation: 'cards.get' })
    t.equal(credential.present?.(facts({ [`x-${surface}-key`]: '' })), true)
    t.equal(credential.present?.(facts()), false)
    t.same(credential.idsOf?.(KEY as never), { accountId: 'acc_1', keyId: 'key_1', sessionId: undefined })
  }
})

t.test('a partner key must be validated by this host', async t => {
  const { credentials } = setUp({ found: { ...KEY, id: 'key_2' } })
  const check = credentials['partner-key'].check(facts({ 'x-partner-key': 'gw_a' }), RULE)
  t.match(await check, { ok: false, code: 'key_not_validated' })
  t.equal((await credentials['user-key'].check(facts({ 'x-user-key': 'gw_a' }), RULE)).ok, true)
  const unknown = setUp({ found: null }).credentials['partner-key']
  t.match(await unknown.check(facts({ 'x-partner-key': 'gw_a' }), RULE), { code: 'unauthorized' })
})

t.test('a key that was sent and is unknown is charged to the address', async t => {
  for (const [fields, charges] of [
    [{ 'x-user-key': 'gw_a' }, [['charge', '192.0.2.1']]],
    [{}, []],
  ] as const) {
    const { credentials, asked } = setUp({ found: null })
    t.match(await credentials['user-key'].check(facts(fields), RULE), {
      code: 'unauthorized',
    })
    t.same(
      asked.filter(([name]) => name === 'charge'),
      charges,
    )
  }
  const { credentials, asked } = setUp()
  await credentials['user-key'].check(facts({ 'x-user-key': 'gw_a' }), RULE)
  t.notOk(called(asked).includes('charge'))
})

t.test('a held key is denied wherever it is presented, and is not a failure of its address', async t => {
  const key = { 'x-user-key': 'gw_a', 'x-partner-key': 'gw_a' }
  for (const [name, cacheMs] of [
    ['user-key', 0],
    ['partner-key', 0],
    ['session', 1000],
  ] as const) {
    const { credentials, asked } = setUp({ held: true, directUserKey: true })
    t.match(await credentials[name].check(facts(key), RULE), { ok: false, code: 'key_held', status: 403 })
    t.same(
      asked.filter(([what]) => what === 'isHeld'),
      [['isHeld', 'key_1', cacheMs]],
    )
    t.notOk(called(asked).includes('charge'))
  }
})

t.test('a late request needs the same version of its key, and counts against no limit', async t => {
  const { credentials, asked } = setUp()
  const again = (version: number) =>
    credentials['user-key'].recheck?.({ ...KEY, version } as never, facts({ 'x-user-key': 'gw_a' }))
  t.match(await again(3), { ok: true })
  t.match(await again(2), { ok: false, code: 'unauthorized', message: /changed during the request/ })
  t.same(asked, [
    ['authenticateKey', 'gw_a', 'user'],
    ['authenticateKey', 'gw_a', 'user'],
  ])
  const gone = setUp({ found: null }).credentials['user-key']
  t.match(await gone.recheck?.(KEY as never, facts()), { ok: false, code: 'unauthorized', message: 'no' })
})

t.test('a session is prepared, checked again and described by the guard', async t => {
  for (const name of ['session', 'session-alone'] as const) {
    const { credentials, asked } = setUp()
    const credential = credentials[name]
    credential.prepare?.(RULE)
    const access = (await credential.check(facts({ authorization: 'a' }), RULE)) as unknown as {
      value: never
    }
    await credential.recheck?.(access.value, facts())
    t.same(called(asked), ['guard.prepare', 'guard.check', 'guard.recheck'])
    t.same(asked[1]?.[2], { authorization: 'a', address: '192.0.2.1' })
    t.same(credential.headersOf?.(access.value), [['a', 'b']])
    t.same(credential.idsOf?.(access.value), { ...IDS, policyRevision: 'rev' })
  }
})

t.test('a web token is recognized by its text', async t => {
  const { credentials } = setUp()
  const { present, check, idsOf } = credentials['web-token']
  t.equal(present?.(facts({ authorization: 'Bearer a.b' })), true)
  for (const authorization of ['Bearer a.b.c', 'Bearer gw_a'])
    t.equal(present?.(facts({ authorization })), false)
  t.equal(present?.(facts()), false)
  t.match(await check(facts({ authorization: 'Bearer a.b' }), RULE), { ok: true })
  t.match(await check(facts(), RULE), { ok: false, code: 'unauthorized' })
  const webSession = { accountId: 'acc_1', sessionId: 'ses_1' }
  t.same(idsOf?.({ webSession } as never), { accountId: 'acc_1', keyId: undefined, sessionId: 'ses_1' })
})

t.test('a key is denied what the guard denies', async t => {
  for (const directUserKey of [false, true]) {
    const { credentials } = setUp({ directUserKey, denies: true })
    const { check } = directUserKey ? credentials.session : credentials['user-key']
    t.match(await check(facts({ 'x-user-key': 'gw_a' }), RULE), { ok: false, code: 'policy_blocked' })
  }
})
