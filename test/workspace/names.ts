import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { manifest, packageNames } from './tree.ts'

/** The file of a package's build that declares a name, and the package. */
interface Declaration {
  readonly name: string
  readonly by: string
}

/** Names that every package exports for its own lists. */
const OWN_LISTS = ['codes', 'rules', 'reasons']

/** Names that two packages export for two different things: each as `name: package, package`. */
export function ambiguousNames(): string[] {
  const declaredBy = new Map<string, Set<string>>()
  for (const folder of packageNames()) {
    for (const { name, by } of declarations(folder)) {
      declaredBy.set(name, (declaredBy.get(name) ?? new Set()).add(packageOf(by)))
    }
  }
  return [...declaredBy]
    .filter(([name, places]) => places.size > 1 && !OWN_LISTS.includes(name))
    .map(([name, places]) => `${name}: ${[...places].toSorted().join(', ')}`)
    .toSorted()
}

/** The package of a file: `packages/kernel` for `packages/kernel/dist/clock.d.ts`. */
function packageOf(path: string): string {
  return path.split('/').slice(0, 2).join('/')
}

function declarations(folder: string): Declaration[] {
  const { exports = {} } = manifest(folder)
  return Object.values(exports).flatMap(target => {
    if (typeof target === 'string') return []
    return declaredIn(`packages/${folder}/${target['types']}`)
  })
}

/** What a declaration file exports, each name with the file that declares it. */
function declaredIn(path: string): Declaration[] {
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
