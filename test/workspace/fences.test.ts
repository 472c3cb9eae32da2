import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { filesBelow } from '../harness/files.ts'
import { runNode } from '../harness/node.ts'

const DIRECTORY = 'build/fences'

/** The TypeScript fences of a Markdown text, each at the line it has there, so that an error names that line. */
function fences(markdown: string): string[] {
  const found: string[] = []
  for (const { index, 1: code = '' } of markdown.matchAll(/^```ts\n([^]*?)^```$/gm)) {
    const before = markdown.slice(0, index).split('\n').length
    found.push('\n'.repeat(before) + code)
  }
  return found
}

/** Writes every fence as a module of its own and type-checks them together. Resolves to the compiler's output. */
async function check(pages: Readonly<Record<string, string>>): Promise<string> {
  rmSync(DIRECTORY, { recursive: true, force: true })
  mkdirSync(DIRECTORY, { recursive: true })
  for (const [page, markdown] of Object.entries(pages)) {
    for (const [index, code] of fences(markdown).entries()) {
      writeFileSync(join(DIRECTORY, `${page.replaceAll(/[/.]/g, '_')}_${index}.ts`), `${code}\nexport {}\n`)
    }
  }
  const compilerOptions = { noEmit: true, composite: false, isolatedDeclarations: false, rootDir: '../..' }
  const tsconfig = { extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'], references: [] }
  writeFileSync(join(DIRECTORY, 'tsconfig.json'), JSON.stringify(tsconfig))
  const { code, output } = await runNode(['node_modules/typescript/bin/tsc', '-p', DIRECTORY])
  return code === 0 ? '' : `${output}exit ${code}`
}

t.test('finds a fence that does not compile', async t => {
  t.match(await check({ 'x.md': '# Page\n\n```ts\nconst n: number = "text"\n```\n' }), /x_md_0\.ts\(4,7\)/)
})

t.test('every TypeScript fence of every page compiles', async t => {
  const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md']
  for (const directory of ['packages', 'docs', 'examples']) pages.push(...filesBelow(directory, '.md'))
  const texts = Object.fromEntries(pages.map(page => [page, readFileSync(page, 'utf8')]))
  t.ok(Object.values(texts).flatMap(fences).length > 5)
  t.equal(await check(texts), '')
})
