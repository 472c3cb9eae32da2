import { spawn } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pgBouncerBinary } from '../../harness/binaries.ts'
import { isRoot, NOBODY, onFreePort, printed, serviceOf, type OwnService } from '../../harness/services.ts'

/**
 * Starts a PgBouncer in transaction mode in front of the Postgres of a URL, with few connections to it. Its clients reach any database of that
 * Postgres, as the user of the URL. It accepts no settings of connections, as it does by default.
 */
export async function startPgBouncer(postgresUrl: string, more: readonly string[] = []): Promise<OwnService> {
  const { path, env, from } = pgBouncerBinary()
  const { hostname, port: postgresPort, username, pathname } = new URL(postgresUrl)
  return onFreePort(async port => {
    const directory = mkdtempSync(join(tmpdir(), 'gatewright-pgbouncer-'))
    const file = join(directory, 'pgbouncer.ini')
    const lines = [
      '[databases]',
      `* = host=${hostname} port=${postgresPort} user=${username}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      'default_pool_size = 4',
      'max_client_conn = 300',
      ...more,
    ]
    writeFileSync(file, `${lines.join('\n')}\n`)
    // It refuses root, and nobody may not read the folder that it was unpacked into.
    const program = join(directory, 'pgbouncer')
    cpSync(path, program)
    const libraries = env['LD_LIBRARY_PATH']
    const copied = join(directory, 'lib')
    if (libraries) cpSync(libraries, copied, { recursive: true, verbatimSymlinks: true })
    if (isRoot) {
      chmodSync(directory, 0o755)
      chownSync(directory, NOBODY.uid, NOBODY.gid)
    }
    const child = spawn(program, [file], {
      ...(isRoot ? NOBODY : {}),
      cwd: directory,
      env: { ...process.env, ...(libraries ? { LD_LIBRARY_PATH: copied } : {}) },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    await printed(child, 'process up')
    const url = `postgres://${username}@127.0.0.1:${port}${pathname}`
    return serviceOf(child, { url, from, signal: 'SIGKILL', directory })
  })
}
