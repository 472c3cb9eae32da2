import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A TCP proxy on loopback between a client and a server, which can disturb what passes through it. */
export interface FaultProxy {
  /** The URL of the server with the host and port of the proxy. */
  readonly url: string
  /**
   * What happens to the next bytes. `none`: they pass. `cutBefore`: the connection is cut before the server gets the request. `cutAfter`: it is
   * cut when the server has replied, and the client gets no reply. `malformed`: the client gets what `rewrite` makes of the reply. `silent`:
   * the request is kept, and the connection stays open.
   */
  harm: 'none' | 'cutBefore' | 'cutAfter' | 'malformed' | 'silent'
  /** How many connections were accepted. */
  readonly accepted: number
  /** Keeps all bytes of the present connections, as when the machine behind them is gone. Later connections work. */
  silence(): void
  /** Leads later connections to the server of another URL, and cuts the present ones, as a proxy does after a failover. */
  lead(url: string): void
  /** Cuts all connections and stops. */
  close(): Promise<void>
}

/**
 * Starts a proxy on a free port before the server of a URL, which names its port. With `harm` `malformed`, `rewrite` turns the bytes of each reply
 * into others, such as those of a valid message that the caller does not expect. Drivers send several messages for one call: `cutAfter` cuts
 * the reply to the first of them, so that a statement which is prepared first has not run. Set it when only the message that counts is to come.
 */
export async function faultProxy(
  target: string,
  rewrite: (reply: Buffer) => Buffer = reply => reply,
): Promise<FaultProxy> {
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
