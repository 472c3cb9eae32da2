import t from 'tap'
import { gatewright as runGatewright, jsonOf } from '../harness/gatewright.ts'
import { keptHostStoresEnv } from '../harness/host-stores.ts'
import {
  newWallet,
  request,
  signedBootstrap,
  spawnHost,
  openTestHost,
  statementOf,
  templateA,
} from '../harness/host.ts'

const stores = await keptHostStoresEnv('postgres')
const env = {
  ...stores.env,
  GATEWRIGHT_ENV: 'live',
  SERVICE_NAME: 'Acme',
  TRUST_PROXY: '127.0.0.0/8',
  PUBLIC_URL: 'https://api.example.com',
}
const host = await spawnHost('unused', env)
t.teardown(async () => {
  await host.stop('SIGTERM')
  await stores.drop()
})
const https = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' }
const gatewright = async (...args: string[]): Promise<Record<string, string>> =>
  jsonOf(await runGatewright([...args, '--json'], env))

/** A signed bootstrap body under the live service name. */
async function signedLive(extra: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const wallet = newWallet()
  const statement = statementOf(wallet.address)
  const signature = await wallet.signMessage({ message: templateA(statement, 'Acme') })
  return { ...statement, signature, ...extra }
}

t.test('denies requests without HTTPS, except for health and metrics', async t => {
  const plain = await request(host.url, '/user/v1/bootstrap', { body: {} })
  t.match(plain, { status: 403, body: { error: 'https_required' } })
  t.equal((await request(host.url, '/healthz')).status, 200)
  t.equal((await request(host.url, '/user/v1/bootstrap', { body: {}, headers: https })).status, 400)
})

t.test('requires statements under its own service name, and prints no sandbox key', async t => {
  t.notMatch(host.output(), /gw_/)
  const sandbox = await signedBootstrap(newWallet())
  t.match(await request(host.url, '/user/v1/bootstrap', { body: sandbox, headers: https }), { status: 401 })
  const response = await request(host.url, '/user/v1/bootstrap', { body: await signedLive(), headers: https })
  t.match(response, { status: 200, body: { userApiKey: /^gw_live_user_/ } })
})

t.test('has no play money and no default plans', async t => {
  const response = await request(host.url, '/user/v1/deposits', { body: { amountCents: 1 }, headers: https })
  t.match(response, { status: 404 })
  const description = await request(host.url, '/openapi.json')
  t.notOk('/user/v1/deposits' in (description.body['paths'] as object))
  const body = await signedLive({ scopes: ['subscriptions.read'] })
  const { sessionToken } = (await request(host.url, '/user/v1/bootstrap', { body, headers: https })).body
  const plans = await request(host.url, '/user/v1/subscriptions/plans', {
    headers: { ...https, authorization: `Bearer ${String(sessionToken)}` },
  })
  t.match(plans, { status: 200, body: { data: { plans: [] } } })
})

t.test('submits identity checks only to a provider that was given, and simulates none', async t => {
  const served = async (url: string): Promise<string[]> => {
    const { body } = await request(url, '/openapi.json')
    return Object.entries(body['paths'] as Record<string, object>)
      .flatMap(([path, item]) => Object.keys(item).map(method => `${method} ${path}`))
      .filter(each => /^(?:get|post) \/(?:user|partner)\/.*kyc/.test(each))
      .toSorted()
  }
  const reads = ['/partner/v1/kyc/schema', '/partner/v1/kyc/status', '/partner/v1/kyc/values']
  const without = [...reads, '/user/v1/kyc/status', '/user/v1/kyc/values'].map(path => `get ${path}`)
  t.same(await served(host.url), without)
  const response = await request(host.url, '/user/v1/kyc', { body: {}, headers: https })
  t.match(response, { status: 404, body: { error: 'not_found' } })
  const never = async (): Promise<never> => {
    throw new Error('not used')
  }
  const plugged = await openTestHost(t, env, undefined, { kyc: { name: 'checks', submit: never } })
  t.same(await served(plugged.url), [...without, 'post /partner/v1/kyc/applications', 'post /user/v1/kyc'])
})

t.test('accepts a partner key only after the operator validated it', async t => {
  const made = await gatewright('partner-keys', 'create', 'Acme')
  t.match(made, { key: /^gw_live_partner_/ })
  const resolve = (key: string) =>
    request(host.url, '/partner/v1/users/resolve', {
      body: { userId: 'ann' },
      headers: { ...https, 'x-partner-key': key },
    })
  t.match(await resolve(made['key'] as string), {
    status: 403,
    body: { error: 'key_not_validated', ok: false },
  })
  await gatewright('partner-keys', 'validate', made['keyId'] as string)
  t.equal((await resolve(made['key'] as string)).status, 200)
  const sandboxKey = (made['key'] as string).replace('gw_live', 'gw_sandbox')
  t.match(await resolve(sandboxKey), { status: 401, body: { error: 'unauthorized' } })
})

t.test('exits before it opens a store, and lists everything to change', async t => {
  const open = {
    SERVICE_NAME: '',
    TRUST_PROXY: '0.0.0.0/0',
    RPC_URLS: '1=http://rpc.example/hunter2-hunter2',
  }
  const output = await spawnHost('unused', { ...env, ...open }).then(
    started => started.stop('SIGKILL').then(() => 'it started'),
    (error: Error) => error.message,
  )
  t.match(output, /exit 1[^]*RPC_PRIVATE_NETWORK=on/)
  for (const name of ['SERVICE_NAME', 'TRUST_PROXY', 'RPC_URLS']) t.match(output, `\n  ${name} must`)
  t.notMatch(output, /hunter2/)
})
