import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The child's half of `compareServers`: listens on a free loopback port and tells its own CPU when asked. */
export function serve(server: Server): void {
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => listening((server.address() as AddressInfo).port))
}

/** Says that a server of this process listens; `headers` go with every request to it. */
export function listening(port: number, headers: Readonly<Record<string, string>> = {}): void {
  process.on('message', () => void process.send?.(process.cpuUsage()))
  process.once('disconnect', () => process.exit())
  process.send?.({ port, headers })
}
