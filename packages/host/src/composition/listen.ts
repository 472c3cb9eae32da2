import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HostConfig } from '../config/host-config.ts'

/** Starts to listen, and resolves to the address with the real port. Rejects if the port is in use. */
export async function listen(server: Server, { host, port }: HostConfig): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${name}:${address.port}`
}

/** Closes the listener and idle connections, and waits for running requests for `limitMs`. Then it cuts their connections. */
export async function closeServer(server: Server, limitMs: number): Promise<void> {
  const ended = new Promise(resolve => server.close(resolve))
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), limitMs)
  await ended
  clearTimeout(timer)
}
