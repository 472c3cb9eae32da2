import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Server } from 'node:net'

/** Lets a server, or a node:http server of this listener, listen on a free port until the test ends, and returns its URL. */
export async function listen(
  t: { teardown(end: () => void): void },
  serves: RequestListener | (Server & { closeAllConnections?(): void }),
): Promise<string> {
  const server = typeof serves === 'function' ? createServer(serves) : serves
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections?.()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
