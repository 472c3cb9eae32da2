import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'
import { redisBinaries } from '../binaries.ts'
import { onFreePort, printed, serviceOf, startRedis, type OwnService } from '../services.ts'

/** A master with a replica, and three Sentinels that watch them under the name `gw`. */
export interface WatchedRedis {
  /** `host:port` of each Sentinel. */
  readonly addresses: readonly string[]
  readonly master: OwnService
  /** Resolves when the replica has all writes of the master. */
  replicated(): Promise<void>
  stop(): Promise<void>
}

/** Starts them. A master that does not reply for half a second is replaced. */
export async function startWatchedRedis(): Promise<WatchedRedis> {
  const master = await startRedis([])
  const { port } = new URL(master.url)
  const replica = await startRedis(['--replicaof', '127.0.0.1', port])
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(port)))
  await Promise.all(sentinels.map(({ url }) => knowsAll(url)))
  return {
    replicated: () => command(master.url, reply => String(reply) === '1', ['WAIT', '1', '1000']),
    addresses: sentinels.map(({ url }) => new URL(url).host),
    master,
    async stop() {
      await Promise.all([...sentinels, replica, master].map(each => each.stop()))
    },
  }
}

/** Repeats a command until its reply is as expected. */
async function command(
  url: string,
  isExpected: (reply: unknown) => boolean,
  words: readonly string[],
): Promise<void> {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  while (!isExpected(await client.sendCommand([...words])));
  client.destroy()
}

/** Resolves when a Sentinel knows the replica and the other Sentinels. */
function knowsAll(url: string): Promise<void> {
  const knows = (reply: unknown): boolean => {
    const text = JSON.stringify(reply)
    return /"num-slaves"[,:]"1"/.test(text) && /"num-other-sentinels"[,:]"2"/.test(text)
  }
  return command(url, knows, ['SENTINEL', 'MASTER', 'gw'])
}

async function startSentinel(masterPort: string): Promise<OwnService> {
  const { directory: programs, server, env, from } = redisBinaries()
  return onFreePort(async port => {
    const directory = mkdtempSync(join(tmpdir(), 'gatewright-sentinel-'))
    const file = join(directory, 'sentinel.conf')
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${directory}`,
      `sentinel monitor gw 127.0.0.1 ${masterPort} 2`,
      'sentinel down-after-milliseconds gw 500',
      'sentinel failover-timeout gw 3000',
    ]
    writeFileSync(file, `${lines.join('\n')}\n`)
    const child = spawn(join(programs, server), [file, '--sentinel'], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    await printed(child, '+monitor master')
    return serviceOf(child, { url: `redis://127.0.0.1:${port}`, from, signal: 'SIGKILL', directory })
  })
}
