import { existsSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { declaredNames } from './surface.ts'
import { manifest, packageNames } from './tree.ts'

/** A declaration in a file of declarations. */
interface Declaration {
  readonly file: string
  readonly name: string
}

const texts = new Map<string, string>()

/** Returns the text of a declaration file (`.d.ts`) without comments, or an empty text if the file does not exist. */
function textOf(file: string): string {
  const known = texts.get(file)
  if (known !== undefined) return known
  const text = existsSync(file) ? readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '') : ''
  texts.set(file, text)
  return text
}

/** The declaration files of the entries that users import, by their specifier. */
function publicEntries(folder: string): ReadonlyMap<string, string> {
  const { name, exports = {} } = manifest(folder)
  const found = new Map<string, string>()
  for (const [entry, target] of Object.entries(exports))
    if (typeof target !== 'string' && target['types'] !== undefined && !entry.includes('internal'))
      found.set(name + entry.slice(1), posix.join('packages', folder, target['types']))
  return found
}

/** The declaration files of all entries, by their specifier. */
const ENTRIES = new Map(
  packageNames().flatMap(folder => {
    const { name, exports = {} } = manifest(folder)
    return Object.entries(exports).flatMap(([entry, target]) => {
      const types = typeof target === 'string' ? undefined : target['types']
      return types === undefined
        ? []
        : [[name + entry.slice(1), posix.join('packages', folder, types)] as const]
    })
  }),
)

const CLAUSE = /(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from '([^']+)'/g
const isDeclaredIn = (text: string, name: string): boolean =>
  new RegExp(
    `^(?:export )?(?:declare )?(?:abstract )?(?:const|function|class|interface|type) ${name}\\b`,
    'm',
  ).test(text)

/** Finds the declaration of a name that a file declares or imports. Undefined for one of another project. */
function locate(file: string, name: string, depth = 0): Declaration | undefined {
  const text = textOf(file)
  if (depth > 10) return undefined
  if (isDeclaredIn(text, name)) return { file, name }
  for (const [, clause = '', specifier = ''] of text.matchAll(CLAUSE))
    for (const part of clause.split(',')) {
      const [given = '', local = given] = part
        .trim()
        .replace(/^type /, '')
        .split(/\s+as\s+/)
      if (local !== name || given === '') continue
      const target = specifier.startsWith('.')
        ? posix.join(posix.dirname(file), specifier).replace(/\.(?:ts|js)$/, '.d.ts')
        : ENTRIES.get(specifier)
      return target === undefined ? undefined : locate(target, given, depth + 1)
    }
  return undefined
}

/** The text of the declarations of a function or constant, overloads included. */
function signatureOf({ file, name }: Declaration): string {
  const text = textOf(file)
  const starts = [...text.matchAll(new RegExp(`^(?:export )?declare (?:const|function) ${name}\\b`, 'gm'))]
  return starts
    .map(({ index }) => {
      const rest = text.slice(index)
      const end = /\n(?:export|declare|import|interface|type)\b/.exec(rest)?.index
      return rest.slice(0, end)
    })
    .join('\n')
}

const keyOf = ({ file, name }: Declaration): string => `${file} ${name}`
const declarationsOf = (file: string): ReadonlySet<string> => {
  const { values, types } = declaredNames(textOf(file))
  const found = [...values, ...types].map(name => locate(file, name))
  return new Set(found.flatMap(declaration => (declaration ? [keyOf(declaration)] : [])))
}

/**
 * The types that signatures of public functions name and a user cannot: those of the same package that neither the entry of the function nor the
 * main entry exports, and those of another package that none of its public entries exports.
 */
export function unexportedTypes(folder: string): string[] {
  const entries = publicEntries(folder)
  const main = entries.get(manifest(folder).name)
  const wrong: string[] = []
  for (const [specifier, file] of entries) {
    const own = new Set([...declarationsOf(file), ...(main ? declarationsOf(main) : [])])
    for (const name of declaredNames(textOf(file)).values) {
      const declaration = locate(file, name)
      if (declaration)
        for (const type of typesIn(declaration))
          if (!(type.file.startsWith(`packages/${folder}/`) ? own : publicOf(type.file)).has(keyOf(type)))
            wrong.push(`${specifier}: ${name} takes or returns ${type.name} of ${type.file}`)
    }
  }
  return wrong
}

/** The interfaces and type aliases of our packages that a signature names. Its type parameters are declared nowhere. */
function typesIn(declaration: Declaration): Declaration[] {
  const signature = signatureOf(declaration).replace(/'[^']*'|"[^"]*"/g, '')
  const names = new Set(signature.match(/\b[A-Z]\w*/g))
  return [...names].flatMap(name => {
    const found = locate(declaration.file, name)
    return found &&
      new RegExp(`^(?:export )?(?:declare )?(?:interface|type) ${found.name}\\b`, 'm').test(
        textOf(found.file),
      )
      ? [found]
      : []
  })
}

const publicOf = (file: string): ReadonlySet<string> => {
  const folder = file.split('/')[1] as string
  return new Set([...publicEntries(folder).values()].flatMap(entry => [...declarationsOf(entry)]))
}
