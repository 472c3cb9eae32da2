import { Agent, get } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { openTestHost, startTestHost, type TestHost } from '../harness/host.ts'

const CLIENTS = 16

/** One request over a keep-alive connection. */
function ask(agent: Agent, url: string): Promise<{ status: number; connection: string | undefined }> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, response => {
      response.resume()
      response.once('error', reject)
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, connection: response.headers.connection })
      })
    }).once('error', reject)
  })
}

t.test('no request on a kept connection is cut while hosts stop in turn', async t => {
  const env = { DRAIN_SECONDS: '2' }
  const stopping = await startTestHost(env)
  const staying = await openTestHost(t)
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  t.teardown(() => agent.destroy())
  const hosts: TestHost[] = [stopping, staying]
  const end = new AbortController()
  const seen = { served: 0, closing: 0, failed: [] as unknown[] }

  // A load balancer: it checks whether each host is ready, and sends requests to those that are.
  const balancer = async (): Promise<void> => {
    while (!end.signal.aborted) {
      const { status } = await ask(agent, `${stopping.url}/readyz`).catch(() => ({ status: 0 }))
      if (status !== 200 && hosts.length > 1) hosts.shift()
      await setImmediate()
    }
  }
  const client = async (): Promise<void> => {
    for (let n = 0; !end.signal.aborted; n++) {
      const { url } = hosts[n % hosts.length] as TestHost
      try {
        const { status, connection } = await ask(agent, `${url}/healthz`)
        if (status !== 200) seen.failed.push(status)
        seen.served++
        if (connection === 'close') seen.closing++
      } catch (error) {
        seen.failed.push(error)
      }
    }
  }
  const all = Promise.all([balancer(), ...Array.from({ length: CLIENTS }, client)])
  while (seen.served < 200) await setImmediate()
  const before = seen.served
  await stopping.close()
  const after = seen.served
  while (seen.served < after + 200) await setImmediate()
  end.abort()
  await all
  t.same(seen.failed, [])
  t.ok(after > before, 'requests were served while the host was stopping')
  t.ok(seen.closing > 0, 'the stopping host closes its connections with their responses')
  await t.rejects(ask(agent, `${stopping.url}/healthz`), /ECONNREFUSED|ECONNRESET/)
})

t.test('a stopping host reports that it is not ready, whatever its stores report', async t => {
  const host = await startTestHost({ DRAIN_SECONDS: '1' })
  t.match(await host.send('/readyz'), { status: 200, body: { status: 'ready' } })
  const stopped = host.close()
  let response = await host.send('/readyz')
  while (response.status === 200) response = await host.send('/readyz')
  t.match(response, { status: 503, body: { status: 'not_ready', dependencies: { database: 'ok' } } })
  t.equal(response.headers.get('connection'), 'close')
  await stopped
})
