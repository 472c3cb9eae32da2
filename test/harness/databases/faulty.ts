import type { RedisClient } from '@gatewright/kernel/redis'
import { fromPgPool, type SqlClient } from '@gatewright/kernel/sql'
import { faultProxy, type FaultProxy } from '@gatewright/kernel/testing'
import { openKeptPostgres } from './kept-postgres.ts'
import { openPostgresPool, openRedis } from '../stores.ts'

/** One healthy client and three whose connection is hurt, over one real store. */
export type FaultyClients<Client> = Record<
  'healthy' | Exclude<FaultProxy['harm'], 'none' | 'silent'>,
  Client
> & {
  close(): Promise<void>
}

/** A store over each of these clients. */
export async function faultyStores<Client, Store>(
  clients: Promise<FaultyClients<Client>>,
  storeOf: (client: Client) => Store,
): Promise<FaultyClients<Store>> {
  const { healthy, cutBefore, cutAfter, malformed, close } = await clients
  return {
    healthy: storeOf(healthy),
    cutBefore: storeOf(cutBefore),
    cutAfter: storeOf(cutAfter),
    malformed: storeOf(malformed),
    close,
  }
}

const HARMS = ['cutBefore', 'cutAfter', 'malformed'] as const

async function faultyClients<Client>(
  target: string,
  rewrite: (response: Buffer) => Buffer,
  open: (url: string) => Promise<{ client: Client; close(): Promise<unknown> }>,
  cutLast?: (client: Client, proxy: FaultProxy) => Client,
): Promise<FaultyClients<Client>> {
  const healthy = await open(target)
  const proxies: FaultProxy[] = []
  const hurt = await Promise.all(
    HARMS.map(async harm => {
      const proxy = await faultProxy(target, rewrite)
      proxies.push(proxy)
      const opened = await open(proxy.url)
      if (harm === 'cutAfter' && cutLast) return { ...opened, client: cutLast(opened.client, proxy) }
      proxy.harm = harm
      return opened
    }),
  )
  const [cutBefore, cutAfter, malformed] = hurt.map(opened => opened.client) as [Client, Client, Client]
  return {
    healthy: healthy.client,
    cutBefore,
    cutAfter,
    malformed,
    close: async () => {
      await Promise.all(hurt.map(opened => opened.close()))
      await healthy.close()
      await Promise.all(proxies.map(proxy => proxy.close()))
    },
  }
}

/** Redis: a malformed response is a valid reply of another kind, the text PONG. */
export async function faultyRedis(): Promise<FaultyClients<RedisClient>> {
  const target = process.env['TEST_REDIS_URL'] as string
  return faultyClients(
    target,
    () => Buffer.from('+PONG\r\n'),
    async url => {
      const { connections, close } = await openRedis(1, url)
      return { client: connections[0] as RedisClient, close }
    },
  )
}

/** Postgres: in a malformed response every row (`DataRow`, type D) comes with one garbled column. */
export async function faultyPostgres(
  migrate: (db: SqlClient) => Promise<void>,
): Promise<FaultyClients<SqlClient>> {
  const { schema, close } = await openKeptPostgres(1, migrate)
  const clients = await faultyClients(
    process.env['TEST_POSTGRES_URL'] as string,
    garbleRows,
    async url => {
      const pool = await openPostgresPool(schema, 1, url)
      // Connects now, while the proxy is still harmless.
      await pool.query('select 1')
      return { client: fromPgPool(pool), close: () => pool.end() }
    },
    cutAtCommit,
  )
  return {
    ...clients,
    close: async () => {
      await clients.close()
      await close()
    },
  }
}

/** Cuts the connection when the database has replied to the only statement, or to the commit of a transaction. */
function cutAtCommit(client: SqlClient, proxy: FaultProxy): SqlClient {
  return {
    ...client,
    query(text, values) {
      proxy.harm = 'cutAfter'
      return client.query(text, values)
    },
    transaction(work, options) {
      proxy.harm = 'none'
      return client.transaction(async tx => {
        const result = await work(tx)
        proxy.harm = 'cutAfter'
        return result
      }, options)
    },
  }
}

/** Overwrites the column bytes of each DataRow message (1 type byte, 4 length bytes, 2 count bytes, columns). */
function garbleRows(response: Buffer): Buffer {
  const garbled = Buffer.from(response)
  for (let at = 0; at + 5 <= garbled.length; at += 1 + garbled.readUInt32BE(at + 1)) {
    if (garbled[at] !== 'D'.charCodeAt(0)) continue
    let column = at + 7
    for (let n = garbled.readUInt16BE(at + 5); n > 0; n--) {
      const length = garbled.readInt32BE(column)
      if (length > 0) garbled.fill('z', column + 4, column + 4 + length)
      column += 4 + Math.max(length, 0)
    }
  }
  return garbled
}
