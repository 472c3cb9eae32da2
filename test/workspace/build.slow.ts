// What `npm start` and `npm run example` do first: they build what has changed, and nothing else.
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { temporaryFolder } from '../harness/files.ts'

/** `build` of `packages/reference-host/build.js`. */
type Build = (target: object, stream: PassThrough) => Promise<boolean>

const root = temporaryFolder(t)
const written = (path: string, text: string): string => {
  const file = join(root, path)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, text)
  return file
}
symlinkSync(resolve('node_modules'), join(root, 'node_modules'))
cpSync('packages/reference-host/build.js', written('packages/reference-host/build.js', ''))
written('package.json', '{ "type": "module" }')
written('package-lock.json', '{}')
written('tsconfig.json', '{}')
const options = {
  composite: true,
  rootDir: 'src',
  outDir: 'dist',
  tsBuildInfoFile: 'dist/.tsbuildinfo',
  types: [],
}
for (const [name, references] of [
  ['one', []],
  ['two', [{ path: '../one' }]],
] as const)
  written(
    `packages/${name}/tsconfig.json`,
    JSON.stringify({ compilerOptions: options, include: ['src'], references }),
  )
const source = written('packages/one/src/main.ts', 'export const one: number = 1\n')
written('packages/two/src/main.ts', 'export const two: number = 2\n')
const pages = written(
  'pages.js',
  "import { appendFileSync } from 'node:fs'\nappendFileSync('bundled', 'x')\n",
)

const { build } = (await import(pathToFileURL(join(root, 'packages/reference-host/build.js')).href)) as {
  readonly build: Build
}
const target = {
  name: 'two',
  project: 'packages/two',
  sources: ['packages'],
  outputs: ['packages/two/dist/main.js'],
  bundles: { 'the pages': pages },
}

/** Builds as on a terminal or for a log. Returns whether it built, and what it wrote. */
async function built({ isTTY = false } = {}): Promise<{ readonly worked: boolean; readonly output: string }> {
  const stream = Object.assign(new PassThrough(), { isTTY })
  const worked = await build(target, stream)
  return { worked, output: String(stream.read() ?? '') }
}
const NOTHING = { worked: false, output: '' }

t.test('counts packages and seconds on a terminal while it builds, and leaves the line empty', async t => {
  const { worked, output } = await built({ isTTY: true })
  t.ok(worked)
  t.match(output, /Building {2}0 s[^]*0 of 2 packages, \d+ s[^]*1 of 2 packages, \d+ s[^]*the pages, \d+ s/)
  t.ok(output.endsWith('\r\u001b[K'))
})

t.test('does nothing and says nothing while nothing has changed', async t => {
  t.same(await built({ isTTY: true }), NOTHING)
  t.same(await built(), NOTHING)
  t.equal(readFileSync(join(root, 'bundled'), 'utf8'), 'x')
})

t.test('builds again after a change of a source, also one that keeps its time and size', async t => {
  const { atimeMs, mtimeMs } = await import('node:fs').then(({ statSync }) => statSync(source))
  writeFileSync(source, 'export const one: number = 3\n')
  utimesSync(source, atimeMs / 1000, mtimeMs / 1000)
  t.ok((await built()).worked)
  t.same(await built(), NOTHING)
})

const CHANGES: Readonly<Record<string, () => void>> = {
  'a new file': () => written('packages/one/src/more.ts', 'export const more: number = 1\n'),
  'a deleted file': () => rmSync(join(root, 'packages/one/src/more.ts')),
  'another lockfile': () => written('package-lock.json', '{ }'),
  'a package without its built files': () => rmSync(join(root, 'packages/one/dist'), { recursive: true }),
  'a missing output': () => rmSync(join(root, 'packages/two/dist'), { recursive: true }),
}
for (const [change, make] of Object.entries(CHANGES))
  t.test(`builds again after ${change}`, async t => {
    make()
    t.ok((await built()).worked)
    t.same(await built(), NOTHING)
  })

t.test('rejects with the errors of the compiler alone, and builds until it succeeds', async t => {
  writeFileSync(source, 'export const one: number = "one"\n')
  for (let times = 0; times < 2; times += 1)
    await t.rejects(built(), {
      message: /^packages\/one\/src\/main\.ts[^\n]*TS2322[^]*(?<!Building project.*)$/,
    })
  writeFileSync(source, 'export const one: number = 1\n')
  t.ok((await built()).worked)
})
