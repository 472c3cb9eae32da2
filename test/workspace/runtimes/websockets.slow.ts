// WebSockets behind a guarded read on workerd, Deno and Bun, by both bindings of servers with `fetch`: the client and the guard see the same.
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { provider } from '../quick-starts/provider.ts'
import { runtimes, type Runtime } from './bundle.ts'
import { startProgram } from './start.ts'

const { url: issuer, sign } = await provider(t)

/** How a handler makes the connection a WebSocket that sends back what it gets, and how the runtime serves `serve(request, server)`. */
const RUNTIMES: Readonly<
  Record<Runtime, { readonly upgrade: string; readonly hono: string; serve(port: number): string }>
> = {
  workerd: {
    upgrade: `() => {
      const { 0: client, 1: server } = new WebSocketPair()
      server.accept()
      server.addEventListener('message', ({ data }) => server.send(data))
      return new Response(null, { status: 101, webSocket: client })
    }`,
    hono: 'hono/cloudflare-workers',
    serve: () => 'export default { fetch: request => serve(request) }',
  },
  deno: {
    upgrade: `request => {
      const { socket, response } = Deno.upgradeWebSocket(request)
      socket.onmessage = ({ data }) => socket.send(data)
      return response
    }`,
    hono: 'hono/deno',
    serve: port => `Deno.serve({ port: ${port}, hostname: '127.0.0.1' }, request => serve(request))`,
  },
  bun: {
    upgrade: `request => (server.upgrade(request) ? undefined : new Response(null, { status: 426 }))`,
    hono: 'hono/bun',
    serve: port => `import { websocket } from 'hono/bun'
      const own = { open: () => {}, message: (socket, data) => void socket.send(data), close: () => {} }
      const of = name => (socket, ...given) => (socket.data ? websocket : own)[name](socket, ...given)
      const handlers = { open: of('open'), message: of('message'), close: of('close') }
      const server = Bun.serve({ port: ${port}, hostname: '127.0.0.1', fetch: serve, websocket: handlers })`,
  },
}

const programOf = (runtime: Runtime, port: number): string => `
import { gatewright, memoryStore } from 'gatewright/fetch'
import { gatewright as onHono } from 'gatewright/hono'
import { Hono } from 'hono'
import { upgradeWebSocket } from '${RUNTIMES[runtime].hono}'
const decisions = []
const options = { issuer: '${issuer}', audience: 'https://api.example', peer: 'none', store: memoryStore(),
  gate: { exposeHeaders: true, observe: ({ operation, status }) => void decisions.push(operation + ' ' + status) } }
const feed = gatewright(options).protectRead('feed.fetch', { scope: 'feed.read' }, ${RUNTIMES[runtime].upgrade})
const app = new Hono()
app.get('/hono', onHono(options).protectRead('feed.hono', { scope: 'feed.read' }),
  upgradeWebSocket(() => ({ onMessage: ({ data }, socket) => socket.send(data) })))
app.get('/decisions', c => c.json(decisions.splice(0)))
app.all('*', c => c.text('none', 404))
const serve = (request, server) => (new URL(request.url).pathname === '/fetch' ? feed(request) : app.fetch(request, server))
${RUNTIMES[runtime].serve(port)}`

/** Opens a WebSocket, sends `hello` and returns the status line and what came back. */
async function hello(url: string, path: string, authorization: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const fields = [
    `GET ${path} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Origin: https://app.example',
    `Authorization: ${authorization}`,
  ]
  socket.write(`${fields.join('\r\n')}\r\n\r\n`)
  let received = ''
  socket.on('data', bytes => (received += bytes.toString('latin1')))
  await once(socket, 'data')
  const status = received.slice(9, 12)
  if (status === '101') {
    // A text frame, masked with zeros.
    socket.write(Buffer.from([0x81, 0x85, 0, 0, 0, 0, ...Buffer.from('hello')]))
    while (!received.endsWith('hello')) await once(socket, 'data')
  }
  socket.destroy()
  return status
}

t.test('a guarded WebSocket opens, and its decision says so', async t => {
  const token = (scope: string): Promise<string> =>
    sign('RS256', { iss: issuer, aud: 'https://api.example', scope })
  const good = `Bearer ${await token('feed.read')}`
  const narrow = `Bearer ${await token('other')}`
  t.comment('measured runtime | binding | token | wrong scope | decisions')
  for (const runtime of runtimes) {
    const { url } = await startProgram(
      t,
      runtime,
      port => programOf(runtime, port),
      'build/runtimes/websockets',
    )
    for (const binding of ['fetch', 'hono']) {
      const statuses: string[] = []
      for (const authorization of [good, narrow, good])
        statuses.push(await hello(url, `/${binding}`, authorization))
      const decisions = (await (await fetch(`${url}/decisions`)).json()) as string[]
      t.same(statuses, ['101', '403', '101'], `${runtime}, ${binding}`)
      t.same(
        decisions,
        [101, 403, 101].map(status => `feed.${binding} ${status}`),
        `${runtime}, ${binding}`,
      )
      t.comment(
        `measured ${runtime} | ${binding} | ${statuses[0]} | ${statuses[1]} | ${decisions.join(', ')}`,
      )
    }
  }
})
