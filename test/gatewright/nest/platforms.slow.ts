// The tests of Nest on its other platform and its newest version. Beside them they run on Express and the oldest version.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { runNode } from '../../harness/node.ts'
import { installTools } from '../../harness/tools.ts'

installTools()
t.setTimeout(1_800_000)

const files = ['nest', 'nest/methods', 'nest/redirects', 'nest/runs'].map(
  name => `build/test/gatewright/${name}.test.js`,
)
const NEWEST = ['--import', './build/test/gatewright/nest/newest-nest.js']

t.test('the hooks give our files the Nest of test/tools', async t => {
  const print = "console.log(import.meta.resolve('@nestjs/core'))"
  const { output } = await runNode([...NEWEST, '--input-type=module', '-e', print])
  t.match(output, '/test/tools/node_modules/@nestjs/core/')
})

for (const [platform, folder, hooks] of [
  ['fastify', 'node_modules', []],
  ['express', 'test/tools/node_modules', NEWEST],
  ['fastify', 'test/tools/node_modules', NEWEST],
] as const) {
  const { version } = JSON.parse(readFileSync(`${folder}/@nestjs/core/package.json`, 'utf8')) as {
    version: string
  }
  t.test(`the tests of Nest pass on ${platform} with Nest ${version}`, async t => {
    for (const file of files) {
      const { code, output } = await runNode([...hooks, file], { ...process.env, NEST_PLATFORM: platform })
      t.equal(code, 0, output)
    }
  })
}
