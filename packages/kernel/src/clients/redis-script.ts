import { createHash } from 'node:crypto'
import { orFault, toFault } from '../fault.ts'
import type { RedisClient } from './redis.ts'

export { connectOnDemand } from './connect-on-demand.ts'

/** A Lua script and its SHA-1, by which a server that knows the script runs it. */
export interface RedisScript {
  readonly lua: string
  readonly sha1: string
}

/** Makes a script. Call it at module load: it hashes the text. */
export function redisScript(lua: string): RedisScript {
  return { lua, sha1: createHash('sha1').update(lua).digest('hex') }
}

/**
 * Runs a script in one round trip (EVALSHA). A server that does not know the script yet (restart, SCRIPT FLUSH, new
 * cluster node) replies NOSCRIPT without running it, and then EVAL costs a second round trip.
 * Fault: `ERR_STORE_UNAVAILABLE`; the script may or may not have run.
 */
export function runScript(
  client: RedisClient,
  script: RedisScript,
  key: string,
  args: readonly string[],
): Promise<unknown> {
  return send(client, script, key, ['EVALSHA', script.sha1, '1', key, ...args])
}

/** Runs a script over several keys, as `runScript` does. Keys of different hash slots need a `standalone` client. */
export function runScriptOnKeys(
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
