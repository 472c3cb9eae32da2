import { createClient } from 'redis'
import { inTime } from './in-time.ts'

/** The Sentinels that know where a master is. */
export interface Sentinels {
  /** `host:port` of the master that most Sentinels name; undefined while they name none, or as many another one. Never rejects. */
  master(): Promise<string | undefined>
  close(): void
}

/** Which Sentinels are asked, and about which master. */
interface SentinelOptions {
  /** `host:port` each. */
  readonly sentinels: readonly string[]
  readonly masterName: string
  readonly tls: boolean
  readonly password: string | undefined
  /** How long a Sentinel may take to reply. */
  readonly limitMs: number
}

/** Connects to Sentinels. One that is down is asked again once it works. */
export function openSentinels({ sentinels, masterName, tls, password, limitMs }: SentinelOptions): Sentinels {
  const clients = sentinels.map(address => {
    const client = createClient({
      url: `${tls ? 'rediss' : 'redis'}://${address}`,
      ...(password === undefined ? {} : { password }),
      socket: { connectTimeout: limitMs, reconnectStrategy: 1000 },
    })
    // A Sentinel that is down gives no reply below.
    client.on('error', () => {})
    client.connect().catch(() => {})
    return client
  })
  const asked = new Map<(typeof clients)[number], Promise<unknown>>()
  /** Asks a Sentinel unless it has not replied yet: for one that is down, commands would pile up in its client. */
  const ask = (client: (typeof clients)[number]): Promise<unknown> => {
    const running =
      asked.get(client) ??
      client
        .sendCommand<unknown>(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName])
        .catch(() => undefined)
        .finally(() => asked.delete(client))
    asked.set(client, running)
    return running
  }
  const askOne = async (client: (typeof clients)[number]): Promise<string | undefined> => {
    const reply = await inTime(ask(client), limitMs, () => new Error('late')).catch(() => undefined)
    return Array.isArray(reply) && reply.length === 2
      ? `${bracketed(String(reply[0]))}:${reply[1]}`
      : undefined
  }
  return {
    async master() {
      const votes = new Map<string, number>()
      for (const address of await Promise.all(clients.map(askOne)))
        if (address !== undefined) votes.set(address, (votes.get(address) ?? 0) + 1)
      const [first, second] = [...votes].sort(([, a], [, b]) => b - a)
      return first && first[1] > (second?.[1] ?? 0) ? first[0] : undefined
    },
    close() {
      for (const client of clients) client.destroy()
    },
  }
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)
