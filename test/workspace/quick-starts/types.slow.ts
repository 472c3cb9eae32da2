// Every printed TypeScript fence, against the tarballs in an empty project: with each compiler and the types of Node lines.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { filesBelow, temporaryFolder } from '../../harness/files.ts'
import { installTools } from '../../harness/tools.ts'
import { turnOf } from '../../harness/turns.ts'
import { installInto, pinned } from '../empty-project.ts'
import { importsOf, packageOf } from '../imports.ts'
import { fences } from '../markdown.ts'
import { packTo } from '../pack.ts'
import { manifest, packageNames } from '../tree.ts'

const COMPILERS = {
  'TypeScript 5.9': ['test/tools/node_modules/typescript-5/bin/tsc'],
  // Several threads would each check what they share.
  'TypeScript 7': ['node_modules/typescript/bin/tsc', '--singleThreaded'],
}

t.setTimeout(1_800_000)
installTools()
const directory = temporaryFolder(t)
const project = join(directory, 'project')

const pages = [
  'README.md',
  ...filesBelow('docs', '.md'),
  ...packageNames().map(name => `packages/${name}/README.md`),
]
const modules = pages.flatMap(page =>
  fences(readFileSync(page, 'utf8')).map(({ code }, index) => ({
    file: `${page.replaceAll(/[/.]/g, '_')}_${index}.ts`,
    code: `${code}\nexport {}\n`,
  })),
)
const own = new Set(packageNames().map(folder => manifest(folder).name))
const imported = new Set(
  modules.flatMap(({ code }) => importsOf(code).flatMap(({ specifier }) => packageOf(specifier) ?? [])),
)
const others = [...imported].filter(name => !own.has(name))
const types = others.flatMap(name => pinned(`@types/${name.replace(/^@(.*)\//, '$1__')}`) ?? [])
installInto(project, [
  ...others.map(name => pinned(name) ?? name),
  ...types,
  ...packageNames().map(folder => packTo(directory, folder)),
])
for (const { file, code } of modules) writeFileSync(join(project, file), code)
const compilerOptions = {
  strict: true,
  // Checks our declarations too, not only the pages.
  skipLibCheck: false,
  target: 'es2022',
  module: 'nodenext',
  types: ['node'],
  noEmit: true,
  // As in a project with Nest.
  experimentalDecorators: true,
}
writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))

/** Errors of our declarations and of the pages. Declarations of other packages are theirs: `@types/koa` has an error of its own. */
const ownErrors = (output: string): string[] =>
  output
    .split('\n')
    .filter(line => line.includes('error TS') && !/node_modules\/(?!@gatewright\/|gatewright\/)/.test(line))

/** Compilers, and aliases in `test/tools` of types of Node. Each compiles the declarations of all packages again. */
const COMBINATIONS = [
  // In every run: it alone finds circular types that this repository's own compiler accepts.
  ['TypeScript 5.9', 'types-node-newest'] as const,
  ...turnOf(['types-node-20', 'types-node-22', 'types-node-24', 'types-node-newest'], 1).map(
    nodeTypes => ['TypeScript 7', nodeTypes] as const,
  ),
]
for (const [compiler, nodeTypes] of COMBINATIONS) {
  t.test(`every page compiles by ${compiler} with ${nodeTypes}`, async t => {
    const installed = join(project, 'node_modules/@types/node')
    rmSync(installed, { recursive: true, force: true })
    symlinkSync(resolve('test/tools/node_modules', nodeTypes), installed)
    const [script = '', ...flags] = COMPILERS[compiler]
    const args = [resolve(script), ...flags, '-p', project]
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    t.ok(status === 0 || stdout.includes('error TS'), `the compiler ran: ${stderr}`)
    t.same(ownErrors(stdout), [])
  })
}

t.test('an error of a page or of our declarations is seen', async t => {
  const lines = [
    "docs_express_md_0.ts(1,2): error TS2322: Type 'string' is not assignable.",
    'node_modules/@gatewright/http/dist/index.d.ts(1,2): error TS2304: Cannot find name.',
    'node_modules/@types/koa/index.d.ts(1,2): error TS2694: no exported member.',
  ]
  t.same(ownErrors(lines.join('\n')), lines.slice(0, 2))
})
