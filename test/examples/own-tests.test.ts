import { readFileSync } from 'node:fs'
import t from 'tap'
import { runNode } from '../harness/node.ts'
import { fences } from '../workspace/markdown.ts'

const source = (name: string): string => readFileSync(`examples/own-tests/${name}`, 'utf8')

t.test('the example passes its tests with node:test', async t => {
  const { code, output } = await runNode(['--test', 'build/examples/own-tests/app.test.js'], {
    PATH: process.env['PATH'],
  })
  t.equal(code, 0, output)
  t.match(output, /^# pass 5$/m)
})

t.test('the page shows the example: its server, then its tests', t => {
  const [shown] = fences(readFileSync('docs/testing.md', 'utf8'))
  const parts = [source('app.ts'), source('app.test.ts').replace("'./app.ts'\n", '')].map(text =>
    text
      .split('\n')
      .filter(line => !line.startsWith('import '))
      .join('\n')
      .trim(),
  )
  for (const part of parts) t.ok(shown?.code.includes(part), `missing in docs/testing.md:\n${part}`)
  t.end()
})
