import { trustedProxies } from '@gatewright/http'
import { readConfig } from '@gatewright/reference-host'
import fc from 'fast-check'
import { docsLink } from '@gatewright/kernel/internal'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'

t.test('has a default for everything in the sandbox', async t => {
  const config = readConfig({})
  t.match(config, {
    ok: true,
    value: {
      host: '127.0.0.1',
      port: 3000,
      serviceName: 'Gatewright Sandbox',
      environment: 'sandbox',
      signingAlgorithm: 'EdDSA',
    },
  })
})

const RECEIVER = {
  chainId: 8453,
  asset: 'USDC',
  token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  decimals: 6,
  receiver: `0x${'1'.repeat(40)}`,
}

t.test('reads the given variables, and takes the defaults of the others', async t => {
  const key = Buffer.alloc(32, 7)
  const config = readConfig({
    HOST: '0.0.0.0',
    PORT: '8080',
    SERVICE_NAME: 'Acme',
    PUBLIC_URL: 'https://api.acme.example/',
    DATA_DIR: '/srv/acme',
    KEY_PEPPERS: `new:${'a'.repeat(32)}, old:${'b'.repeat(40)}`,
    SIGNING_KEY_ENCRYPTION_KEY: key.toString('base64'),
    DATA_KEYS: `new:${'0a'.repeat(32)}, old:${'0B'.repeat(32)}`,
    PROVIDER_WEBHOOK_SECRETS: `kyc=whsec_${key.toString('base64')}`,
    ONBOARDING_GATES: 'on',
    SIGNING_ALGORITHM: 'ES256',
    RPC_URLS: '8453=https://rpc.example.com',
    PAYIN_RECEIVERS: JSON.stringify([RECEIVER]),
    CHAIN_POLL_SECONDS: '300',
    DRAIN_SECONDS: '7',
    HELPER_PAGE: 'off',
    RATE_LIMITS: '{"guardedPerKeyPerMinute":5}',
  })
  t.ok(config.ok)
  t.same(config.ok && config.value, {
    host: '0.0.0.0',
    port: 8080,
    serviceName: 'Acme',
    environment: 'sandbox',
    publicUrl: 'https://api.acme.example',
    errorsPage: docsLink('errors.md'),
    dataDir: '/srv/acme',
    keyPeppers: [
      { id: 'new', secret: 'a'.repeat(32) },
      { id: 'old', secret: 'b'.repeat(40) },
    ],
    signingKeyEncryptionKey: key,
    dataKeys: [
      { id: 'new', secret: Buffer.alloc(32, 0x0a) },
      { id: 'old', secret: Buffer.alloc(32, 0x0b) },
    ],
    webhookSecrets: [{ provider: 'kyc', secret: key }],
    onboardingSurfaces: ['user', 'partner'],
    product: config.ok && config.value.product,
    plans: [
      { id: 'basic', title: 'Basic', amountCents: 500, interval: 'month' },
      { id: 'pro', title: 'Pro', amountCents: 2500, interval: 'month' },
    ],
    rateLimits: {
      guardedPerKeyPerMinute: 5,
      writesPerSessionPerMinute: 120,
      writesPerAccountPerMinute: 200,
      bootstrapPerAddressPerMinute: 30,
      failedCredentialsPerAddressPerMinute: 60,
      mintsPerKeyPerMinute: 60,
      mintsPerAccountPerMinute: 80,
      documentsPerAddressPerMinute: 600,
      tokenChecksPerAddressPerMinute: 60,
      pollsPerAddressPerMinute: 120,
    },
    databaseUrl: undefined,
    databasePrepare: true,
    databaseListenUrl: undefined,
    migrate: true,
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
    drainSeconds: 7,
    requireHttps: false,
    redis: undefined,
    directUserKey: false,
    mcp: true,
    docsPage: true,
    operator: undefined,
    helperPage: false,
    signingAlgorithm: 'ES256',
    logLevel: 'info',
    logFormat: undefined,
    openTelemetry: false,
    requestLog: { mode: 'writes', days: 7 },
    eventDays: 400,
    unpaidPayinDays: 30,
    declinedAuthorizationDays: 400,
  })
  t.match(readConfig({ RATE_LIMITS: 'off' }), { value: { rateLimits: 'off' } })
})

t.test('reports all problems at once, each with its variable and without secrets', async t => {
  const wrong = {
    PORT: '70000',
    HOST: 'http://hunter2',
    PUBLIC_URL: 'https://api.example.com/path',
    SERVICE_NAME: 'two\nlines',
    GATEWRIGHT_ENV: 'production',
    DATABASE_URL: 'mysql://user:hunter2@db/x',
    REDIS_URL: 'hunter2',
    KEY_PEPPERS: 'id:hunter2',
    SIGNING_KEY_ENCRYPTION_KEY: 'hunter2',
    SIGNING_ALGORITHM: 'RS256',
    DATA_KEYS: 'id:hunter2',
    PROVIDER_WEBHOOK_SECRETS: 'kyc=hunter2',
    REQUIRE_HTTPS: 'yes',
    RATE_LIMITS: '{"guardedPerKeyPerMinute":0}',
    DIRECT_USER_KEY: 'yes',
    OPERATOR_PAGE: 'yes',
    OPERATOR_PORT: '70000',
    OPERATOR_TOKEN: 'hunter2',
    LOG_LEVEL: 'loud',
    ONBOARDING_GATES: 'off',
    PRODUCT_FILE: '/nowhere/product.json',
    RPC_URLS: 'https://rpc.example.com',
    PLANS_FILE: '/nowhere/plans.json',
    PAYIN_RECEIVERS: '[{}]',
    CHAIN_POLL_SECONDS: '0',
    HELPER_PAGE: 'yes',
    DOCS_PAGE: 'yes',
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

t.test('listens on an address or a host name, and on no URL', async t => {
  for (const HOST of ['0.0.0.0', '::', '::1', 'localhost', 'pay-1.internal'])
    t.match(readConfig({ HOST }), { ok: true, value: { host: HOST } })
  for (const HOST of ['http://127.0.0.1:3000', '127.0.0.1:3000', '[::1]', 'a/b', '-'])
    t.same(readConfig({ HOST }), {
      ok: false,
      problems: ['HOST must be an IP address or a host name to listen on, not a URL'],
    })
})

t.test('says that the first of several secrets digests or encrypts, whatever their ages', async t => {
  const config = readConfig({ KEY_PEPPERS: 'id:short', DATA_KEYS: 'id:short' })
  t.same(!config.ok && config.problems, [
    'KEY_PEPPERS must be id:secret pairs joined by commas, each id once, each secret at least 32 characters; the first one digests',
    'DATA_KEYS must be id:key pairs joined by commas, each id once, each key 64 hex digits; the first one encrypts',
  ])
})

t.test('refuses limits that are not an object of known limits', async t => {
  for (const RATE_LIMITS of ['[]', 'null', '5', '{', '{"perKey":5}', '{"guardedPerKeyPerMinute":"5"}']) {
    t.notOk(readConfig({ RATE_LIMITS }).ok, RATE_LIMITS)
  }
})

t.test('requires an endpoint for every chain that accepts payments', async t => {
  const given = [
    RECEIVER,
    { ...RECEIVER, asset: 'EURC', token: `0x${'2'.repeat(40)}` },
    { ...RECEIVER, chainId: 10 },
  ]
  const PAYIN_RECEIVERS = JSON.stringify(given)
  t.same(readConfig({ PAYIN_RECEIVERS, RPC_URLS: '1=https://rpc.example.com' }), {
    ok: false,
    problems: [8453, 10].map(
      chain =>
        `PAYIN_RECEIVERS names chain ${chain}, which RPC_URLS does not: add ${chain}=https://... to RPC_URLS`,
    ),
  })
  const RPC_URLS = '10=https://rpc.example.com,8453=https://rpc.example.com'
  t.ok(readConfig({ PAYIN_RECEIVERS, RPC_URLS }).ok)
})

t.test('requires the secrets that hosts on one database share, and one kind of Redis', async t => {
  const shared = readConfig({
    DATABASE_URL: 'postgres://db/x',
    REDIS_URL: 'redis://r',
    REDIS_CLUSTER_URLS: 'redis://c',
  })
  t.match(shared.ok ? [] : shared.problems, [
    /^REDIS_CLUSTER_URLS/,
    /^KEY_PEPPERS/,
    /^SIGNING_KEY_ENCRYPTION_KEY/,
    /^DATA_KEYS/,
  ])
})

const LIVE = {
  GATEWRIGHT_ENV: 'live',
  SERVICE_NAME: 'Acme',
  DATABASE_URL: 'postgres://db/x',
  KEY_PEPPERS: `p:${'s'.repeat(32)}`,
  SIGNING_KEY_ENCRYPTION_KEY: 'ab'.repeat(32),
  DATA_KEYS: `d:${'ab'.repeat(32)}`,
  TRUST_PROXY: '10.0.0.0/8',
  PUBLIC_URL: 'https://api.example.com',
}

t.test(
  'starts live with all required variables, with the given service name and with HTTPS required',
  async t => {
    t.match(readConfig(LIVE), { ok: true, value: { serviceName: 'Acme', requireHttps: true } })
  },
)

for (const [name, value] of [
  ['DATABASE_URL', undefined],
  ['KEY_PEPPERS', undefined],
  ['SIGNING_KEY_ENCRYPTION_KEY', undefined],
  ['DATA_KEYS', undefined],
  ['ONBOARDING_GATES', 'partner'],
  ['TRUST_PROXY', undefined],
  ['PUBLIC_URL', undefined],
  ['PUBLIC_URL', 'http://api.example.com'],
  ['REQUIRE_HTTPS', 'off'],
  ['RATE_LIMITS', 'off'],
  ['SERVICE_NAME', undefined],
  ['SERVICE_NAME', ''],
  ['SERVICE_NAME', 'Gatewright'],
  ['SERVICE_NAME', 'Gatewright Sandbox'],
  ['TRUST_PROXY', '0.0.0.0/0'],
  ['TRUST_PROXY', '::/0'],
  ['TRUST_PROXY', '10.1.2.3/00'],
  ['TRUST_PROXY', '10.0.0.0/8, ::/0'],
  ['TRUST_PROXY', '0.0.0.0/1,128.0.0.0/1'],
  ['TRUST_PROXY', '::/1,8000::/1'],
  ['RPC_URLS', '1=http://rpc.example.com'],
  ['RPC_URLS', '1=https://rpc.example.com,10=http://10.0.0.5:8545'],
  ['RPC_URLS', '1=http://127.0.0.1.example.com'],
] as const) {
  t.test(`refuses live with ${name} ${value ?? 'unset'}, and names the variable`, async t => {
    const config = readConfig({ ...LIVE, [name]: value })
    t.notOk(config.ok)
    t.ok(!config.ok && config.problems.some(problem => problem.startsWith(`${name} must`)))
  })
}

t.test('refuses a chain with two nodes, without showing their URLs', async t => {
  const config = readConfig({
    RPC_URLS: '1=https://a.example/hunter2,10=https://b.example,1=https://c.example',
  })
  t.same(config, { ok: false, problems: ['RPC_URLS must name each chain once, got chain 1 twice'] })
})

t.test('starts live with plain http to nodes on loopback or on a network declared private', async t => {
  for (const url of [
    'http://127.0.0.1:8545',
    'http://127.9.9.9',
    'http://localhost:8545',
    'http://[::1]:8545',
  ]) {
    t.ok(readConfig({ ...LIVE, RPC_URLS: `1=${url}` }).ok, url)
  }
  const RPC_URLS = '1=http://10.0.0.5:8545'
  t.ok(readConfig({ ...LIVE, RPC_URLS, RPC_PRIVATE_NETWORK: 'on' }).ok)
  t.notOk(readConfig({ ...LIVE, RPC_URLS, RPC_PRIVATE_NETWORK: 'off' }).ok)
  t.ok(readConfig({ RPC_URLS }).ok, 'a sandbox requires nothing')
})

t.test(
  'lists everything that live refuses at once, each with what to do and without any part of an RPC URL',
  async t => {
    const config = readConfig({
      GATEWRIGHT_ENV: 'live',
      TRUST_PROXY: '::/0',
      RPC_URLS: '1=https://ok.example/hunter2,10=http://ann:hunter2@rpc.example/v3/hunter2',
      LOG_LEVEL: 'loud',
    })
    const problems = config.ok ? [] : config.problems
    const refused = ['DATABASE_URL', 'KEY_PEPPERS', 'PUBLIC_URL', 'RPC_URLS', 'SERVICE_NAME']
    const names = new Set(problems.map(problem => problem.split(' ')[0]))
    t.same(
      names,
      new Set([...refused, 'LOG_LEVEL', 'DATA_KEYS', 'SIGNING_KEY_ENCRYPTION_KEY', 'TRUST_PROXY']),
    )
    t.match(problems.join('\n'), /RPC_URLS must use https for chain 10: .*set RPC_PRIVATE_NETWORK=on/)
    t.match(problems.join('\n'), /TRUST_PROXY must not trust ::\/0: .*name the addresses/)
    for (const name of refused) t.match(problems.join('\n'), new RegExp(`^${name} must .*: `, 'm'))
    t.notMatch(problems.join('\n'), /hunter2|rpc\.example|ann/)
  },
)

t.test(
  'property: live trusts no block whose addresses differ in one of the first 8 bits (IPv6: 7)',
  async () => {
    const ipv4 = fc.tuple(fc.array(fc.nat(255), { minLength: 4, maxLength: 4 }), fc.nat(32), fc.nat(7))
    fc.assert(
      fc.property(ipv4, ([parts, bits, flipped]) => {
        const address = parts.join('.')
        const block = `${address}/${bits}`
        const other = [(parts[0] as number) ^ (128 >> flipped), ...parts.slice(1)].join('.')
        const trusted = trustedProxies([block])
        const wide = trusted(address) && trusted(other)
        return !(wide && readConfig({ ...LIVE, TRUST_PROXY: block }).ok)
      }),
      { numRuns: randomCases(1000) },
    )
    const mapped = fc.tuple(fc.array(fc.nat(255), { minLength: 4, maxLength: 4 }), fc.nat(128), fc.nat(7))
    fc.assert(
      fc.property(mapped, ([parts, bits, flipped]) => {
        const block = `::ffff:${parts.join('.')}/${bits}`
        const other = [(parts[0] as number) ^ (128 >> flipped), ...parts.slice(1)].join('.')
        const trusted = trustedProxies([block])
        const wide = trusted(parts.join('.')) && trusted(other)
        return !(wide && readConfig({ ...LIVE, TRUST_PROXY: block }).ok)
      }),
      { numRuns: randomCases(1000) },
    )
    const ipv6 = fc.tuple(fc.array(fc.nat(65_535), { minLength: 8, maxLength: 8 }), fc.nat(128), fc.nat(6))
    fc.assert(
      fc.property(ipv6, ([parts, bits, flipped]) => {
        const text = (groups: readonly number[]): string => groups.map(group => group.toString(16)).join(':')
        const block = `${text(parts)}/${bits}`
        const trusted = trustedProxies([block])
        const other = text([(parts[0] as number) ^ (32_768 >> flipped), ...parts.slice(1)])
        const wide = trusted(text(parts)) && trusted(other)
        return !(wide && readConfig({ ...LIVE, TRUST_PROXY: block }).ok)
      }),
      { numRuns: randomCases(1000) },
    )
  },
)

t.test(
  'turns the operator page on with a port and a token of its own, and never without a token on live',
  async t => {
    const token = 'o'.repeat(32)
    t.match(readConfig({ OPERATOR_PAGE: 'on' }), { value: { operator: { port: 3001, token: undefined } } })
    const given = { OPERATOR_PAGE: 'on', OPERATOR_PORT: '4001', OPERATOR_TOKEN: token }
    t.match(readConfig(given), { value: { operator: { port: 4001, token } } })
    const problemsOf = (env: Record<string, string>): readonly string[] => {
      const config = readConfig(env)
      return config.ok ? [] : config.problems.filter(problem => problem.startsWith('OPERATOR'))
    }
    t.same(problemsOf({ ...given, PORT: '4001' }), [
      'OPERATOR_PORT must not be PORT: the operator page has a listener of its own',
    ])
    for (const env of [{ DATABASE_URL: 'postgres://db/x' }, { GATEWRIGHT_ENV: 'live' }]) {
      t.match(problemsOf({ OPERATOR_PAGE: 'on', ...env }), [/^OPERATOR_TOKEN must be set with OPERATOR_PAGE/])
      t.same(problemsOf({ ...given, ...env }), [])
    }
    for (const OPERATOR_TOKEN of ['o'.repeat(31), `${token} `, 'ö'.repeat(32)])
      t.match(problemsOf({ OPERATOR_TOKEN }), [/^OPERATOR_TOKEN must be 32 to 256 visible ASCII/])
  },
)
