import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** What passed through a proxy. */
export interface Traffic {
  /** How often a client waited for the server: it sent a statement that is counted after the server had responded. */
  roundTrips: number
  /** Statements that Postgres ran (`Execute` and simple `Query` messages), or commands that Redis ran. */
  statements: number
}

/** A TCP proxy on loopback that counts. */
export interface CountingProxy {
  /** The given URL with the proxy's host and port. */
  readonly url: string
  readonly traffic: Traffic
  close(): Promise<void>
}

/** Counts the statements that a client sends on one connection. It gets the bytes in any pieces. */
type StatementCounter = (bytes: Buffer) => number

/**
 * Counts messages by their type and length (PostgreSQL protocol 3.0). The first message has no type. `isChore`: which statements, by their text,
 * are left out.
 */
export function postgresStatements(isChore: (text: string) => boolean = () => false): StatementCounter {
  let pending = Buffer.alloc(0)
  let isFirst = true
  /** Texts by the names that the connection gave them. */
  const prepared = new Map<string, string>()
  let bound = ''
  return bytes => {
    pending = Buffer.concat([pending, bytes])
    let statements = 0
    for (;;) {
      const header = isFirst ? 0 : 1
      if (pending.length < header + 4) return statements
      const length = header + pending.readUInt32BE(header)
      if (pending.length < length) return statements
      const type = isFirst ? '' : String.fromCharCode(pending[0] as number)
      const [one = '', two = ''] = pending.toString('latin1', header + 4, length).split('\0', 2)
      if (type === 'P') prepared.set(one, two)
      if (type === 'B') bound = prepared.get(two) ?? ''
      if ((type === 'E' && !isChore(bound)) || (type === 'Q' && !isChore(one))) statements += 1
      isFirst = false
      pending = pending.subarray(length)
    }
  }
}

/** Counts commands: each is one array of bulk strings (RESP), and no argument of a host contains one. */
export function redisCommands(): StatementCounter {
  return bytes => bytes.toString('latin1').match(/\*\d+\r\n\$/g)?.length ?? 0
}

/** Opens a proxy in front of a server, which counts from then on. */
export async function countingProxy(target: string, counter: () => StatementCounter): Promise<CountingProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const traffic: Traffic = { roundTrips: 0, statements: 0 }
  const server = createServer(client => {
    const upstream = connect(Number(port), hostname)
    const count = counter()
    let isServersTurn = false
    const destroy = (): void => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', destroy).on('close', destroy)
    }
    client.on('data', (bytes: Buffer) => {
      const statements = count(bytes)
      traffic.statements += statements
      if (statements > 0 && !isServersTurn) {
        traffic.roundTrips += 1
        isServersTurn = true
      }
      upstream.write(bytes)
    })
    upstream.on('data', (bytes: Buffer) => {
      isServersTurn = false
      client.write(bytes)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    traffic,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
