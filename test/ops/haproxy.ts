import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDaemon, until, type Daemon, stablePort } from './daemon.ts'
import type { ClusterPrograms } from './programs.ts'

/** A server behind the proxy: where its clients connect, and where it is checked. */
export interface ProxiedServer {
  readonly name: string
  readonly port: number
  readonly checkPort: number
}

/** HAProxy in front of the nodes of a database: connections go to the primary, as Patroni's health check names it. */
export interface DatabaseProxy {
  readonly port: number
  stop(): Promise<void>
}

/** Starts it. `cutSessions`: it closes the connections to a server that is no longer the primary. */
export async function startDatabaseProxy(
  programs: ClusterPrograms,
  folder: string,
  servers: readonly ProxiedServer[],
  { cutSessions }: { readonly cutSessions: boolean },
): Promise<DatabaseProxy> {
  const port = await stablePort()
  const file = join(folder, `haproxy-${port}.cfg`)
  writeFileSync(file, configuration(port, servers, cutSessions))
  const daemon: Daemon = startDaemon([programs.haproxy, '-W', '-db', '-f', file], {
    cwd: folder,
    env: programs.env,
    log: join(folder, `haproxy-${port}.log`),
  })
  await until('HAProxy is running', () => daemon.running)
  return { port, stop: () => daemon.stop('SIGTERM') }
}

function configuration(port: number, servers: readonly ProxiedServer[], cutSessions: boolean): string {
  const cut = cutSessions ? ' on-marked-down shutdown-sessions' : ''
  return `global
  maxconn 500
defaults
  mode tcp
  timeout connect 4s
  timeout client 30m
  timeout server 30m
  timeout check 2s
  retries 2
listen primary
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 2s fall 2 rise 1${cut}
${servers.map(({ name, port: to, checkPort }) => `  server ${name} 127.0.0.1:${to} check port ${checkPort}`).join('\n')}
`
}
