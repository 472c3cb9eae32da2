import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The child's half of `compareServers`: listens on a free loopback port and tells its own CPU when asked. */
export function serve(server: Server): void {
  server.keepAliveTimeout = 60_000
  process.on('message', ({ collect }: { collect: boolean }) => {
    if (collect) globalThis.gc?.()
    process.send?.(process.cpuUsage())
  })
  process.once('disconnect', () => process.exit())
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ port: (server.address() as AddressInfo).port })
  })
}
