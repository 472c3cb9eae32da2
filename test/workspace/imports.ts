/** One import, re-export or dynamic import of a source file. */
export interface Import {
  readonly specifier: string
  /** Only types cross: nothing is loaded at run time. */
  readonly typeOnly: boolean
  /** `import()`: loaded when the program gets there. */
  readonly later: boolean
}

const STATEMENT = /^\s*(import|export)\s+(type\s+)?([\w$\s{},*]*?)\s*from\s*['"]([^'"]+)['"]/gm
const SIDE_EFFECT = /^\s*import\s*['"]([^'"]+)['"]/gm
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]\s*[,)]/g

/** Whether each name in `{ ... }` carries its own `type`. */
function onlyTypes(clause: string): boolean {
  const names = /^\{([^}]*)\}$/
    .exec(clause.trim())?.[1]
    ?.split(',')
    .filter(name => name.trim() !== '')
  return names !== undefined && names.length > 0 && names.every(name => /^\s*type\s/.test(name))
}

/** Reads the imports of a TypeScript text. Comments are left out: docstrings quote imports too. */
export function importsOf(text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
  const found: Import[] = []
  for (const [, , type, clause = '', specifier = ''] of code.matchAll(STATEMENT)) {
    found.push({ specifier, typeOnly: type !== undefined || onlyTypes(clause), later: false })
  }
  for (const [pattern, later] of [
    [SIDE_EFFECT, false],
    [DYNAMIC, true],
  ] as const) {
    for (const [, specifier = ''] of code.matchAll(pattern)) found.push({ specifier, typeOnly: false, later })
  }
  return found
}

/** `@scope/name` or `name` of a bare specifier; undefined for a path of the package itself and for `node:` builtins. */
export function packageOf(specifier: string): string | undefined {
  if (/^(?:[.#]|node:)/.test(specifier)) return undefined
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
