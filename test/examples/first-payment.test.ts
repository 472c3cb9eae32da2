import { readFileSync } from 'node:fs'
import t from 'tap'
import { runNode } from '../harness/node.ts'

const readme = readFileSync('README.md', 'utf8')
const fence = (language: string): string =>
  new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'm').exec(readme)?.[1] ?? ''

t.test('the first example of the README is examples/first-payment/server.ts', t => {
  const server = readFileSync('examples/first-payment/server.ts', 'utf8')
  const shown = server.replace("process.env['ISSUER'] ?? ", '')
  t.equal(fence('ts'), `${shown}app.listen(3000, '127.0.0.1')\n`)
  t.ok(fence('ts').split('\n').length <= 25, 'at most 25 lines')
  t.end()
})

t.test('npm run demo:payment prints the table of the README, in 80 columns', async t => {
  const { code, output } = await runNode(['examples/start.js', 'first-payment/demo.js'], process.env)
  t.equal(code, 0, output)
  const withoutIds = (text: string): string => text.replaceAll(/\bid [\w-]{8}$/gm, 'id ...')
  t.equal(withoutIds(output), withoutIds(fence('text')))
  for (const line of output.split('\n')) t.ok(line.length <= 80, line)
  const ids = [...output.matchAll(/\bid ([\w-]{8})$/gm)].map(([, id]) => id)
  t.equal(ids.length, 2)
  t.equal(ids[0], ids[1], 'the repeat gets the stored response')
})
