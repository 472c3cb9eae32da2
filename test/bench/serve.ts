import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How long an idle connection is kept, in ms: as long as the reference host keeps it, since a header field says so. */
export const KEEP_ALIVE_MS = 65_000

/** Fields of requests. */
type Fields = Readonly<Record<string, string>>

/**
 * The child's half of `compareServers`: listens on a free loopback port and reports its own CPU when asked. The requests to it
 * bring `headers`, of several in turn.
 */
export function serve(server: Server, headers: readonly Fields[] = [{}]): void {
  server.keepAliveTimeout = KEEP_ALIVE_MS
  server.listen(0, '127.0.0.1', () => listening((server.address() as AddressInfo).port, headers))
}

/** Says that a server of this process listens; the requests to it bring `headers`, of several in turn. */
export function listening(port: number, headers: readonly Fields[]): void {
  process.on('message', () => void process.send?.(process.cpuUsage()))
  process.once('disconnect', () => process.exit())
  process.send?.({ port, headers })
}
