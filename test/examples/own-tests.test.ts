import { readFileSync } from 'node:fs'
import t from 'tap'
import { runNode } from '../harness/node.ts'

const source = (name: string): string => readFileSync(`examples/own-tests/${name}`, 'utf8')

t.test('the example passes its tests with node:test', async t => {
  const { code, output } = await runNode(['--test', 'build/examples/own-tests/app.test.js'], {
    PATH: process.env['PATH'],
  })
  t.equal(code, 0, output)
  t.match(output, /^# pass 5$/m)
})

t.test('the page shows a part of the tests of the example', t => {
  const [, shown = ''] = /^```typescript\n([^]*?)^```$/m.exec(readFileSync('docs/testing.md', 'utf8')) ?? []
  t.ok(shown.length > 500 && source('app.test.ts').includes(shown.trim()))
  t.end()
})
