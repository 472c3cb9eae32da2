import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { trustedProxies } from '@gatewright/http'
import { requestFacts } from '@gatewright/http/koa'
import { gate, type Decision } from '@gatewright/http'
import { fetchGate } from '@gatewright/http/fetch'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'

/** What the gate takes for the client of a request with these header fields. */
async function client(
  peer: string | undefined,
  headers: Record<string, string>,
  trustProxy: string[] = ['10.0.0.0/8', 'fd00::/8'],
): Promise<unknown> {
  const api = gate({ trustProxy })
  const { handle } = fetchGate(api, { body: 'stream', peer: () => peer })
  const response = handle(api.open('tests.client'), ({ facts: { address, secure } }) => ({
    status: 200,
    body: [address, secure],
  }))
  return (await response(new Request('http://api.test/', { headers }), undefined)).json()
}

t.test('without a trusted proxy the peer is the client, whatever the header contains', async t => {
  const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' }
  t.same(await client('198.51.100.1', headers), ['198.51.100.1', false])
  t.same(await client('10.0.0.1', headers, []), ['10.0.0.1', false])
})

t.test('a client has the address unknown if the server names no address of its connection', async t => {
  const forged = { 'x-forwarded-for': '203.0.113.9' }
  for (const peer of [undefined, '', 'unknown', '203.0.113.9:4711'])
    t.same(await client(peer, forged), ['unknown', false], JSON.stringify(peer))
})

t.test('the first address from the right that is not a trusted proxy is the client', async t => {
  const header = { 'x-forwarded-for': '6.6.6.6, 203.0.113.9, 10.1.1.1' }
  t.same(await client('10.0.0.1', header), ['203.0.113.9', false])
  t.same(await client('::ffff:10.0.0.1', header), ['203.0.113.9', false], 'IPv4 mapped into IPv6')
  t.same(await client('10.0.0.1', { 'x-forwarded-for': '10.1.1.1' }), ['10.1.1.1', false], 'a proxy itself')
  t.same(await client('10.0.0.1', {}), ['10.0.0.1', false])
})

t.test('ignores ports, and stops at an entry that is not an address', async t => {
  t.same(await client('10.0.0.1', { 'x-forwarded-for': '203.0.113.9:4711' }), ['203.0.113.9', false])
  t.same(await client('10.0.0.1', { 'x-forwarded-for': '[2001:db8::1]:4711' }), ['2001:db8::1', false])
  t.same(await client('10.0.0.1', { 'x-forwarded-for': '203.0.113.9, unknown' }), ['10.0.0.1', false])
  t.same(await client('10.0.0.1', { 'x-forwarded-for': '203.0.113.9, 127.1' }), ['10.0.0.1', false])
})

t.test('the scheme is the value at the position of the client', async t => {
  const hops = { 'x-forwarded-for': '203.0.113.9, 10.1.1.1' }
  t.same(await client('10.0.0.1', { ...hops, 'x-forwarded-proto': 'https' }), ['203.0.113.9', true])
  t.same(await client('10.0.0.1', { ...hops, 'x-forwarded-proto': 'https, http' }), ['203.0.113.9', true])
  t.same(await client('10.0.0.1', { ...hops, 'x-forwarded-proto': 'https, http, http' }), [
    '203.0.113.9',
    false,
  ])
  t.same(await client('10.0.0.1', { ...hops, 'x-forwarded-proto': 'wss' }), ['203.0.113.9', false])
})

t.test('ignores what a client writes into X-Forwarded-For', async t => {
  await fc.assert(
    fc.asyncProperty(fc.stringMatching(/^[ -~]{0,60}$/), async forged => {
      const found = await client('10.0.0.1', { 'x-forwarded-for': `${forged}, 203.0.113.9` })
      t.same((found as unknown[])[0], '203.0.113.9')
    }),
    { numRuns: randomCases(200) },
  )
})

t.test('refuses a malformed CIDR at construction', async t => {
  t.throws(() => trustedProxies(['10.0.0.0/33']), /trustProxy must contain CIDRs, addresses or "unix"/)
  t.throws(() => trustedProxies([7 as never]), TypeError)
  t.ok(trustedProxies(['10.0.0.1'])('10.0.0.1'))
  t.notOk(trustedProxies(['10.0.0.1'])('10.0.0.2'))
})

t.test('HTTP/2 sends :authority where HTTP/1 has Host', async t => {
  const req = {
    url: '/a?b=1',
    method: 'GET',
    headers: { ':authority': 'api.test' },
    socket: { encrypted: true },
  }
  const facts = requestFacts({ req: req as never })
  t.match(facts, { path: '/a', method: 'GET', secure: true, address: '' })
  t.equal(facts.header('host'), 'api.test')
  t.equal(facts.query.get('b'), '1')
})

t.test('a request has the id of a trusted proxy if it is well-formed, and a new one otherwise', async t => {
  const idOf = async (peer: string, ...ids: string[]): Promise<string | undefined> => {
    const decisions: Decision[] = []
    const api = gate({ trustProxy: ['10.0.0.0/8'], observe: decision => decisions.push(decision) })
    const { handle } = fetchGate(api, { body: 'stream', peer: () => peer })
    const served = handle(api.open('tests.id'), () => ({ status: 204, body: undefined }))
    const headers = ids.map((id): [string, string] => ['x-request-id', id])
    await served(new Request('http://api.test/', { headers }), undefined)
    return decisions[0]?.requestId
  }
  const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
  const id = '0A000001:9C40_0A000002:0BB8_5D1F5F0B_0001:7'
  t.equal(await idOf('10.0.0.1', id), id)
  t.equal(await idOf('10.0.0.1', 'a'.repeat(8)), 'a'.repeat(8))
  t.equal(await idOf('10.0.0.1', 'a'.repeat(100)), 'a'.repeat(100))
  for (const wrong of [
    'a'.repeat(7),
    'a'.repeat(101),
    'with space',
    'a/b/c/d/e',
    '<script>',
    'a,b,c,d,e',
    '',
  ])
    t.match(await idOf('10.0.0.1', wrong), uuid, wrong)
  t.match(await idOf('10.0.0.1', id, id), uuid, 'the proxy added its own to that of the client')
  t.match(await idOf('198.51.100.1', id), uuid, 'a client')
})

t.test('a proxy on a Unix socket is trusted by the word unix, and by nothing else', async t => {
  const headers = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-request-id': 'request-1',
  }
  // Only a Unix socket has no local address while it is open.
  const facts = (trustProxy: string[], socket: object = {}) =>
    requestFacts({ req: { method: 'GET', url: '/', headers, socket } as never }, trustedProxies(trustProxy))
  for (const trusted of [['unix'], ['10.0.0.0/8', 'unix']])
    t.match(facts(trusted), { address: '203.0.113.9', secure: true, proxyRequestId: 'request-1' })
  for (const other of [[], ['0.0.0.0/0', '::/0']]) t.match(facts(other), { address: '', secure: false })
  t.match(facts(['unix', '203.0.113.9']), { address: '203.0.113.9' })
  t.match(facts(['unix'], { destroyed: true }), { address: 'unknown', secure: false }, 'after a reset')
  t.match(facts(['unix'], { localAddress: '127.0.0.1' }), { address: 'unknown', secure: false })
  t.match(facts(['unix'], { remoteAddress: '10.0.0.1' }), { address: '10.0.0.1', secure: false })
  for (const wrong of ['Unix', 'unix:', '/run/app.sock', ''])
    t.throws(() => trustedProxies([wrong]), /trustProxy must contain CIDRs, addresses or "unix"/, wrong)
})

t.test('a request over a real Unix socket has the address that its proxy names', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-unix-'))
  const socketPath = join(folder, 'api.sock')
  const server = createServer((req, response) => {
    response.end(requestFacts({ req }, trustedProxies(['unix'])).address)
  })
  server.listen(socketPath)
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const headers = { 'x-forwarded-for': '6.6.6.6, 203.0.113.9' }
  const [response] = (await once(request({ socketPath, headers }).end(), 'response')) as [IncomingMessage]
  t.equal(await text(response), '203.0.113.9')
})
