import { gatewright as onHono } from 'gatewright/hono'
import { postgresStore } from 'gatewright/postgres'
import { redisStore } from 'gatewright/redis'
import { testGateway } from 'gatewright/testing'
import { localKeys } from '@gatewright/scope-guard'
import { memoryStore } from 'gatewright/memory'
import pg from 'pg'
import { exportJWK, generateKeyPair } from 'jose'
import { paid, usd, WRITE, type Mistake, type Trial, atStart } from './trial.ts'

/** A server with one write. */
const server =
  (changes: object, write: object = {}) =>
  (trial: Trial): unknown => {
    const handler = trial.fetch(changes).write('payments.create', { ...WRITE, ...write }, paid)
    return () => trial.send(handler)
  }

/** Options of the server. */
export const OPTIONS: readonly Mistake[] = [
  atStart('no store', /store must be memoryStore\(\)/, server({ store: undefined })),
  atStart(
    'the client of Redis as the store',
    /store must be memoryStore\(\).*got object/,
    server({ store: { get() {}, set() {} } }),
  ),
  atStart(
    'a store that is a promise, because connecting was awaited too late',
    /redisStore: client must be .* got a promise: await it first/,
    () => redisStore(Promise.resolve({}) as never),
  ),
  atStart('a pool that is a promise', /postgresStore: pool must be .* got a promise: await it first/, () =>
    postgresStore(Promise.resolve({}) as never),
  ),
  atStart('a connection in place of the pool', /postgresStore: pool must be a Pool of pg, got a Client/, () =>
    postgresStore(new pg.Client() as never),
  ),
  atStart(
    'a list of audiences',
    /audience must be a non-empty string/,
    server({ audience: ['https://api.test'] }),
  ),
  atStart('a provider misspelt', /provider must be .*"auth0"/, server({ provider: 'auth-0' })),
  atStart(
    'an option misspelt',
    /unknown option "polices", did you mean policies\?/,
    server({ polices: () => [] }),
  ),
  atStart(
    'an option in the wrong place',
    /unknown option "trustProxy"/,
    server({ trustProxy: ['127.0.0.1'] }),
  ),
  atStart(
    'trust in every proxy, as in Express',
    /trustProxy must be a list of .*got true/,
    server({ gate: { trustProxy: true } }),
  ),
  atStart(
    'a number of proxies, as in Express',
    /trustProxy must be a list of .*got 1/,
    server({ gate: { trustProxy: 1 } }),
  ),
  atStart('a clock that is a function', /clock must be an object, not function/, server({ clock: Date.now })),
  atStart('limits that are an object', /limits must be a list/, server({ limits: { points: 10 } })),
  atStart(
    'a limit for each user',
    /per must be "key", "session", "account" or "address"/,
    server({ limits: [{ name: 'each', points: 1, windowSeconds: 1, per: 'user' }] }),
  ),
  atStart('a lease in seconds', /leaseMs must be/, server({ idempotency: { leaseMs: 60 } })),
  atStart(
    'the function of the store in place of the store',
    /store must be memoryStore\(\).*got function/,
    server({ store: memoryStore }),
  ),
  atStart(
    'an issuer without https',
    /is not encrypted/,
    server({ issuer: 'http://auth.example', guard: {} }),
  ),
  atStart(
    'an issuer that is a host',
    /issuer must be an https: URL/,
    server({ issuer: 'auth.example', guard: {} }),
  ),
  atStart(
    'the address of the keys in place of their source',
    /keys must be a function/,
    server({ guard: { keys: 'https://auth.example/jwks' } }),
  ),
  atStart('no peer on a server with fetch', /peer must be a function/, ({ options }) =>
    onHono(options() as never),
  ),
  atStart(
    'the test gateway in production',
    /testGateway: it is for tests, and NODE_ENV is production/,
    ({ after }) => {
      const before = process.env['NODE_ENV']
      after(() => {
        if (before === undefined) delete process.env['NODE_ENV']
        else process.env['NODE_ENV'] = before
      })
      process.env['NODE_ENV'] = 'production'
      testGateway({ issuer: 'https://auth.example', audience: 'https://api.example' })
    },
  ),
  atStart('the private key of an issuer in the code', /the key a has the secret member d/, async trial => {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true })
    const jwk = { ...(await exportJWK(privateKey)), kid: 'a', alg: 'RS256' }
    return server({ guard: { keys: localKeys({ keys: [jwk] }) } })(trial)
  }),
  atStart('the shared secret of an issuer as a key', /the key a has the secret member k/, trial => {
    const keys = localKeys({ keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'a' }] })
    return server({ guard: { keys } })(trial)
  }),
]

const policy = (document: object) => server({ policy: document }, { spends: () => usd(1) })
/** Policies, scopes and operations. */
export const RULES: readonly Mistake[] = [
  atStart(
    'a write spends, and there is no policy',
    /payments\.create spends, and there is no policy/,
    server({ policy: undefined }, { spends: () => usd(1) }),
  ),
  atStart(
    'a member of a policy misspelt',
    /policy: .*dailySpendCap.*did you mean dailySpendCapCents/,
    policy({ dailySpendCap: 10_000 }),
  ),
  atStart(
    'a cap as a text, as from the environment',
    /policy: .*dailySpendCapCents/,
    policy({ dailySpendCapCents: '10000' }),
  ),
  atStart(
    'a cap in dollars with cents',
    /policy: .*dailySpendCapCents/,
    policy({ dailySpendCapCents: 99.5 }),
  ),
  atStart('a negative cap', /policy: .*dailySpendCapCents/, policy({ dailySpendCapCents: -1 })),
  atStart('a policy without members', /policy has no member/, policy({})),
  {
    mistake: 'a member misspelt in the policies of a session',
    shows: 'at the first request',
    says: /did you mean dailySpendCapCents/,
    make: server({ policy: undefined, policies: () => [{ dailySpendCap: 1 }] }, { spends: () => usd(1) }),
  },
  {
    mistake: 'a cap, and no write that spends',
    shows: 'at the first request',
    says: /the policy has dailySpendCapCents, and no write spends/,
    make: server({}),
  },
  {
    mistake: 'an operation misspelt in a limit of a policy',
    shows: 'at the first request',
    says: /a policy names payment\.create, and no operation of this server has that id/,
    make: policy({ limits: [{ operations: ['payment.create'], window: 'day', maxCents: 100 }] }),
  },
  {
    mistake: 'an operation misspelt in those that a policy denies',
    shows: 'at the first request',
    says: /a policy names refund\.\*, and no operation of this server has that id/,
    make: policy({ denyOperations: ['refund.*'], dailySpendCapCents: 1 }),
  },
  atStart('an operation without a scope', /name the scope/, server({}, { scope: undefined })),
  atStart(
    'a scope misspelt, with a list of scopes',
    /payments\.wirte is not a known scope; did you mean payments\.write/,
    server({}, { scope: 'payments.wirte' }),
  ),
  {
    mistake: 'a scope misspelt, without a list of scopes',
    shows: 'at the first request',
    says: /payments\.wirte/,
    make: server({ scopes: undefined }, { scope: 'payments.wirte' }),
  },
  atStart('an operation without a verb', /must be "tag\.verb"/, ({ fetch }) =>
    fetch().write('payments', WRITE, paid),
  ),
  atStart(
    'a class of limits misspelt',
    /limit "wirtes" is the class of no rate limit/,
    server(
      { limits: [{ name: 'w', points: 9, windowSeconds: 60, per: 'key', classes: ['writes'] }] },
      { limit: 'wirtes' },
    ),
  ),
  atStart(
    'a class of limits without limits',
    /limit "writes" is the class of no rate limit/,
    server({}, { limit: 'writes' }),
  ),
  atStart(
    'several scopes in one text',
    /allOf must contain only scopes/,
    server({ scopes: undefined }, { scope: 'payments.read payments.write' }),
  ),
  atStart('scopes as a text', /scopes must be a list/, server({ scopes: 'payments.write' })),
  atStart(
    'a list of policies in policy',
    /policy: policy must be an object/,
    policy([{ dailySpendCapCents: 1 }]),
  ),
  atStart('an operation twice', /payments\.create is declared twice/, ({ fetch }) => {
    const gw = fetch()
    for (const _ of [1, 2])
      gw.write('payments.create', { ...WRITE, ...(_ === 2 ? { cardSecrets: true } : {}) }, paid)
  }),
  atStart(
    'spend for spends',
    /unknown option "spend", did you mean spends\?/,
    server({}, { spend: () => usd(1) }),
  ),
  atStart('an amount in place of its function', /spends must be a function/, server({}, { spends: usd(1) })),
  atStart('spends on an open operation', /unknown option "spends"/, ({ fetch }) =>
    fetch().open('payments.create', { spends: () => usd(1) } as never, paid),
  ),
  atStart('spends on a read', /unknown option "spends"/, ({ fetch }) =>
    fetch().read('payments.create', { ...WRITE, spends: () => usd(1) } as never, paid),
  ),
  atStart('an asynchronous amount', /spends must not be async/, server({}, { spends: async () => usd(1) })),
  atStart(
    'a schema that is an example object',
    /body must be a Standard Schema/,
    server({}, { body: { amountCents: 1 } }),
  ),
  atStart(
    '500 among the statuses without effect',
    /noEffectStatuses.*400 to 499/,
    server({}, { noEffectStatuses: [500] }),
  ),
]
