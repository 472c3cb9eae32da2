// Servers that accept a request and misbehave, for the callers that must not wait for them.
import { createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

/** Deals with a connection that has sent something. */
type Behaviour = (socket: Socket) => void

const TICK_MS = 10

/** Writes a text again and again until the connection is closed. */
const drip = (socket: Socket, text: string): void => {
  const timer = setInterval(() => socket.write(text), TICK_MS)
  socket.once('close', () => clearInterval(timer))
}

/** Writes as fast as the connection takes it. */
const flood = (socket: Socket, text: string): void => {
  const write = (): void => {
    if (socket.destroyed) return
    if (socket.write(text)) setImmediate(write)
    else socket.once('drain', write)
  }
  write()
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
const CHUNK = `10000\r\n${' '.repeat(65_536)}\r\n`

/** What servers do instead of responding, by a name that says it. */
export const hostileBehaviours: Readonly<Record<string, Behaviour>> = {
  'sends nothing': () => {},
  'closes the connection': socket => socket.end(),
  'resets the connection': socket => socket.resetAndDestroy(),
  'half closes the connection after a part of the head': socket =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Le'),
  'switches protocols': socket =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
  'switches protocols without a name, and talks on': socket => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n')
    drip(socket, 'x')
  },
  'asks to upgrade with another status': socket =>
    socket.write('HTTP/1.1 426 Upgrade Required\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'),
  'sends 100 for ever': socket => drip(socket, 'HTTP/1.1 100 Continue\r\n\r\n'),
  'sends 102 for ever': socket => drip(socket, 'HTTP/1.1 102 Processing\r\n\r\n'),
  'sends 103 for ever': socket => drip(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
  'sends its head a byte at a time': socket => {
    socket.write(`${OK}X-Slow: `)
    drip(socket, 'x')
  },
  'sends header fields without an end': socket => {
    socket.write(OK)
    flood(socket, `X-More: ${'x'.repeat(1000)}\r\n`)
  },
  'sends a head and no body': socket => socket.write(`${OK}Content-Length: 10\r\n\r\n`),
  'sends its body a byte at a time': socket => {
    socket.write(`${OK}Content-Length: 100000\r\n\r\n`)
    drip(socket, ' ')
  },
  'sends a body without an end': socket => {
    socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`)
    flood(socket, CHUNK)
  },
  'closes the connection within the body': socket => socket.end(`${OK}Content-Length: 10\r\n\r\n{`),
  'sends what is not HTTP': socket => drip(socket, '\0SSH-2.0\r\n'),
}

/** A server that misbehaves in one way. */
export interface HostileServer {
  readonly url: string
  /** Resolves when no connection to it is open. */
  closedAll(): Promise<void>
  close(): Promise<void>
}

/** Starts a server on a free port, which deals so with each connection that sends something. */
export async function hostileServer(behave: Behaviour): Promise<HostileServer> {
  const sockets = new Set<Socket>()
  let noneOpen = (): void => {}
  const server: Server = createServer({ allowHalfOpen: true }, socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('end', () => socket.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      if (sockets.size === 0) noneOpen()
    })
    socket.once('data', () => {
      socket.resume()
      behave(socket)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    closedAll: () =>
      new Promise(resolve => {
        noneOpen = resolve
        if (sockets.size === 0) resolve()
      }),
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
