import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { spawnHost, openTestHost, startTestHost } from '../../harness/host.ts'
import { OPERATOR_TOKEN, startOperatedHost } from '../harness/operator.ts'
import { temporaryFolder } from '../../harness/files.ts'

const host = await startOperatedHost()
t.teardown(() => host.close())
const FIGURES = '/operator/api/host'
const PATHS = [
  ...[
    'host',
    'state',
    'decisions',
    'refusals',
    'requests',
    'account',
    'key-end',
    'stores',
    'jobs',
    'attention',
    'aliases',
    'lost-history',
    'lost-runs',
    'provider-events',
    'ledger-check',
  ].map(name => ['GET', `/operator/api/${name}`] as const),
  ['POST', '/operator/api/ledger-check'],
  ['POST', '/operator/api/lost-runs/resolve'],
  ['POST', '/operator/api/provider-events/handled'],
  ['POST', '/operator/api/find'],
  ['POST', '/operator/api/accounts/freeze'],
  ['POST', '/operator/api/accounts/unfreeze'],
  ['POST', '/operator/api/keys/pause'],
  ['POST', '/operator/api/keys/resume'],
  ['POST', '/operator/api/keys/revoke'],
] as const

t.test('without OPERATOR_PAGE nothing listens, and the public listener never serves it', async t => {
  const without = await openTestHost(t)
  t.equal(without.operatorUrl, undefined)
  for (const url of [without.url, host.url]) {
    for (const [method, path] of [...PATHS, ['GET', '/operator'] as const]) {
      const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
      t.equal((await fetch(url + path, { method, headers })).status, 404, path)
    }
  }
})

t.test('listens on loopback only', async t => {
  t.equal(new URL(host.operatorUrl).hostname, '127.0.0.1')
})

t.test('returns no figure and takes no write without the operator token', async t => {
  const near = `${OPERATOR_TOKEN.slice(0, -1)}${OPERATOR_TOKEN.endsWith('a') ? 'b' : 'a'}`
  for (const [method, path] of PATHS) {
    const body = method === 'POST' ? { body: {} } : {}
    for (const authorization of [undefined, `Bearer ${near}`, `Basic ${OPERATOR_TOKEN}`, 'Bearer ']) {
      const response = await host.ask(path, { ...body, headers: { authorization } })
      t.match(response, { status: 401, body: { error: 'unauthorized' } }, `${method} ${path}`)
      t.equal(response.headers['www-authenticate'], 'Bearer')
    }
  }
  t.match(await host.ask(FIGURES), { status: 200, body: { serviceName: 'Gatewright Sandbox' } })
  t.match(await host.ask('/operator/api/nothing', { headers: { authorization: undefined } }), { status: 401 })
})

t.test('denies pages of other origins, also of other ports of this machine', async t => {
  const foreign = ['https://evil.example', 'http://127.0.0.1:1', 'http://localhost:3000', 'null']
  for (const origin of foreign) {
    for (const [method, path] of PATHS) {
      const response = await host.ask(path, {
        method,
        ...(method === 'POST' ? { body: {} } : {}),
        headers: { origin },
      })
      t.match(response, { status: 403, body: { error: 'wrong_origin' } }, `${origin} ${path}`)
      t.notOk(response.headers['access-control-allow-origin'])
    }
  }
  const withoutOrigin = await host.ask('/operator/api/ledger-check', {
    body: {},
    headers: { origin: undefined },
  })
  t.match(withoutOrigin, { status: 403, body: { error: 'wrong_origin' } })
  const preflight = await host.ask(FIGURES, { method: 'OPTIONS', headers: { origin: foreign[0] } })
  t.equal(preflight.status, 403)
  const crossSite = await host.ask(FIGURES, { headers: { 'sec-fetch-site': 'cross-site' } })
  t.match(crossSite, { status: 403, body: { error: 'wrong_origin' } })
})

t.test('responds to the names of this machine only, against DNS rebinding', async t => {
  const { port } = new URL(host.operatorUrl)
  for (const name of [
    'evil.example',
    `evil.example:${port}`,
    `127.0.0.1.evil.example:${port}`,
    '127.0.0.1',
    `[::2]:${port}`,
  ]) {
    for (const path of [FIGURES, '/operator']) {
      const response = await host.ask(path, { headers: { host: name } })
      t.ok([400, 403].includes(response.status), `${name} ${path}`)
      if (response.status === 403) t.equal(response.body['error'], 'wrong_host')
    }
  }
  t.equal((await host.ask(FIGURES, { headers: { host: `localhost:${port}` } })).status, 200)
})

t.test('denies what a proxy passes on, since it would seem to be on this machine', async t => {
  for (const name of ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']) {
    const response = await host.ask(FIGURES, { headers: { [name]: '203.0.113.9' } })
    t.match(response, { status: 403, body: { error: 'behind_proxy' } }, name)
  }
})

t.test('denies bodies and methods that it does not know', async t => {
  const check = '/operator/api/ledger-check'
  t.match(await host.ask(check, { body: '[]' }), { status: 400 })
  t.match(await host.ask(check, { body: '{', headers: { 'content-type': 'application/json' } }), {
    status: 400,
  })
  t.match(await host.ask(check, { body: { text: 'x'.repeat(70_000) } }), { status: 413 })
  t.match(await host.ask(check, { body: '{}', headers: { 'content-type': 'text/plain' } }), { status: 415 })
  const deleted = await host.ask(check, { method: 'DELETE', body: {} })
  t.match(deleted, { status: 405, headers: { allow: 'GET, POST' } })
  t.match(await host.ask('/operator/api/nothing'), { status: 404 })
})

t.test('a sandbox without OPERATOR_TOKEN keeps one in secrets.json and prints it nowhere', async t => {
  const dataDir = temporaryFolder(t)
  const started = await spawnHost(dataDir, { OPERATOR_PAGE: 'on', OPERATOR_PORT: '0', LOG_LEVEL: 'debug' })
  const file = join(dataDir, 'secrets.json')
  const { operatorToken } = JSON.parse(readFileSync(file, 'utf8')) as { operatorToken: string }
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.ok(operatorToken.length >= 32)
  const [, url = ''] = /^ *Operator +(http\S+)/m.exec(started.output()) ?? []
  const headers = { authorization: `Bearer ${operatorToken}` }
  t.equal((await fetch(`${url}/api/host`, { headers })).status, 200)
  const wrong = await fetch(`${url}/api/host`, { headers: { authorization: `Bearer ${operatorToken}x` } })
  t.equal(wrong.status, 401)
  const texts = [await wrong.text(), await (await fetch(`${started.url}/metrics`)).text()]
  await started.stop('SIGTERM')
  for (const text of [started.output(), ...texts]) t.notOk(text.includes(operatorToken))
  const again = await startTestHost({ DATA_DIR: dataDir, OPERATOR_PAGE: 'on', OPERATOR_PORT: '0' })
  await again.close()
  t.equal((JSON.parse(readFileSync(file, 'utf8')) as { operatorToken: string }).operatorToken, operatorToken)
})

t.test('names the operator port that is in use', async t => {
  const { port } = new URL(host.operatorUrl)
  const dataDir = temporaryFolder(t)
  await t.rejects(
    spawnHost(dataDir, { OPERATOR_PAGE: 'on', OPERATOR_PORT: port }),
    /exit 1[^]*OPERATOR_PORT \d+ is in use/,
  )
})
