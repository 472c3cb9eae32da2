import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { manifest, packageNames } from './tree.ts'

/** The file of a package's build that declares a name, and the package. */
interface Declared {
  readonly name: string
  readonly by: string
}

/**
 * Names that every package exports for its own lists, and entries of adapters and test suites, whose names are those of their port:
 * a reader meets them with the path of their package.
 */
const OWN_LISTS = ['codes', 'rules', 'reasons']
const OWN_ENTRIES = ['./memory', './redis', './postgres', './sqlite', './static', './testing']

/** Names that two packages export for two different things: each as `name: package, package`. */
export function ambiguousNames(): string[] {
  const declaredBy = new Map<string, Set<string>>()
  for (const folder of packageNames()) {
    for (const { name, by } of declarations(folder)) {
      declaredBy.set(name, (declaredBy.get(name) ?? new Set()).add(by))
    }
  }
  return [...declaredBy]
    .filter(([name, places]) => places.size > 1 && !OWN_LISTS.includes(name))
    .map(([name, places]) => `${name}: ${[...places].toSorted().join(', ')}`)
    .toSorted()
}

function declarations(folder: string): Declared[] {
  const { exports = {} } = manifest(folder)
  return Object.entries(exports).flatMap(([entry, target]) => {
    if (typeof target === 'string') return []
    if (OWN_ENTRIES.includes(entry) && folder !== 'kernel') return []
    return declaredIn(`packages/${folder}/${target['types']}`)
  })
}

/** What a declaration file exports, each name with the file that declares it. */
function declaredIn(path: string): Declared[] {
  const code = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
  const own = [
    ...code.matchAll(
      /^export (?:declare )?(?:abstract )?(?:const|let|function|class|interface|type|enum) (\w+)/gm,
    ),
  ].map(([, name = '']) => ({ name, by: path }))
  const passed = [...code.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)].flatMap(
    ([, clause = '', specifier = '']) =>
      clause
        .split(',')
        .map(part =>
          part
            .trim()
            .replace(/^type /, '')
            .split(/\s+as\s+/),
        )
        .filter(([given]) => given)
        .map(([given = '', name = given]) => ({ name, by: origin(path, specifier, given) })),
  )
  return [...own, ...passed]
}

/** Follows a re-export to the file that declares the name. */
function origin(from: string, specifier: string, name: string): string {
  const path = specifier.startsWith('.')
    ? posix.join(posix.dirname(from), specifier.replace(/\.(?:ts|js)$/, '.d.ts'))
    : entryOf(specifier)
  return (path && declaredIn(path).find(each => each.name === name)?.by) || `${specifier} ${name}`
}

function entryOf(specifier: string): string | undefined {
  const [, folder = '', entry = ''] = /^@gatewright\/([\w-]+)(\/.+)?$/.exec(specifier) ?? []
  if (folder === '') return undefined
  const target = manifest(folder).exports?.[entry === '' ? '.' : `.${entry}`]
  return typeof target === 'object' ? `packages/${folder}/${target['types']?.slice(2)}` : undefined
}
