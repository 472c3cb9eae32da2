import { chownSync, cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  DAEMON_USER,
  daemonFolder,
  processTree,
  signalProcesses,
  startDaemon,
  until,
  type Daemon,
  stablePort,
  whenEnding,
} from './daemon.ts'
import { startDatabaseProxy, type DatabaseProxy } from './haproxy.ts'
import type { ClusterPrograms } from './programs.ts'

/** A Postgres under Patroni. */
export interface PatroniNode {
  readonly name: string
  readonly port: number
  /** Kills Postgres, all of its processes. Patroni goes on. */
  killPostgres(): void
  /** Kills Patroni. Postgres goes on. */
  killPatroni(): void
  /** Kills both, as when the machine is gone. */
  kill(): void
  /** Stops all processes without ending them, as a machine that is suspended. */
  freeze(): void
  thaw(): void
  /** Starts Patroni unless it runs. */
  start(): void
}

/** How a cluster is set up. */
export interface PatroniOptions {
  /** `strict`: no commit is acknowledged while there is no synchronous replica. */
  readonly replication: 'asynchronous' | 'synchronous' | 'strict'
  /** Whether the proxy closes the connections to a node that is no longer the primary. Default: it does. */
  readonly cutSessions?: boolean
  /** Whether a primary whose lease has ended leaves the leader key to the node that took it, as since Patroni 3.0.3. Default: it does. */
  readonly respectsLeaderKey?: boolean
}

/** Three Postgres under Patroni with one etcd, behind HAProxy. */
export interface PatroniCluster {
  /** Leads to the primary, by the proxy. Ends in the name of a database. */
  readonly url: string
  readonly nodes: readonly PatroniNode[]
  readonly etcd: Daemon
  /** The primary, as Patroni's interface names it. Rejects after a minute without one. */
  primary(): Promise<PatroniNode>
  /** Waits until one node is the primary and two replicas follow it, one of them synchronous where that is asked. */
  settled(): Promise<void>
  switchover(): Promise<void>
  stop(): Promise<void>
}

/** The settings that the documentation names, in seconds. A primary that cannot renew its lease for `ttl` seconds is replaced. */
const DYNAMIC = { ttl: 20, loop_wait: 5, retry_timeout: 5, maximum_lag_on_failover: 33_554_432 }

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
}

/** Starts a cluster below a folder, and waits until it is complete. */
export async function startPatroni(
  programs: ClusterPrograms,
  folder: string,
  options: PatroniOptions,
): Promise<PatroniCluster> {
  const { etcd, port: etcdPort } = await startEtcd(programs, folder)
  const names = ['a', 'b', 'c']
  const nodes = await Promise.all(
    names.map(name => createNode(programs, folder, { name, etcdPort, options })),
  )
  // The first one creates the database, and the others copy it.
  whenEnding(() => {
    for (const node of nodes) node.kill()
  })
  const [first, ...others] = nodes as [Node, ...Node[]]
  first.start()
  const members = (): Promise<readonly Member[]> => readMembers(nodes)
  await until('Patroni has a primary', async () => leaderOf(await members()) !== undefined, 120)
  for (const node of others) node.start()
  const servers = nodes.map(({ name, port, apiPort }) => ({ name, port, checkPort: apiPort }))
  const cutSessions = options.cutSessions ?? true
  const proxy: DatabaseProxy = await startDatabaseProxy(programs, folder, servers, { cutSessions })
  const primary = async (): Promise<Node> => {
    let leader: string | undefined
    await until('Patroni has a primary', async () => {
      leader = leaderOf(await members())
      return leader !== undefined
    })
    return nodes.find(({ name }) => name === leader) as Node
  }
  const cluster: PatroniCluster = {
    url: `postgres://postgres@127.0.0.1:${proxy.port}/`,
    nodes,
    etcd,
    primary,
    settled: () => until('the cluster is complete', async () => isComplete(await members(), options), 180),
    async switchover() {
      const from = await primary()
      const to = (await members()).find(({ role }) => /standby|replica/.test(role))
      await fetch(`http://127.0.0.1:${from.apiPort}/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader: from.name, candidate: to?.name }),
      })
    },
    async stop() {
      for (const node of nodes) {
        node.thaw()
        node.kill()
      }
      await Promise.all([proxy.stop(), etcd.stop()])
    },
  }
  await cluster.settled()
  return cluster
}

async function startEtcd(
  programs: ClusterPrograms,
  folder: string,
): Promise<{ readonly etcd: Daemon; readonly port: number }> {
  const [port, peerPort] = [await stablePort(), await stablePort()]
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`]
  const data = daemonFolder(join(folder, 'etcd'))
  const flags = {
    '--name': 'e',
    '--data-dir': join(data, 'data'),
    '--listen-client-urls': client,
    '--advertise-client-urls': client,
    '--listen-peer-urls': peer,
    '--initial-advertise-peer-urls': peer,
    '--initial-cluster': `e=${peer}`,
  }
  const etcd = startDaemon([programs.etcd, ...Object.entries(flags).flat()], {
    cwd: data,
    env: programs.env,
    log: join(folder, 'etcd.log'),
  })
  await until('etcd is healthy', () => replies(`${client}/health`))
  return { etcd, port }
}

interface Node extends PatroniNode {
  readonly apiPort: number
}

async function createNode(
  programs: ClusterPrograms,
  folder: string,
  given: { readonly name: string; readonly etcdPort: number; readonly options: PatroniOptions },
): Promise<Node> {
  const { name, options } = given
  const [port, apiPort] = [await stablePort(), await stablePort()]
  const own = daemonFolder(join(folder, name))
  const file = join(own, 'patroni.yml')
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(settings(programs, own, { ...given, port, apiPort }), null, 2))
  let patroni: Daemon | undefined
  const postgres = (): readonly number[] => processTree(postmaster(own))
  const both = (): readonly number[] => [...(patroni?.running ? [patroni.pid] : []), ...postgres()]
  const patch = (options.respectsLeaderKey ?? true) ? `${leaderKeyPatch(own)}:` : ''
  return {
    name,
    port,
    apiPort,
    killPostgres: () => signalProcesses(postgres(), 'SIGKILL'),
    killPatroni: () => patroni?.signal('SIGKILL'),
    kill: () => signalProcesses(both(), 'SIGKILL'),
    freeze: () => signalProcesses(both(), 'SIGSTOP'),
    thaw: () => signalProcesses(both(), 'SIGCONT'),
    start() {
      if (patroni?.running) return
      patroni = startDaemon([programs.python, programs.patroni, file], {
        cwd: own,
        env: { ...programs.env, PYTHONPATH: patch + programs.env['PYTHONPATH'], HOME: own },
        log: join(folder, `patroni-${name}.log`),
      })
    },
  }
}

function settings(
  programs: ClusterPrograms,
  own: string,
  {
    name,
    port,
    apiPort,
    etcdPort,
    options: { replication },
  }: {
    readonly name: string
    readonly port: number
    readonly apiPort: number
    readonly etcdPort: number
    readonly options: PatroniOptions
  },
): object {
  const api = `127.0.0.1:${apiPort}`
  const address = `127.0.0.1:${port}`
  return {
    scope: 'gatewright',
    name,
    restapi: { listen: api, connect_address: api },
    etcd3: { hosts: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ...DYNAMIC,
        synchronous_mode: replication !== 'asynchronous',
        synchronous_mode_strict: replication === 'strict',
        postgresql: {
          use_pg_rewind: true,
          parameters: {
            max_connections: 100,
            wal_keep_size: '256MB',
            hot_standby: 'on',
            wal_log_hints: 'on',
          },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 trust',
        'host replication all 127.0.0.1/32 trust',
      ],
    },
    postgresql: {
      listen: address,
      connect_address: address,
      data_dir: join(own, 'data'),
      bin_dir: programs.postgres,
      pgpass: join(own, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres', password: 'x' },
        replication: { username: 'replicator', password: 'x' },
        rewind: { username: 'rewinder', password: 'x' },
      },
      parameters: { unix_socket_directories: own },
    },
    watchdog: { mode: 'off' },
  }
}

/** Copies the patch of the leader key to a folder that Patroni may read. */
function leaderKeyPatch(own: string): string {
  const path = join(own, 'leader-key')
  cpSync(fileURLToPath(new URL('../../../test/ops/leader-key', import.meta.url)), path, { recursive: true })
  if (DAEMON_USER.uid !== undefined) chownSync(path, DAEMON_USER.uid, DAEMON_USER.gid as number)
  return path
}

/** Returns the process id of the Postgres server whose data is in a folder, or 0 if none runs there. */
function postmaster(own: string): number {
  const data = join(own, 'data')
  try {
    const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
    // A killed Postgres leaves its file, and another process may have its number by now.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(data) ? pid : 0
  } catch {
    return 0
  }
}

async function replies(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    response => response.ok,
    () => false,
  )
}

/** Returns the members of the cluster as the first node that replies lists them. Returns no members if no node replies. */
async function readMembers(nodes: readonly Node[]): Promise<readonly Member[]> {
  for (const { apiPort } of nodes)
    try {
      const response = await fetch(`http://127.0.0.1:${apiPort}/cluster`, {
        signal: AbortSignal.timeout(1000),
      })
      return ((await response.json()) as { members: Member[] }).members
    } catch {}
  return []
}

function leaderOf(members: readonly Member[]): string | undefined {
  return members.find(({ role, state }) => role === 'leader' && state === 'running')?.name
}

function isComplete(members: readonly Member[], { replication }: PatroniOptions): boolean {
  const replicas = members.filter(({ role, state }) => role !== 'leader' && /running|streaming/.test(state))
  const synchronous = members.some(({ role }) => role === 'sync_standby')
  return (
    leaderOf(members) !== undefined &&
    replicas.length === 2 &&
    (replication === 'asynchronous' || synchronous)
  )
}
