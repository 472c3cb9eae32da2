// A connection that the client has reset has no remote address any more.
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gate } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { scopeCatalogue } from '@gatewright/kernel'
import t, { type Test } from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

/** Serves on a port or a Unix socket, with one request per address and minute. Returns a function that sends a request. */
async function serve(t: Test, path: string | undefined, isReset: boolean) {
  const { guard, bearer } = await bench({
    limits: [{ name: 'perAddress', points: 1, windowSeconds: 60, per: 'address' }],
  })
  let report: (status: number) => void = () => undefined
  const observe = ({ status }: { readonly status: number }) => report(status)
  const api = gate({ guard, scopes: scopeCatalogue(['cards.read']), observe })
  const handle = expressGate(api, { body: 'stream' }).handle(
    api.guarded({ operation: 'cards.list', allOf: ['cards.read'] }),
    () => ({ status: 200 }),
  )
  const server = createServer((request, response) => {
    if (isReset) request.socket.destroy()
    handle(request, response)
  })
  if (path === undefined) server.listen(0, '127.0.0.1')
  else server.listen(path)
  await once(server, 'listening')
  t.teardown(() => server.close())
  const authorization = await bearer()
  return async (): Promise<number> => {
    const status = new Promise<number>(resolve => (report = resolve))
    const at = path === undefined ? (server.address() as AddressInfo) : { socketPath: path }
    const target = 'port' in at ? { host: '127.0.0.1', port: at.port } : at
    const client = httpRequest({ ...target, headers: { authorization }, agent: false })
    client.on('error', () => undefined)
    client.on('response', response => response.resume())
    client.end()
    return status
  }
}

t.test('requests whose connection was reset share one bucket of a limit per address', async t => {
  const send = await serve(t, undefined, true)
  t.same([await send(), await send()], [200, 429])
})

t.test('a limit per address does not count requests on a Unix socket', async t => {
  // The path of a Unix socket has about 100 characters at most.
  const folder = mkdtempSync(join(tmpdir(), 'gate-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const send = await serve(t, join(folder, 'http.sock'), false)
  t.same([await send(), await send()], [200, 200])
})
