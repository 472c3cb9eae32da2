import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '@gatewright/kernel'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { createClient, createCluster, type RedisClientOptions } from 'redis'
import type { RedisTarget, SentinelTarget } from '../config/redis-target.ts'
import type { Backend } from './backend.ts'
import { inTime } from './in-time.ts'
import { openSentinels, type Sentinels } from './sentinel.ts'
import { replaceSilentConnections } from './silent-connections.ts'

interface OpenRedis {
  /** The client for rate-limiter-flexible. */
  readonly storeClient: unknown
  /** Writes to each server that accepts writes. */
  write(): Promise<void>
  /** Returns the servers that accept writes, each as a function that sends it a command. */
  servers(): Promise<readonly SendToServer[]>
  close(): void
}

type SendToServer = (command: string[]) => Promise<unknown>

/**
 * How long a start waits for Redis. On a cluster it is the limit for each configured node, one after the other, and for the
 * nodes that one of them names.
 */
const CONNECT_MS = 5000
/** How long a command may take. */
const COMMAND_MS = 5000

/**
 * Moves the rate limits of a backend to Redis. What guards money and signatures stays in the ledger's database, so a Redis that is lost or
 * comes back empty lets nothing happen twice. Throws for a replica, which accepts no writes, for a `maxmemory-policy` other than
 * `noeviction`, since an evicted count would begin at 0, and for a server whose memory is full. The start and each readiness check verify this on every
 * master of a cluster, by a write among others. `commandMs` is for tests.
 */
export async function withRedis(
  backend: Backend,
  target: RedisTarget,
  commandMs: number = COMMAND_MS,
): Promise<Backend> {
  const { storeClient, write, servers, close } = await open(target, commandMs)
  // A Redis whose machine has failed neither replies nor closes its connections.
  const late = (): Error =>
    new Fault('ERR_STORE_UNAVAILABLE', `redis did not answer within ${commandMs / 1000} s`)
  const check = async (): Promise<void> => {
    await inTime(assertWritable({ write, servers }), commandMs, late)
  }
  try {
    await check()
  } catch (error) {
    close()
    throw error
  }
  return {
    ...backend,
    limiter: settings =>
      new RateLimiterRedis({ ...settings, storeClient, useRedisPackage: true, rejectIfRedisNotReady: true }),
    checks: { ...backend.checks, redis: check },
    close: async () => {
      close()
      await backend.close()
    },
  }
}

/**
 * Keys that all hosts write, so that each master of a cluster gets a write and the client learns of replaced masters. A master with
 * a tenth of the slots has none of these keys in 1 of 800 clusters.
 */
const PROBED_KEYS = Array.from({ length: 64 }, (_, n) => `gw:probe:${n}`)

/** The command that writes such a key, which is deleted after a minute: by a script, as limits are counted. */
const writeOf = (key: string): string[] => [
  'EVAL',
  "return redis.call('SET', KEYS[1], '1', 'PX', 60000)",
  '1',
  key,
]

/** Throws unless every server that should take writes takes one, and evicts no keys. */
async function assertWritable({ write, servers }: Pick<OpenRedis, 'write' | 'servers'>): Promise<void> {
  // A role or policy says better than a failed write what to do.
  const failure = await write().then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  await Promise.all((await servers()).map(assertServer))
  if (failure) throw failure.error
}

/** Throws unless a server accepts writes and evicts no keys. */
async function assertServer(send: SendToServer): Promise<void> {
  const [role, info] = await Promise.all([send(['ROLE']), send(['INFO', 'memory'])])
  if (!Array.isArray(role) || String(role[0]) !== 'master') {
    const what = Array.isArray(role) && String(role[0]) === 'slave' ? 'a replica' : 'no master'
    throw new Error(`Redis is ${what}, and takes no writes: let REDIS_URL lead to the master`)
  }
  const policy = /^maxmemory_policy:(\S+)/m.exec(String(info))?.[1]
  if (policy !== 'noeviction') {
    throw new Error(`Redis has maxmemory-policy ${policy ?? 'unknown'}: set it to noeviction`)
  }
}

/** Throws for one of several nodes of a cluster: it would reject the commands on keys of the others, and each request with them. */
async function assertAlone(send: SendToServer): Promise<void> {
  if (!/^cluster_enabled:1/m.test(String(await send(['INFO', 'cluster'])))) return
  const size = /^cluster_size:(\d+)/m.exec(String(await send(['CLUSTER', 'INFO'])))?.[1]
  if (Number(size) > 1)
    throw new Error('Redis is a node of a cluster: set REDIS_CLUSTER_URLS instead of REDIS_URL')
}

/**
 * The client reconnects by itself, and again after `silentMs` if the server does not reply to its handshake. With
 * `disableOfflineQueue` a command fails immediately during an outage instead of waiting.
 */
function clientOptions(silentMs: number): Pick<RedisClientOptions, 'disableOfflineQueue' | 'socket'> {
  return {
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_MS,
      // Counts from the last byte in either direction, so on a connection in use the pings decide.
      socketTimeout: silentMs,
      // The default strategy, except that the default gives up after a `socketTimeout`.
      reconnectStrategy: retries => Math.min(2 ** retries * 50, 2000) + randomInt(200),
    },
  }
}

function open(target: RedisTarget, silentMs: number): Promise<OpenRedis> {
  if ('url' in target) return single(target.url, silentMs)
  return 'clusterUrls' in target ? cluster(target.clusterUrls, silentMs) : behindSentinels(target, silentMs)
}

async function single(url: string, silentMs: number): Promise<OpenRedis> {
  const redis = createClient({ url, ...clientOptions(silentMs) })
  await connect(redis, CONNECT_MS)
  try {
    await assertAlone(command => redis.sendCommand(command))
  } catch (error) {
    redis.destroy()
    throw error
  }
  const stopReplacing = replaceSilentConnections(() => [redis], silentMs)
  return {
    storeClient: redis,
    write: async () => {
      await redis.sendCommand(writeOf(PROBED_KEYS[0] as string))
    },
    servers: async () => [command => redis.sendCommand(command)],
    close: () => {
      stopReplacing()
      redis.destroy()
    },
  }
}

async function cluster(urls: readonly string[], silentMs: number): Promise<OpenRedis> {
  const redis = createCluster({ rootNodes: urls.map(url => ({ url })), defaults: clientOptions(silentMs) })
  await connect(redis, CONNECT_MS * (urls.length + 1))
  const stopReplacing = replaceSilentConnections(
    () => redis.masters.flatMap(({ client }) => client ?? []),
    silentMs,
  )
  return {
    storeClient: redis,
    write: async () => {
      // The client learns that a master was replaced only by a command on a key of its slots.
      await Promise.all(PROBED_KEYS.map(key => redis.sendCommand(key, false, writeOf(key))))
    },
    servers: async () =>
      redis.masters.map(master => async command => (await redis.nodeClient(master)).sendCommand(command)),
    close: () => {
      stopReplacing()
      redis.destroy()
    },
  }
}

/** How often Sentinels are asked which server is the master, in ms. */
const FOLLOW_MS = 1000

/**
 * Connects to the master that Sentinels name, and to another one when they name it. Commands go to one server at a time and are never sent again,
 * so that none counts twice; the client of node-redis for Sentinels repeats them. While the master is down, commands fail immediately.
 */
async function behindSentinels(
  {
    sentinels: addresses,
    masterName,
    server,
    sentinelPassword: password,
  }: SentinelTarget & {
    readonly sentinelPassword: string | undefined
  },
  silentMs: number,
): Promise<OpenRedis> {
  const { protocol, user, password: serverPassword } = server
  const sentinels = openSentinels({
    sentinels: addresses,
    masterName,
    tls: protocol === 'rediss:',
    password,
    limitMs: FOLLOW_MS,
  })
  const openAt = (address: string): Promise<OpenRedis> =>
    single(`${protocol}//${user}:${serverPassword}@${address}`, silentMs)
  let at = await firstMaster(sentinels, masterName)
  let current = await openAt(at).catch((error: unknown) => {
    sentinels.close()
    throw error
  })
  let isOpen = true
  const follow = async (): Promise<void> => {
    const address = await sentinels.master()
    if (address === undefined || address === at) return
    const next = await openAt(address)
    // Closed meanwhile.
    if (!isOpen) return next.close()
    current.close()
    current = next
    at = address
  }
  let following: Promise<void> | undefined
  const timer = setInterval(() => {
    // A master that cannot be reached yet is tried again.
    following ??= follow()
      .catch(() => {})
      .finally(() => {
        following = undefined
      })
  }, FOLLOW_MS)
  timer.unref()
  return {
    // Limiters keep the client that they were made with.
    storeClient: forwarding(() => current.storeClient as object),
    write: () => current.write(),
    servers: () => current.servers(),
    close: () => {
      isOpen = false
      clearInterval(timer)
      sentinels.close()
      current.close()
    },
  }
}

/** Asks until Sentinels name a master, for as long as a start waits for Redis. Fault: `ERR_STORE_UNAVAILABLE`. */
async function firstMaster(sentinels: Sentinels, masterName: string): Promise<string> {
  const giveUpAt = performance.now() + CONNECT_MS
  while (performance.now() < giveUpAt) {
    const address = await sentinels.master()
    if (address !== undefined) return address
    await sleep(FOLLOW_MS / 10)
  }
  sentinels.close()
  const cause = new Error(`most Sentinels name no master "${masterName}"`)
  throw new Fault('ERR_STORE_UNAVAILABLE', 'redis cannot be reached', { cause })
}

/** Makes an object whose members are those of the object that `target` returns at the time. */
function forwarding(target: () => object): object {
  return new Proxy(
    {},
    {
      get(_, name) {
        const value: unknown = Reflect.get(target(), name)
        return typeof value === 'function' ? value.bind(target()) : value
      },
    },
  )
}

/**
 * Connects for the first time. The time is limited, because a client would try for ever, and the start would hang silently.
 * Later it reconnects for as long as needed. Fault: `ERR_STORE_UNAVAILABLE`.
 */
async function connect(
  redis: {
    on(event: 'error', listener: (error: Error) => void): unknown
    connect(): Promise<unknown>
    destroy(): void
  },
  limitMs: number,
): Promise<void> {
  let last = new Error(`no answer within ${limitMs / 1000} s`)
  redis.on('error', error => {
    last = error
  })
  const connecting = redis.connect()
  try {
    await inTime(connecting, limitMs, () => last)
  } catch (cause) {
    redis.destroy()
    // A running attempt continues and could still open connections, so these are closed.
    connecting.then(
      () => redis.destroy(),
      () => {},
    )
    throw new Fault('ERR_STORE_UNAVAILABLE', 'redis cannot be reached', { cause })
  }
}
