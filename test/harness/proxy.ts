import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** What the proxy does to the next bytes. `cutBefore`: drops the request. `cutAfter`: drops the response. `silent`: keeps the request. */
export type Harm = 'none' | 'cutBefore' | 'cutAfter' | 'malformed' | 'silent'

/** A TCP proxy on loopback that can hurt what passes through it. */
export interface FaultProxy {
  /** The given URL with the proxy's host and port. */
  readonly url: string
  harm: Harm
  /** How many connections were accepted. */
  readonly accepted: number
  /** Keeps all bytes of the present connections, as when the machine behind them is gone. Later connections work. */
  silence(): void
  /** Leads later connections to the server of another URL, and cuts the present ones, as a proxy does after a failover. */
  lead(url: string): void
  close(): Promise<void>
}

/**
 * A proxy between a client and a real server. With `malformed`, `rewrite` turns each reply into other bytes
 * that are valid in the server's protocol but not what the caller expects.
 */
export async function faultProxy(target: string, rewrite: (response: Buffer) => Buffer): Promise<FaultProxy> {
  let { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const silenced = new WeakSet<Socket>()
  let accepted = 0
  const server = createServer(client => {
    accepted += 1
    const upstream = connect(Number(port), hostname)
    const destroy = (): void => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', destroy).on('close', destroy)
    }
    client.on('data', (bytes: Buffer) => {
      if (proxy.harm === 'cutBefore') destroy()
      else if (proxy.harm !== 'silent' && !silenced.has(client)) upstream.write(bytes)
    })
    upstream.on('data', (bytes: Buffer) => {
      if (proxy.harm === 'cutAfter') destroy()
      else if (!silenced.has(client)) client.write(proxy.harm === 'malformed' ? rewrite(bytes) : bytes)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  const proxy: FaultProxy = {
    url: url.href,
    harm: 'none',
    get accepted() {
      return accepted
    },
    silence: () => {
      for (const socket of sockets) silenced.add(socket)
    },
    lead(to) {
      ;({ hostname, port } = new URL(to))
      for (const socket of sockets) socket.destroy()
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return proxy
}
