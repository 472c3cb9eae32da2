// The steps of examples/deploy/Dockerfile run in empty root folders, and the host that they make runs alone.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { freePort } from '../../harness/services.ts'
import { serving } from '../../harness/serving.ts'
import { ALL_TURNS } from '../../harness/turns.ts'
import { ignoredBy, runSteps, startInRoot } from './dockerfile.ts'
import { temporaryFolder } from '../../harness/files.ts'

const FOLDER = 'examples/deploy'
const MOST_MEBIBYTES = 120
t.setTimeout(1_800_000)

const roots = temporaryFolder(t)
// npm's own, so that the packages that this repository has installed are not downloaded again.
const cache = process.env['npm_config_cache'] ?? join(homedir(), '.npm')
mkdirSync(cache, { recursive: true })
// The full check has just done this step, with the same lockfile.
const installed = ALL_TURNS
  ? undefined
  : {
      step: 'npm ci --no-audit --no-fund',
      folders: [
        'node_modules',
        ...readdirSync('packages').map(name => `packages/${name}/node_modules`),
      ].filter(existsSync),
    }
const image = runSteps(readFileSync(`${FOLDER}/Dockerfile`, 'utf8'), {
  roots,
  cache,
  installed,
  ignored: ignoredBy(readFileSync(`${FOLDER}/Dockerfile.dockerignore`, 'utf8')),
})

/** The packages of a lockfile, as name@version, without those of this repository. */
function locked(path: string): string[] {
  const { packages } = JSON.parse(readFileSync(path, 'utf8')) as {
    packages: Record<string, { readonly version?: string }>
  }
  return Object.entries(packages).flatMap(([at, { version }]) => {
    const name = at.split('node_modules/').at(-1) ?? ''
    return name === '' || name.startsWith('@gatewright/') || name.startsWith('packages/')
      ? []
      : [`${name}@${version}`]
  })
}

t.test(
  `the installed host takes at most ${MOST_MEBIBYTES} MiB, in the versions of this repository`,
  async t => {
    const { stdout } = spawnSync('/usr/bin/du', ['-sm', join(image.root, 'app')], { encoding: 'utf8' })
    const size = Number.parseInt(stdout)
    t.comment(`measured ${size} MiB`)
    t.ok(size > 0 && size <= MOST_MEBIBYTES, `${size} MiB`)
    for (const absent of ['libsql', 'typescript', 'esbuild', 'tap'])
      t.notOk(existsSync(join(image.root, 'app/node_modules', absent)), absent)
    const own = new Set(locked('package-lock.json'))
    const packed = locked(join(roots, 'build/packed/package-lock.json'))
    t.ok(packed.length > 50)
    t.same(
      packed.filter(each => !own.has(each)),
      [],
    )
  },
)

t.test('the host runs with a root folder that it cannot write, is healthy, and ends on SIGTERM', async t => {
  const { env, drop } = await hostStoresEnv('postgres')
  t.teardown(drop)
  const secrets = spawnSync(`${FOLDER}/new-secrets.sh`, { encoding: 'utf8' }).stdout.trim().split('\n')
  const port = String(await freePort())
  const variables = {
    ...env,
    ...Object.fromEntries(secrets.map(line => line.split('='))),
    PORT: port,
    HOST: '127.0.0.1',
  }
  const migrate = startInRoot(image, ['node', 'node_modules/.bin/gatewright', 'migrate'], variables)
  t.same(await once(migrate, 'exit'), [0, null])
  const host = startInRoot(image, image.entrypoint, { ...variables, MIGRATE: 'off' })
  t.teardown(() => host.kill('SIGKILL'))
  await serving(`http://127.0.0.1:${port}/healthz`, host)
  t.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200)
  t.equal((await fetch(`http://127.0.0.1:${port}/errors`)).status, 200, 'with its list of errors')
  t.match(await (await fetch(`http://127.0.0.1:${port}/helper`)).text(), '<title>', 'and its pages')
  const healthy = (port: string) => once(startInRoot(image, image.healthcheck, { PORT: port }), 'exit')
  t.same(await healthy(port), [0, null])
  t.same(await healthy(String(await freePort())), [1, null])
  host.kill('SIGTERM')
  t.same(await once(host, 'exit'), [0, null])
})

t.test('without a database the host says that it was installed without SQLite', async t => {
  const host = startInRoot(image, image.entrypoint, { DATA_DIR: '/tmp', PORT: '0' })
  let output = ''
  for (const stream of [host.stdout, host.stderr]) stream?.on('data', chunk => (output += String(chunk)))
  t.same(await once(host, 'close'), [1, null])
  t.match(output, 'the embedded database needs the optional dependency libsql')
})
