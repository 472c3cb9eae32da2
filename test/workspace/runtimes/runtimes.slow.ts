// Guard, old names and idempotency on workerd, Deno and Bun without any flag for Node, over one store that all of them share.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose'
import t from 'tap'
import { runtimes } from './bundle.ts'
import { startOn } from './start.ts'

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const audience = 'https://api.example'
const pairs = await Promise.all(
  ['RS256', 'ES256', 'EdDSA'].map(async alg => ({ alg, ...(await generateKeyPair(alg)) })),
)
const keys = await Promise.all(
  pairs.map(async ({ alg, publicKey }) => ({ ...(await exportJWK(publicKey)), kid: alg, alg, use: 'sig' })),
)
const issuer = await listen((request, response) => {
  const isMetadata = request.url === '/.well-known/openid-configuration'
  response.end(JSON.stringify(isMetadata ? { issuer, jwks_uri: `${issuer}/keys` } : { keys }))
})

/** The shared store: records as the memory adapter keeps them, and the effects that the writes had. */
const records = memoryIdempotency()
const effects: string[] = []
/** While it is set, each effect calls it and waits for its result. */
let hold: (() => Promise<void>) | undefined
async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const values = JSON.parse(await text(request)) as never[]
  const method = (request.url as string).slice(1) as 'begin' | 'end' | 'collect' | 'effects'
  if (method === 'effects') await hold?.()
  const call = records[method as 'begin'] as (...values: never[]) => unknown
  const result = method === 'effects' ? effects.push(...values) : await call(...values)
  response.end(JSON.stringify(result))
}
const store = await listen((request, response) => void reply(request, response))

function token(alg: string, scope: string, claims: JWTPayload = {}): Promise<string> {
  const { privateKey } = pairs.find(pair => pair.alg === alg) as (typeof pairs)[number]
  return new SignJWT({
    iss: issuer,
    aud: audience,
    sub: 'ann',
    client_id: 'shop',
    jti: crypto.randomUUID(),
    scope,
    ...claims,
  })
    .setIssuedAt()
    .setExpirationTime('15m')
    .setProtectedHeader({ alg, typ: 'at+jwt', kid: alg })
    .sign(privateKey)
}

const table: Record<string, Record<string, string>> = {}
const started = await Promise.all(
  runtimes.map(async runtime => ({ runtime, ...(await startOn(t, runtime, { issuer, audience, store })) })),
)

for (const { runtime, url, bytes } of started) {
  t.test(`${runtime}: guard, old names and idempotency`, async t => {
    const cells: Record<string, string> = { bundle: `${(bytes / 1000).toFixed(0)} KB` }
    table[runtime] = cells
    const cell = (name: string, response: Response, status: number): void => {
      cells[name] = String(response.status)
      t.equal(response.status, status, name)
    }
    const list = (authorization?: string, path = '/v1/cards'): Promise<Response> =>
      fetch(url + path, { headers: authorization === undefined ? {} : { authorization } })
    for (const alg of ['RS256', 'ES256', 'EdDSA']) {
      const good = `Bearer ${await token(alg, 'cards.read')}`
      cell(alg, await list(good), 200)
      cell(`${alg} again`, await list(good), 200)
      cell(`${alg} forged`, await list(`${good.slice(0, -8)}AAAAAAAA`), 401)
    }
    const good = `Bearer ${await token('ES256', 'cards.read cards.write')}`
    cell('no token', await list(), 401)
    cell('wrong scope', await list(`Bearer ${await token('ES256', 'cards.write')}`), 403)
    cell('wrong audience', await list(`Bearer ${await token('ES256', 'cards.read', { aud: 'x' })}`), 401)
    const old = await list(good, '/v0/cards')
    cell('old name', old, 200)
    t.match(old.headers.get('deprecation'), /^@\d+$/)
    t.match(await old.json(), { owner: 'ann' })
    const burst = await Promise.all(
      Array.from({ length: 60 }, async () => list(`Bearer ${await token('EdDSA', 'cards.read')}`)),
    )
    t.ok(
      burst.every(({ status }) => status === 200),
      '60 new tokens at once',
    )

    const create = (key: string, at = url, body = '{"name":"a"}'): Promise<Response> =>
      fetch(`${at}/v1/cards`, {
        method: 'POST',
        headers: { authorization: good, 'idempotency-key': key, 'content-type': 'application/json' },
        body,
      })
    const before = effects.length
    const first = await create(`write-${runtime}`)
    cell('write', first, 201)
    const reply = await first.text()
    for (const other of started) {
      const replay = await create(`write-${runtime}`, other.url)
      t.equal(replay.headers.get('idempotency-replayed'), 'true', `replayed by ${other.runtime}`)
      t.equal(await replay.text(), reply)
      cell(`replayed by ${other.runtime}`, replay, 201)
    }
    cell('other body', await create(`write-${runtime}`, url, '{"name":"b"}'), 400)
    const race = await Promise.all(
      Array.from({ length: 12 }, (_, n) => create(`race-${runtime}`, started[n % started.length]?.url)),
    )
    t.ok(race.some(({ status }) => status === 201))
    t.equal(effects.length - before, 2, 'one effect per key, of any number of requests on three runtimes')

    let goOn = (): void => {}
    const effectStarted = new Promise<void>(resolve => {
      hold = () => {
        resolve()
        return new Promise(resolve => (goOn = resolve))
      }
    })
    const { hostname, port } = new URL(url)
    const client = connect(Number(port), hostname)
    const fields = [
      'host: api',
      `authorization: ${good}`,
      `idempotency-key: left-${runtime}`,
      'content-length: 12',
    ]
    client.write(
      ['POST /v1/cards HTTP/1.1', ...fields, 'content-type: application/json', '', '{"name":"a"}'].join(
        '\r\n',
      ),
    )
    await effectStarted
    hold = undefined
    client.resetAndDestroy()
    await once(client, 'close')
    // The runtime sees the end of the connection before it responds to later requests.
    for (let n = 0; n < 3; n++) await list(good)
    goOn()
    const retry = await create(`left-${runtime}`)
    cell('client left', retry, 201)
    t.equal(retry.headers.get('idempotency-replayed'), 'true', 'a write whose client left is recorded')
  })
}

t.teardown(() => {
  const rows = Object.entries(table).map(([runtime, cells]) => [
    runtime,
    ...Object.entries(cells).map(([name, value]) => `${name} ${value}`),
  ])
  for (const row of rows) t.comment(row.join(' | '))
})
