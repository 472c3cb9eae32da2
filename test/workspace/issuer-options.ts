import { readFileSync } from 'node:fs'

const README = 'packages/session-issuer/README.md'
const SOURCES = ['options.ts', 'number-options.ts'].map(file => `packages/session-issuer/src/${file}`)
const MEMBER = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*readonly (\w+)\??:/g

/** An option of `createIssuer` with the text of its docstring. */
export interface OptionRow {
  readonly name: string
  readonly text: string
}

/** The options of `createIssuer` whose docstrings give a bound or a default, in the order of the sources. */
export function issuerOptionRows(): OptionRow[] {
  return SOURCES.flatMap(path => [...readFileSync(path, 'utf8').matchAll(MEMBER)])
    .map(([, comment = '', name = '']) => ({
      name,
      text: comment.replaceAll(/\s*\n\s*\* ?|\s+/g, ' ').trim(),
    }))
    .filter(({ text }) => /\bDefault\b/.test(text))
}

/** The README of session-issuer with its list of options made from the docstrings. */
export function issuerReadme(): string {
  const entries = issuerOptionRows().map(({ name, text }) => `- \`${name}\`: ${text}`)
  const [before, , after] = readFileSync(README, 'utf8').split(/<!-- (?:end of )?options -->/)
  if (after === undefined) throw new Error(`${README} must have the marks of its list of options`)
  return `${before}<!-- options -->\n${entries.join('\n')}\n<!-- end of options -->${after}`
}
