import { readConfig } from '@gatewright/reference-host'
import t from 'tap'

t.test('has a default for everything in the sandbox', async t => {
  const config = readConfig({})
  t.match(config, {
    ok: true,
    value: { host: '127.0.0.1', port: 3000, serviceName: 'Gatewright Sandbox', environment: 'sandbox' },
  })
})

const RECEIVER = {
  chainId: 8453,
  asset: 'USDC',
  token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  decimals: 6,
  receiver: `0x${'1'.repeat(40)}`,
}

t.test('takes every variable as given', async t => {
  const key = Buffer.alloc(32, 7)
  const config = readConfig({
    HOST: '0.0.0.0',
    PORT: '8080',
    SERVICE_NAME: 'Acme',
    PUBLIC_URL: 'https://api.acme.example/',
    DATA_DIR: '/srv/acme',
    KEY_PEPPERS: `new:${'a'.repeat(32)}, old:${'b'.repeat(40)}`,
    SIGNING_KEY_ENCRYPTION_KEY: key.toString('base64'),
    RPC_URLS: '8453=https://rpc.example.com',
    PAYIN_RECEIVERS: JSON.stringify([RECEIVER]),
    CHAIN_POLL_SECONDS: '300',
    RATE_LIMITS: '{"guardedPerKeyPerMinute":5}',
  })
  t.ok(config.ok)
  t.same(config.ok && config.value, {
    host: '0.0.0.0',
    port: 8080,
    serviceName: 'Acme',
    environment: 'sandbox',
    publicUrl: 'https://api.acme.example',
    dataDir: '/srv/acme',
    keyPeppers: [
      { id: 'new', secret: 'a'.repeat(32) },
      { id: 'old', secret: 'b'.repeat(40) },
    ],
    signingKeyEncryptionKey: key,
    plans: [
      { id: 'basic', title: 'Basic', amountCents: 500, interval: 'month' },
      { id: 'pro', title: 'Pro', amountCents: 2500, interval: 'month' },
    ],
    rateLimits: {
      guardedPerKeyPerMinute: 5,
      writesPerSessionPerMinute: 120,
      bootstrapPerAddressPerMinute: 30,
      failedCredentialsPerAddressPerMinute: 60,
      mintsPerKeyPerMinute: 60,
    },
    databaseUrl: undefined,
    trustProxy: [],
    rpcUrls: [{ chainId: 8453, url: 'https://rpc.example.com' }],
    payinReceivers: [
      {
        ...RECEIVER,
        token: RECEIVER.token.toLowerCase(),
        depositAddresses: [],
        confirmations: 12,
      },
    ],
    chainPollSeconds: 300,
    requireHttps: false,
    redis: undefined,
    directUserKey: false,
    logLevel: 'info',
  })
  t.match(readConfig({ RATE_LIMITS: 'off' }), { value: { rateLimits: 'off' } })
})

t.test('reports every problem at once, each by its variable, and no secret', async t => {
  const wrong = {
    PORT: '70000',
    PUBLIC_URL: 'https://api.example.com/path',
    SERVICE_NAME: 'two\nlines',
    GATEWRIGHT_ENV: 'production',
    DATABASE_URL: 'mysql://user:hunter2@db/x',
    REDIS_URL: 'hunter2',
    KEY_PEPPERS: 'id:hunter2',
    SIGNING_KEY_ENCRYPTION_KEY: 'hunter2',
    REQUIRE_HTTPS: 'yes',
    RPC_URLS: 'https://rpc.example.com',
    PLANS_FILE: '/nowhere/plans.json',
    PAYIN_RECEIVERS: '[{}]',
    CHAIN_POLL_SECONDS: '0',
    RATE_LIMITS: '{"guardedPerKeyPerMinute":0}',
    DIRECT_USER_KEY: 'yes',
    LOG_LEVEL: 'loud',
  }
  const config = readConfig(wrong)
  t.notOk(config.ok)
  const problems = config.ok ? [] : config.problems
  t.same(
    problems.map(problem => problem.split(' ')[0]),
    Object.keys(wrong),
  )
  t.notMatch(problems.join('\n'), /hunter2/)
})

t.test('refuses limits that are no object of known limits', async t => {
  for (const RATE_LIMITS of ['[]', 'null', '5', '{', '{"perKey":5}', '{"guardedPerKeyPerMinute":"5"}']) {
    t.notOk(readConfig({ RATE_LIMITS }).ok, RATE_LIMITS)
  }
})

t.test('wants an endpoint for every chain that payments are taken on', async t => {
  const given = [
    RECEIVER,
    { ...RECEIVER, asset: 'EURC', token: `0x${'2'.repeat(40)}` },
    { ...RECEIVER, chainId: 10 },
  ]
  const PAYIN_RECEIVERS = JSON.stringify(given)
  t.same(readConfig({ PAYIN_RECEIVERS, RPC_URLS: '1=https://rpc.example.com' }), {
    ok: false,
    problems: [8453, 10].map(chain => `PAYIN_RECEIVERS names chain ${chain}, which RPC_URLS does not`),
  })
  const RPC_URLS = '10=https://rpc.example.com,8453=https://rpc.example.com'
  t.ok(readConfig({ PAYIN_RECEIVERS, RPC_URLS }).ok)
})

t.test('wants the secrets that hosts on one database share, and one kind of Redis', async t => {
  const shared = readConfig({
    DATABASE_URL: 'postgres://db/x',
    REDIS_URL: 'redis://r',
    REDIS_CLUSTER_URLS: 'redis://c',
  })
  t.match(shared.ok ? [] : shared.problems, [
    /^REDIS_CLUSTER_URLS/,
    /^KEY_PEPPERS/,
    /^SIGNING_KEY_ENCRYPTION_KEY/,
  ])
})

const LIVE = {
  GATEWRIGHT_ENV: 'live',
  DATABASE_URL: 'postgres://db/x',
  KEY_PEPPERS: `p:${'s'.repeat(32)}`,
  SIGNING_KEY_ENCRYPTION_KEY: 'ab'.repeat(32),
  TRUST_PROXY: '10.0.0.0/8',
  PUBLIC_URL: 'https://api.example.com',
}

t.test(
  'starts live with everything it needs, under another service name and with HTTPS required',
  async t => {
    t.match(readConfig(LIVE), { ok: true, value: { serviceName: 'Gatewright', requireHttps: true } })
  },
)

for (const [name, value] of [
  ['DATABASE_URL', undefined],
  ['KEY_PEPPERS', undefined],
  ['SIGNING_KEY_ENCRYPTION_KEY', undefined],
  ['TRUST_PROXY', undefined],
  ['PUBLIC_URL', undefined],
  ['PUBLIC_URL', 'http://api.example.com'],
  ['REQUIRE_HTTPS', 'off'],
  ['RATE_LIMITS', 'off'],
] as const) {
  t.test(`refuses live with ${name} ${value ?? 'unset'}, and says which`, async t => {
    const config = readConfig({ ...LIVE, [name]: value })
    t.notOk(config.ok)
    t.ok(!config.ok && config.problems.some(problem => problem.startsWith(`${name} must`)))
  })
}
