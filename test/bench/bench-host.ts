import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '@gatewright/host/internal'
import { readConfig, startHost, type RunningHost } from '@gatewright/reference-host'
import { bootstrapUser, request, type WalletUser } from '../harness/host.ts'

/** A host of this process that benches ask, and a user whose session outlives them. */
export interface BenchHost {
  readonly host: RunningHost
  readonly user: WalletUser
  /** That user, and others that share work which is bounded for each account, such as open pay-ins. */
  readonly users: readonly WalletUser[]
}

/**
 * Starts a sandbox on a data folder that goes with the process. Its decision events go nowhere, or with `logs` to standard error.
 */
export async function startBenchHost(
  env: Readonly<Record<string, string>>,
  count = 1,
  logs = false,
): Promise<BenchHost> {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'gatewright-bench-'))
  process.once('exit', () => rmSync(DATA_DIR, { recursive: true, force: true }))
  const config = readConfig({ PORT: '0', RATE_LIMITS: 'off', DATA_DIR, ...env })
  if (!config.ok) throw new Error(config.problems.join('; '))
  const observe = logs ? createLog('info').logDecision : () => {}
  const host = await startHost(config.value, { observe, report: error => console.error(error) })
  const send: Parameters<typeof bootstrapUser>[0] = (path, options) => request(host.url, path, options)
  const users: WalletUser[] = []
  while (users.length < count) users.push(await bootstrapUser(send, { sessionTtlSeconds: 86_400 }))
  return { host, user: users[0] as WalletUser, users }
}
