import { subscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** How long servers in a process of tests keep an idle connection, in ms: as long as hosts do. */
const KEEP_ALIVE_MS = 65_000

/**
 * Lets every HTTP server of this process keep idle connections, which do not keep the process alive. Node closes them after 5 s by
 * default: where a busy machine holds the process for that long, it closes one whose next request has been sent but not read, and the
 * client gets an ECONNRESET.
 */
export function keepIdleConnections(): void {
  subscribe('http.server.request.start', message => {
    const { server, socket } = message as { server: Server; socket: Socket }
    server.keepAliveTimeout = KEEP_ALIVE_MS
    socket.unref()
  })
}
