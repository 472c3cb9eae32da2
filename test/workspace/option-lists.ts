import { readFileSync } from 'node:fs'

/** Where the options of a function are declared: by the name that its errors begin with, the file and its interface. */
export const OPTION_TYPES: Readonly<Record<string, readonly [file: string, type: string]>> = {
  createIssuer: ['session-issuer/src/options.ts', 'IssuerOptions'],
}

/** The lists of options in each README, in the order of its marks. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  'packages/session-issuer/README.md': ['createIssuer'],
}

/** An option that may be absent, with the text of its docstring. */
export interface OptionRow {
  readonly name: string
  readonly text: string
}

const MEMBER = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*readonly (\w+)\?:/g

/** The optional options of a function, in the order of their interface. */
export function optionRows(where: string): OptionRow[] {
  const [file, type] = OPTION_TYPES[where] ?? []
  if (file === undefined) throw new Error(`OPTION_TYPES must name the interface of ${where}`)
  const source = readFileSync(`packages/${file}`, 'utf8')
  const [, body] =
    new RegExp(`^(?:export )?interface ${type}\\b[^]*?\\{\\n([^]*?)^\\}`, 'm').exec(source) ?? []
  if (body === undefined) throw new Error(`packages/${file} must declare the interface ${type}`)
  return [...body.matchAll(MEMBER)].map(([, comment = '', name = '']) => ({
    name,
    text: comment.replaceAll(/\s*\n\s*\* ?|\s+/g, ' ').trim(),
  }))
}

/** A README with its lists of options made from the docstrings. */
function readmeOf(path: string, lists: readonly string[]): string {
  let next = 0
  const text = readFileSync(path, 'utf8').replaceAll(/<!-- options -->[^]*?<!-- end of options -->/g, () => {
    const entries = optionRows(lists[next++] ?? '').map(({ name, text }) => `- \`${name}\`: ${text}`)
    return `<!-- options -->\n${entries.join('\n')}\n<!-- end of options -->`
  })
  if (next !== lists.length) throw new Error(`${path} must have the marks of ${lists.join(', ')}`)
  return text
}

/** Every README with a list of options, by its path. */
export const readmes: Readonly<Record<string, () => string>> = Object.fromEntries(
  Object.entries(LISTS).map(([path, lists]) => [path, () => readmeOf(path, lists)]),
)
