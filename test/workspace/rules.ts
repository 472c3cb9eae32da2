import { posix } from 'node:path'
import { importsOf, packageOf, type Import } from './imports.ts'

/** A source file: its path from the repository's root, with forward slashes, and its text. */
export interface Source {
  readonly path: string
  readonly text: string
}

/** A package: the name of its folder, the dependencies it declares, its sources. */
export interface Package {
  readonly name: string
  readonly dependencies: readonly string[]
  /** Those of the dependencies that whoever installs the package brings. Default: none. */
  readonly peers?: readonly string[]
  readonly sources: readonly Source[]
}

/** One broken rule, readable on its own. */
export type Violation = string

const SCOPE = '@gatewright/'
const FIVE = [
  'signature-verifier',
  'session-issuer',
  'scope-guard',
  'idempotency-store',
  'legacy-alias-router',
]
const BACKENDS = ['memory.ts', 'redis.ts', 'postgres.ts', 'sqlite.ts', 'mariadb.ts']
const TYPEDI = ['packages/host/src/composition/make-services.ts']

/** The folders of a package, each of which imports only from those before it. Files beside them may import all. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  host: [
    'schemas',
    'records',
    'ledger',
    'observability',
    'config',
    'storage',
    'http',
    'openapi',
    'cli',
    'composition',
  ],
  'reference-host': [
    'product',
    'chain',
    'providers',
    'testing',
    'config',
    'pages',
    'modules',
    'operator',
    'services',
    'composition',
    'cli',
  ],
}

/** The packages a package may import. The reference host may import all, so it is not listed. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  http: ['kernel'],
  ...Object.fromEntries(FIVE.map(name => [name, ['kernel']])),
  gatewright: ['kernel', 'http', ...FIVE],
  'create-gatewright': [],
  client: [],
  host: ['kernel', 'http', ...FIVE],
}

interface Site {
  readonly package: string
  readonly path: string
  readonly found: Import
}

function sites({ name, sources }: Package): Site[] {
  return sources.flatMap(({ path, text }) => importsOf(text).map(found => ({ package: name, path, found })))
}

/** Who may import whom: only what design says, and typedi only where the host composes. */
function brokenArrow({ package: from, path, found: { specifier } }: Site): Violation[] {
  const name = packageOf(specifier)
  if (name === 'typedi' && !TYPEDI.includes(path))
    return [`${path}: typedi belongs to composition/make-services.ts of the host`]
  const allowed = ARROWS[from]
  if (name === 'gatewright' && from !== name)
    return [`${path}: no package imports gatewright, which composes them`]
  if (!allowed || !name?.startsWith(SCOPE)) return []
  return allowed.includes(name.slice(SCOPE.length)) ? [] : [`${path}: ${from} must not import ${specifier}`]
}

/** Inside a package with layers: no arrow back up. */
function brokenLayer({ package: name, path, found: { specifier } }: Site): Violation[] {
  const layers = LAYERS[name]
  if (!layers || !specifier.startsWith('.')) return []
  const source = `packages/${name}/src/`
  const rankOf = (file: string): number => {
    const [folder = '', ...below] = file.slice(source.length).split('/')
    return below.length === 0 ? layers.length : layers.indexOf(folder)
  }
  const target = posix.join(posix.dirname(path), specifier)
  const [own, other] = [rankOf(path), rankOf(target)]
  if (own === -1) return [`${path}: its folder has no place among the layers of ${name}`]
  return other > own ? [`${path}: ${specifier} is in a layer above`] : []
}

/** Inside the five: a backend knows its port and its siblings' SQL; deciding code knows the port's types. */
function brokenStorageRule({ package: name, path, found }: Site): Violation[] {
  if (!FIVE.includes(name) || !found.specifier.startsWith('.')) return []
  const source = `packages/${name}/src`
  const storage = `${source}/storage/`
  const target = posix.join(posix.dirname(path), found.specifier)
  if (path.startsWith(storage) && BACKENDS.includes(posix.basename(path))) {
    if (!target.startsWith(storage)) return [`${path}: a backend must not import ${found.specifier}`]
    if (BACKENDS.includes(posix.basename(target))) return [`${path}: a backend must not import another`]
    return []
  }
  const mayUseStorage = path.startsWith(storage) || path.startsWith(`${source}/testing`)
  if (mayUseStorage || !target.startsWith(storage)) return []
  const port = found.typeOnly && posix.basename(target).endsWith('port.ts')
  // index.ts and internal.ts decide nothing. A backend still has an entry of its own, so that nobody loads all of them.
  const entries = [`${source}/index.ts`, `${source}/internal.ts`]
  const entry = entries.includes(path) && !BACKENDS.includes(posix.basename(target))
  return port || entry
    ? []
    : [`${path}: deciding code takes only types, of the port, from storage: ${found.specifier}`]
}

/** What the bundles of a package leave outside: those of the programs, and those for require. */
const IMPORTED_BY_BUNDLES: Readonly<Record<string, readonly string[]>> = {
  'reference-host': ['redis', 'koa-compose'],
  gatewright: ['lru-cache'],
}

/**
 * An import that is not declared works by luck of hoisting; a declared one that is not imported is a burden, unless it is a peer of a
 * package that it needs: strict package managers find such a peer only if it is declared again.
 */
function brokenDeclarations(given: Package, packages: readonly Package[]): Violation[] {
  const manifest = `packages/${given.name}/package.json`
  const imported = new Set(sites(given).map(site => packageOf(site.found.specifier)))
  imported.delete(undefined)
  const undeclared = [...imported].filter(name => !given.dependencies.includes(name as string))
  const needed = packages.filter(({ name }) => given.dependencies.includes(`${SCOPE}${name}`))
  const peers = needed.flatMap(({ peers = [] }) => peers)
  const bundled = IMPORTED_BY_BUNDLES[given.name] ?? []
  const unused = given.dependencies.filter(
    name => !imported.has(name) && !peers.includes(name) && !bundled.includes(name),
  )
  return [
    ...undeclared.map(name => `${manifest}: ${name} is imported but not declared`),
    ...unused.map(name => `${manifest}: ${name} is declared but not imported`),
  ]
}

/** Checks the workspace's rules (`docs/architecture.md`): arrows, storage folders, declarations. */
export function violations(packages: readonly Package[]): Violation[] {
  return packages.flatMap(given => [
    ...sites(given).flatMap(site => [...brokenArrow(site), ...brokenStorageRule(site), ...brokenLayer(site)]),
    ...brokenDeclarations(given, packages),
  ])
}
