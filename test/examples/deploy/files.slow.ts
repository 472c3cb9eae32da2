// The configurations of examples/deploy, checked by the programs or schemas of those who read them.
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { debianProgram, onPath } from '../../harness/binaries.ts'
import { compile } from '../../harness/compile.ts'
import { installTools, tool } from '../../harness/tools.ts'
import { temporaryFolder } from '../../harness/files.ts'

const FOLDER = 'examples/deploy'
const folder = temporaryFolder(t)

/** A program of this machine, or of a Debian package that is unpacked for the tests. */
function program(name: string, debian: string, where = 'bin'): { path: string; env: NodeJS.ProcessEnv } {
  const path = onPath(name)
  if (path !== undefined) return { path, env: process.env }
  const found = debianProgram(debian, name, [debian], where)
  if (!found) throw new Error(`no ${name} for the tests: install Debian package ${debian}`)
  return { path: join(found.bin, name), env: { ...process.env, ...found.env } }
}

/** Runs a program in the folder of the example. */
function run({ path, env }: ReturnType<typeof program>, args: readonly string[], cwd = FOLDER) {
  const { status, stdout, stderr } = spawnSync(path, args, { cwd, env, encoding: 'utf8' })
  return { status, output: `${stdout}${stderr}` }
}

t.test('promtool accepts the rules and the configuration, and each alert fires when it should', async t => {
  const promtool = program('promtool', 'prometheus')
  for (const args of [
    ['check', 'config', 'prometheus/prometheus.yml'],
    ['test', 'rules', 'prometheus/alerts.test.yml'],
  ]) {
    const { status, output } = run(promtool, args)
    t.equal(status, 0, output)
  }
  cpSync(`${FOLDER}/prometheus`, folder, { recursive: true })
  const rules = readFileSync(join(folder, 'alerts.yml'), 'utf8')
  writeFileSync(join(folder, 'alerts.yml'), rules.replace('> 0.02', '> 0.2'))
  t.not(run(promtool, ['test', 'rules', 'alerts.test.yml'], folder).status, 0, 'a changed bound is noticed')
})

t.test('haproxy accepts its configuration', async t => {
  const haproxy = program('haproxy', 'haproxy', 'sbin')
  const { status, output } = run(haproxy, ['-c', '-f', 'haproxy.cfg'])
  t.equal(status, 0, output)
})

t.test('systemd accepts the unit', async t => {
  const analyze = program('systemd-analyze', 'systemd')
  const unit = readFileSync(`${FOLDER}/gatewright.service`, 'utf8').replace('/usr/bin/node', process.execPath)
  const path = join(folder, 'gatewright.service')
  writeFileSync(path, unit)
  // It exits with 0 also when it ignores a line.
  t.same(run(analyze, ['verify', path]), { status: 0, output: '' })
  writeFileSync(path, unit.replace('LockPersonality', 'LockPersonalities'))
  t.match(run(analyze, ['verify', path]).output, "Unknown key 'LockPersonalities'")
})

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly depends_on?: object | string[]; readonly volumes?: readonly string[] }>
  >
}

t.test('compose.yaml has the published schema, and names only services and files that exist', async t => {
  const found = debianProgram('docker-compose', 'docker-compose', ['docker-compose'])
  if (!found) throw new Error('no schema of Compose files for the tests: the Debian package docker-compose')
  const path = join(found.root, 'lib/python3/dist-packages/compose/config/compose_spec.json')
  // Its ids are those of an older draft.
  const withoutIds = (name: string, value: unknown): unknown =>
    typeof value === 'string' && ['id', '$schema'].includes(name) ? undefined : value
  const schema = JSON.parse(readFileSync(path, 'utf8'), withoutIds) as object
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema)
  const compose = parse(readFileSync(`${FOLDER}/compose.yaml`, 'utf8'), { merge: true }) as Compose
  t.ok(validate(compose), JSON.stringify(validate.errors))
  t.notOk(validate({ services: { host: { image: 'x', readonly: true } } }), 'an unknown member is an error')
  for (const [name, { depends_on: needs = {}, volumes = [] }] of Object.entries(compose.services)) {
    const needed = Array.isArray(needs) ? needs : Object.keys(needs)
    for (const each of needed) t.ok(each in compose.services, `${name} needs ${each}`)
    for (const [source = ''] of volumes.map(volume => volume.split(':')))
      if (source.startsWith('.')) t.ok(readdirSync(join(FOLDER, source, '..')), `${name} mounts ${source}`)
  }
})

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
}
type Model = new (manifest: object) => { validate(): void }

t.test('the Kubernetes manifests have the published schemas', async t => {
  installTools()
  const files = readdirSync(`${FOLDER}/kubernetes`)
  const manifests = files.flatMap(file =>
    parseAllDocuments(readFileSync(`${FOLDER}/kubernetes/${file}`, 'utf8')).map(
      each => each.toJS() as Manifest,
    ),
  )
  const kinds = manifests.map(({ kind }) => kind).toSorted()
  t.same(kinds, [
    'ConfigMap',
    'Deployment',
    'HorizontalPodAutoscaler',
    'Job',
    'NetworkPolicy',
    'PodDisruptionBudget',
    'Service',
  ])
  const sources: Record<string, string> = {}
  for (const manifest of manifests) {
    const { apiVersion, kind } = manifest
    const group = await tool<Record<string, Model>>(`kubernetes-models/${apiVersion}`)
    const Model = group[kind] as Model
    t.doesNotThrow(() => new Model(manifest).validate(), kind)
    // The schemas allow unknown members; the types made of them do not.
    const types = resolve('test/tools/node_modules/kubernetes-models', apiVersion, 'index.js')
    sources[`${kind}.ts`] =
      `import type { I${kind} } from '${types}'\nexport const manifest: I${kind} = ${JSON.stringify(manifest)}`
  }
  t.equal(await compile('manifests', sources), '')
  const wrong = sources['Job.ts']?.replace('"backoffLimit"', '"backOffLimit"') ?? ''
  t.match(await compile('manifests', { 'Job.ts': wrong }), 'backOffLimit', 'a misspelt member is an error')
})
