import { createHash } from 'node:crypto'
import { orFault, toFault } from './fault.ts'

/**
 * What an adapter asks of a Redis client: run one command. `key` names the hash slot, so that a cluster
 * client can route it; all keys of one command share that slot. Commands and arguments are plain strings.
 */
export interface RedisClient {
  run(key: string, command: readonly string[]): Promise<unknown>
  /** True where keys of any slot may share one command: a client of one server. Left out, they may not. */
  readonly single?: boolean
}

/** A Lua script with its SHA-1, so that it is sent once per server and named afterwards. */
export interface RedisScript {
  readonly lua: string
  readonly sha1: string
}

/** Declares a script at module load. */
export function redisScript(lua: string): RedisScript {
  return { lua, sha1: createHash('sha1').update(lua).digest('hex') }
}

/**
 * Runs a script in one round trip (EVALSHA); a server that does not know it yet (restart, SCRIPT FLUSH, new
 * cluster node) costs a second trip (EVAL). NOSCRIPT means that nothing ran, so the retry cannot double.
 * Faults: `ERR_STORE_UNAVAILABLE`; the script may or may not have run.
 */
export function runScript(
  client: RedisClient,
  script: RedisScript,
  key: string,
  args: readonly string[],
): Promise<unknown> {
  return send(client, script, key, ['EVALSHA', script.sha1, '1', key, ...args])
}

/** `runScript` over several keys. Keys of more than one slot need a client that is `single`. */
export function runScriptOn(
  client: RedisClient,
  script: RedisScript,
  keys: readonly string[],
  args: readonly string[],
): Promise<unknown> {
  const [key = ''] = keys
  return send(client, script, key, ['EVALSHA', script.sha1, String(keys.length), ...keys, ...args])
}

async function send(
  client: RedisClient,
  script: RedisScript,
  key: string,
  command: readonly string[],
): Promise<unknown> {
  try {
    return await client.run(key, command)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw toFault('redis', error)
  }
  return orFault('redis', () => client.run(key, ['EVAL', script.lua, ...command.slice(2)]))
}

/** Recipe for a node-redis client (`createClient`). Set `disableOfflineQueue: true`, so an outage is an error. */
export function fromNodeRedis(client: { sendCommand(args: string[]): Promise<unknown> }): RedisClient {
  // Not copied: the client only reads its arguments.
  return { single: true, run: (_key, command) => client.sendCommand(command as string[]) }
}

/** Recipe for a node-redis cluster (`createCluster`). */
export function fromNodeRedisCluster(cluster: {
  sendCommand(key: string, isReadonly: boolean, args: string[]): Promise<unknown>
}): RedisClient {
  return { run: (key, command) => cluster.sendCommand(key, false, [...command]) }
}

/**
 * Recipe for ioredis, single or `Cluster`. Set `enableOfflineQueue: false` and `maxRetriesPerRequest: 1`, so
 * an outage is an error and not a wait.
 */
export function fromIoredis(client: {
  readonly isCluster?: boolean
  call(command: string, ...args: string[]): Promise<unknown>
}): RedisClient {
  return {
    single: client.isCluster === false,
    run: (_key, [name = '', ...args]) => client.call(name, ...args),
  }
}
