import diagnostics from 'node:diagnostics_channel'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import { openTestHost } from '../../../harness/host.ts'

/** The listener of this process that serves a URL. */
async function listenerOf(url: string): Promise<Server> {
  let server: Server | undefined
  const note = (message: unknown): void => {
    server = (message as { readonly server: Server }).server
  }
  diagnostics.subscribe('http.server.request.start', note)
  await (await fetch(url)).text()
  diagnostics.unsubscribe('http.server.request.start', note)
  if (!server) throw new Error('the request reached no listener of this process')
  return server
}

/** Sends the beginning of a request, and resolves to how long the host kept the connection, in ms, and what it sent. */
async function sendSlowly(
  url: string,
  head: string,
): Promise<{ readonly ms: number; readonly text: string }> {
  const { hostname, port } = new URL(url)
  const started = performance.now()
  const socket = connect(Number(port), hostname, () => socket.write(head))
  let text = ''
  socket.setEncoding('latin1').on('data', chunk => (text += chunk))
  await new Promise((resolve, reject) => socket.once('close', resolve).once('error', reject))
  return { ms: performance.now() - started, text }
}

const HEAD = 'POST /user/v1/bootstrap HTTP/1.1\r\nHost: host.test\r\n'
const slowRequests = {
  'a head that never ends': HEAD,
  'a body that never ends': `${HEAD}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a`,
}

t.test(
  'cuts a slow request within 2 seconds after its limit, on both listeners',
  { timeout: 60_000 },
  async t => {
    const host = await openTestHost(t, { OPERATOR_PAGE: 'on', OPERATOR_PORT: '0' })
    const urls = [`${host.url}/healthz`, host.operatorUrl as string]
    for (const url of urls) {
      const server = await listenerOf(url)
      t.equal(server.requestTimeout, url === host.operatorUrl ? 10_000 : 30_000)
      t.equal(server.headersTimeout, server.requestTimeout)
      // A shorter limit, so that nobody waits for the real one: how soon it is noticed is a matter of the listener.
      server.requestTimeout = 200
      server.headersTimeout = 200
    }
    await Promise.all(
      urls.flatMap(url =>
        Object.entries(slowRequests).map(async ([name, head]) => {
          // The least of three: a busy machine may do something else meanwhile.
          let cutAfterMs = Infinity
          for (let tries = 0; tries < 3 && cutAfterMs >= 2200; tries += 1) {
            const { ms, text } = await sendSlowly(url, head)
            cutAfterMs = ms
            t.match(text, /HTTP\/1\.1 408 Request Timeout/, name)
          }
          t.ok(cutAfterMs < 2200, `${name} was cut after ${Math.round(cutAfterMs)} ms`)
        }),
      ),
    )
  },
)
