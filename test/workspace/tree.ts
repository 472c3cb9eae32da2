import { readdirSync, readFileSync } from 'node:fs'
import { sep } from 'node:path'
import { filesBelow } from '../harness/files.ts'
import type { Package, Source } from './rules.ts'

/** The part of a `package.json` that tests read. */
export interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  /** Libraries that are inside the bundles of the published package. */
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  /** Only frameworks whose own copy a package must use, such as Nest with its decorators. */
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

/** The folders below `packages`. */
export function packageNames(): string[] {
  const found = readdirSync('packages', { withFileTypes: true })
  return found
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted()
}

/** Reads `packages/<name>/package.json`. */
export function manifest(name: string): Manifest {
  return JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8')) as Manifest
}

/** What users import of a package: the specifier of every entry of its exports map. */
export function entriesOf(name: string): string[] {
  const { name: specifier, exports = {} } = manifest(name)
  return Object.entries(exports).flatMap(([entry, target]) =>
    typeof target === 'string' ? [] : [specifier + entry.slice(1)],
  )
}

/** What a package may import. */
function declaredBy(manifest: Manifest): object {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = manifest
  return { ...dependencies, ...devDependencies, ...optionalDependencies, ...peerDependencies }
}

/** The scripts of the pages. */
export function readBrowser(): Source[] {
  return filesBelow('packages/reference-host/browser', '.ts').map(readSource)
}

const readSource = (path: string): Source => ({
  path: path.split(sep).join('/'),
  text: readFileSync(path, 'utf8'),
})

/** The packages of this repository, with their sources. */
export function readPackages(): Package[] {
  return packageNames().map(name => ({
    name,
    dependencies: Object.keys(declaredBy(manifest(name))),
    peers: Object.keys(manifest(name).peerDependencies ?? {}),
    sources: filesBelow(`packages/${name}/src`, '.ts').map(readSource),
  }))
}
