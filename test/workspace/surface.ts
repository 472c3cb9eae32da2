import { existsSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { manifest, packageNames } from './tree.ts'

/** What one entry of an exports map gives: values that exist at run time, and types. */
export interface Surface {
  readonly values: readonly string[]
  readonly types: readonly string[]
}

/** The names that a declaration file exports. `export *` and defaults are rejected: a surface is named. */
export function declaredNames(text: string): { values: string[]; types: string[] } {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '')
  if (/^export (\*|default\b)/m.test(code)) throw new TypeError('a public entry must name what it exports')
  const values: string[] = []
  const types: string[] = []
  for (const [, kind, name = ''] of code.matchAll(
    /^export (?:declare )?(?:abstract )?(const|let|function|class|interface|type|enum) (\w+)/gm,
  )) {
    const target = kind === 'interface' || kind === 'type' ? types : values
    if (!target.includes(name)) target.push(name)
  }
  for (const [, type, clause = ''] of code.matchAll(/^export (type )?\{([^}]*)\}/gm)) {
    for (const part of clause.split(',').map(each => each.trim())) {
      if (part === '') continue
      const name = part.split(/\s+as\s+/).at(-1) as string
      if (type || part.startsWith('type ')) types.push(name.replace(/^type /, ''))
      else values.push(name)
    }
  }
  return { values: values.toSorted(), types: types.toSorted() }
}

/** Loads every entry of every package's exports map. Throws for an entry whose files were not built. */
export async function surfaces(): Promise<Record<string, Surface>> {
  const found: Record<string, Surface> = {}
  for (const folder of packageNames()) {
    const { name, exports = {} } = manifest(folder)
    for (const [entry, target] of Object.entries(exports)) {
      if (typeof target === 'string') continue
      const specifier = name + entry.slice(1)
      const [js, types] = [target['default'], target['types']].map(path => `packages/${folder}/${path}`)
      if (!js || !types || !existsSync(js) || !existsSync(types))
        throw new Error(`${specifier} names no built file`)
      const loaded = Object.keys((await import(pathToFileURL(js).href)) as object).toSorted()
      const declared = declaredNames(readFileSync(types, 'utf8'))
      if (loaded.join() !== declared.values.join()) {
        throw new Error(`${specifier} loads ${loaded.join()} but declares ${declared.values.join()}`)
      }
      found[specifier] = declared
    }
  }
  return found
}
