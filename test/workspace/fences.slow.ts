import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { compile } from '../harness/compile.ts'
import { filesBelow, temporaryFolder } from '../harness/files.ts'
import { runNode } from '../harness/node.ts'
import { fences } from './markdown.ts'

const moduleName = (page: string, index: number): string => `${page.replaceAll(/[/.]/g, '_')}_${index}`

/** Compiles every fence as a module of its own. Resolves to the compiler's output. */
async function check(pages: Readonly<Record<string, string>>): Promise<string> {
  const files = Object.entries(pages).flatMap(([page, markdown]) =>
    fences(markdown).map(({ code }, index) => [`${moduleName(page, index)}.ts`, code] as const),
  )
  return compile('fences', Object.fromEntries(files))
}

/** Pages with a fence that does not compile, and where the compiler must say so. The program is compiled once, which takes seconds. */
const BROKEN = {
  'x.md': '# Page\n\n```ts\nconst n: number = "text"\n```\n',
  'y.md': '```ts run\nconst n: number = "text"\n```\n',
}
const FAULTS = [/\/x_md_0\.ts\(4,7\): /, /\/y_md_0\.ts\(2,7\): /]

t.test('every TypeScript fence of every page compiles, and those marked `run` run', async t => {
  const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md']
  for (const directory of ['packages', 'docs', 'examples']) pages.push(...filesBelow(directory, '.md'))
  const texts = Object.fromEntries(pages.map(page => [page, readFileSync(page, 'utf8')]))
  const lines = (await check({ ...texts, ...BROKEN })).split('\n').filter(line => /^\S.*: error /.test(line))
  for (const fault of FAULTS)
    t.equal(lines.filter(line => fault.test(line)).length, 1, 'a wrong fence is found')
  t.same(
    lines.filter(line => !FAULTS.some(fault => fault.test(line))),
    [],
  )
  const running = Object.entries(texts).flatMap(([page, text]) =>
    fences(text).flatMap(({ runs }, index) => (runs ? [moduleName(page, index)] : [])),
  )
  // A fence may write files where it runs.
  const cwd = temporaryFolder(t)
  // One process, since each would load the same packages again.
  const imports = running.map(name => {
    const { href } = pathToFileURL(resolve('build/fences', `${name}.js`))
    return `console.log('${name}'); await import('${href}')`
  })
  const script = [...imports, "console.log('all have run')"].join('\n')
  const { code, output } = await runNode(['--input-type=module', '-e', script], process.env, cwd)
  t.match({ code, output }, { code: 0, output: /^all have run$/m }, output)
  t.ok(running.length >= 3, `${running.length} run`)
})
