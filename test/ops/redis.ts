import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from 'redis'
import { redisBinaries } from '../harness/binaries.ts'
import { startDaemon, until, type Daemon, stablePort } from './daemon.ts'
import type { StoreServer } from './postgres.ts'

/** Starts a Redis without persistence, with more of its own flags. What it held is gone when it is started again. */
export async function startRedisServer(
  folder: string,
  flags: readonly string[] = [],
): Promise<StoreServer & { readonly port: number; command(...args: string[]): Promise<unknown> }> {
  const { directory, env, server: program } = redisBinaries()
  const port = await stablePort()
  const own = join(folder, `redis-${port}`)
  mkdirSync(own)
  const url = `redis://127.0.0.1:${port}`
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...flags]
  let daemon: Daemon | undefined
  const command = (...words: string[]): Promise<unknown> => sendCommand(url, words)
  const server = {
    url,
    port,
    command,
    async start() {
      if (daemon?.running) return
      daemon = startDaemon([join(directory, program), ...args], {
        cwd: own,
        env: { PATH: process.env['PATH'] ?? '', ...env },
        log: join(own, 'log'),
        user: {},
      })
      await until('Redis replies', () =>
        command('PING').then(
          () => true,
          () => false,
        ),
      )
    },
    kill: async () => daemon?.stop(),
    freeze: () => daemon?.signal('SIGSTOP'),
    thaw: () => daemon?.signal('SIGCONT'),
  }
  await server.start()
  return server
}

/** Sends one command on a connection of its own. */
export async function sendCommand(url: string, words: string[]): Promise<unknown> {
  const client = createClient({ url, socket: { reconnectStrategy: false } })
  client.on('error', () => {})
  await client.connect()
  try {
    return await client.sendCommand(words)
  } finally {
    client.destroy()
  }
}
