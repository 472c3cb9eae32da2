// The recipes of docs/orms.md, which tests run as they are written there.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { transform } from 'esbuild'

/** Imports the first fence below a heading of the page. */
export async function recipe<Exports>(heading: string): Promise<Exports> {
  const page = readFileSync('docs/orms.md', 'utf8')
  const [, code] = page.slice(page.indexOf(`\n### ${heading}\n`)).match(/^```ts\n([^]*?)^```$/m) ?? []
  if (code === undefined) throw new Error(`docs/orms.md has no recipe below "### ${heading}"`)
  const folder = resolve('build', 'recipes')
  mkdirSync(folder, { recursive: true })
  // A process of its own may write it at the same time, so each has a file.
  const file = resolve(folder, `${heading}-${process.pid}.mjs`)
  writeFileSync(file, (await transform(code, { loader: 'ts' })).code)
  return (await import(pathToFileURL(file).href)) as Exports
}
