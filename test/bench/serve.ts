import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How long an idle connection is kept, in ms: as long as the reference host keeps it, since a header field says so. */
export const KEEP_ALIVE_MS = 65_000

/**
 * The child's half of `compareServers`: listens on a free loopback port and tells its own CPU when asked. `headers` go with
 * every request to it.
 */
export function serve(server: Server, headers: Readonly<Record<string, string>> = {}): void {
  server.keepAliveTimeout = KEEP_ALIVE_MS
  server.listen(0, '127.0.0.1', () => listening((server.address() as AddressInfo).port, headers))
}

/** Says that a server of this process listens; `headers` go with every request to it. */
export function listening(port: number, headers: Readonly<Record<string, string>> = {}): void {
  process.on('message', () => void process.send?.(process.cpuUsage()))
  process.once('disconnect', () => process.exit())
  process.send?.({ port, headers })
}
