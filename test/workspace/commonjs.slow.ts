import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { runNode } from '../harness/node.ts'
import { entriesOf, packageNames } from './tree.ts'

const directory = 'build/commonjs'
mkdirSync(directory, { recursive: true })
writeFileSync(join(directory, 'package.json'), '{ "type": "commonjs" }')

async function run(name: string, program: string): Promise<string> {
  const file = join(directory, `${name}.cjs`)
  writeFileSync(file, program)
  const { code, output } = await runNode([file])
  return `${code}: ${output.trim()}`
}

t.test('CommonJS can require every entry of every package', async t => {
  for (const name of packageNames()) {
    const program = entriesOf(name).map(specifier => `require('${specifier}')`)
    t.equal(await run(name, program.join('\n')), '0: ', name)
  }
})

t.test('the example of the page about CommonJS guards a request', async t => {
  const program = `
const { createGuard, localKeys } = require('@gatewright/scope-guard')
const guard = createGuard({ issuer: 'i', audience: 'a', keys: localKeys({ keys: [] }) })
guard.check({ authorization: 'Bearer x' }, { operation: 'cards.list', allOf: [] }).then(verdict => console.log(verdict.code))`
  t.equal(await run('guard', program), '0: unauthorized')
})
