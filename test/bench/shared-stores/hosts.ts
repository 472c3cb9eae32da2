import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atExit } from '../../harness/at-exit.ts'
import { spawnHost, type HostProcess } from '../../harness/host.ts'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { RATE_LIMITS } from '../host-lines.ts'

/** The stores that several hosts share. */
export type SharedStores = 'postgres' | 'postgres+redis'

/** Which hosts, how many, and what differs from the defaults. */
interface HostsOptions {
  readonly kind: SharedStores
  readonly count: number
  /** Variables of the hosts. */
  readonly env?: Readonly<Record<string, string>>
  /** Replaces the URLs of the stores. */
  readonly url?: (given: string) => Promise<string>
}

/** Runs something with hosts on stores of their own, and stops the hosts. */
export async function withHosts<T>(
  { kind, count, env: own, url }: HostsOptions,
  use: (hosts: readonly HostProcess[]) => Promise<T>,
): Promise<T> {
  const { env: stores, drop } = await hostStoresEnv(kind)
  const env = { ...stores, ...own }
  for (const name of ['DATABASE_URL', 'REDIS_URL'])
    if (url && env[name] !== undefined) env[name] = await url(env[name])
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-bench-'))
  const hosts: HostProcess[] = []
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true })
  const forget = atExit(removeFolder)
  try {
    // One after the other: the first creates the tables.
    while (hosts.length < count)
      hosts.push(await spawnHost(folder, { ...env, RATE_LIMITS, LOG_LEVEL: 'error' }))
    return await use(hosts)
  } finally {
    await Promise.all(hosts.map(host => host.stop('SIGTERM')))
    removeFolder()
    forget()
    await drop()
  }
}
