import { readConfig } from '@gatewright/reference-host'
import t from 'tap'

t.test('has a default for everything in the sandbox', async t => {
  const config = readConfig({})
  t.match(config, {
    ok: true,
    value: { host: '127.0.0.1', port: 3000, serviceName: 'Gatewright Sandbox', environment: 'sandbox' },
  })
})

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
    rateLimits: {
      guardedPerKeyPerMinute: 5,
      writesPerSessionPerMinute: 120,
      bootstrapPerAddressPerMinute: 30,
      failedCredentialsPerAddressPerMinute: 60,
      mintsPerKeyPerMinute: 60,
    },
    databaseUrl: undefined,
    redis: undefined,
    directUserKey: false,
    logLevel: 'info',
  })
  t.match(readConfig({ RATE_LIMITS: 'off' }), { value: { rateLimits: 'off' } })
})

t.test('reports every problem at once, each by its variable, and no secret', async t => {
  const wrong = {
    PORT: '70000',
    SERVICE_NAME: 'two\nlines',
    GATEWRIGHT_ENV: 'live',
    PUBLIC_URL: 'https://api.example.com/path',
    KEY_PEPPERS: 'id:hunter2',
    SIGNING_KEY_ENCRYPTION_KEY: 'hunter2',
    RATE_LIMITS: '{"guardedPerKeyPerMinute":0}',
    DATABASE_URL: 'postgres://user:hunter2@db/x',
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
