import { spawn } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fromMysql2, type OrmClient } from '@gatewright/kernel/orms'
import { createPool, type Pool, type PoolConnection } from 'mysql2/promise'
import { mariaDbBinary } from '../../../harness/binaries.ts'
import { isRoot, NOBODY, onFreePort, printed, serviceOf, type OwnService } from '../../../harness/services.ts'
import { uniqueName } from '../../../harness/stores.ts'

/** Starts a MariaDB without users, whose data is lost when it stops. */
export async function startMariaDb(): Promise<OwnService> {
  const { path, messages, env, from } = mariaDbBinary()
  return onFreePort(async port => {
    const directory = mkdtempSync(join(tmpdir(), 'gatewright-mariadb-'))
    const data = join(directory, 'data')
    mkdirSync(data)
    if (isRoot) for (const owned of [directory, data]) chownSync(owned, NOBODY.uid, NOBODY.gid)
    const settings = {
      datadir: data,
      'lc-messages-dir': messages,
      port: String(port),
      'bind-address': '127.0.0.1',
      socket: join(directory, 'socket'),
      'pid-file': join(directory, 'pid'),
      'innodb-flush-log-at-trx-commit': '0',
      'innodb-buffer-pool-size': '64M',
      'max-connections': '300',
    }
    const flags = Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
    const args = ['--no-defaults', ...(isRoot ? ['--user=nobody'] : []), ...flags]
    // Named: a server without system tables has no users to check and keeps networking off by itself.
    const child = spawn(path, [...args, '--skip-grant-tables', '--skip-networking=0'], {
      cwd: dirname(path),
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    await printed(child, 'ready for connections')
    return serviceOf(child, { url: `mysql://root@127.0.0.1:${port}`, from, signal: 'SIGKILL', directory })
  })
}

/** A fresh database of a MariaDB, with pools of it and a client over each. */
export interface MariaDb {
  readonly url: string
  readonly pools: readonly Pool[]
  readonly connections: readonly OrmClient<PoolConnection>[]
  close(): Promise<void>
}

/** Creates a database on the server of a URL and opens `count` pools of `size` connections to it. `migrate` runs once, on the first. */
export async function openMariaDb(
  server: string,
  count: number,
  size: number,
  migrate: (db: OrmClient<PoolConnection>) => Promise<void> = async () => {},
): Promise<MariaDb> {
  const name = uniqueName()
  const admin = createPool({ uri: server, connectionLimit: 1 })
  await admin.query(`create database ${name}`)
  const url = `${server}/${name}`
  const pools = Array.from({ length: count }, () => createPool({ uri: url, connectionLimit: size }))
  const connections = pools.map(pool => fromMysql2(pool))
  await migrate(connections[0] as OrmClient<PoolConnection>)
  return {
    url,
    pools,
    connections,
    close: async () => {
      await Promise.all(pools.map(pool => pool.end()))
      await admin.query(`drop database ${name}`)
      await admin.end()
    },
  }
}
