import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { runNode } from '../harness/node.ts'

const FOLDER = 'build/own-tests-vitest'

t.test('the tests of the example pass with Vitest when only the import of test is changed', async t => {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(join(FOLDER, 'node_modules'), { recursive: true })
  symlinkSync(resolve('test/tools/node_modules/vitest'), join(FOLDER, 'node_modules/vitest'))
  const source = (name: string): string => readFileSync(`examples/own-tests/${name}`, 'utf8')
  writeFileSync(join(FOLDER, 'app.ts'), source('app.ts'))
  writeFileSync(join(FOLDER, 'app.test.ts'), source('app.test.ts').replace("'node:test'", "'vitest'"))
  const vitest = resolve('test/tools/node_modules/vitest/vitest.mjs')
  const { code, output } = await runNode([vitest, 'run', '--no-color'], { PATH: process.env['PATH'] }, FOLDER)
  t.equal(code, 0, output)
  t.match(output, /Tests {2}5 passed/)
})
