import { readFileSync } from 'node:fs'
import t from 'tap'
import { runNode } from '../harness/node.ts'

const run = (...args: string[]) => runNode(['build/examples/run.js', ...args], { PATH: process.env['PATH'] })

for (const name of ['agent-allowance', 'agent-tools', 'processor-recovery', 'provider-events']) {
  t.test(`npm run example ${name} prints what its README shows`, async t => {
    const shown = /```text\n([^]*?)```/.exec(readFileSync(`examples/${name}/README.md`, 'utf8'))?.[1]
    const { code, output } = await run(name)
    // What the server logs on stderr is not in the README.
    t.equal(output.replaceAll(/^gatewright[ :].*\n/gm, ''), shown)
    t.equal(code, 0)
  })
}

t.test('npm run example lists the examples in 80 columns, and refuses a name that is none', async t => {
  const { code, output } = await run()
  t.equal(code, 0)
  for (const name of ['agent-allowance', 'agent-tools', 'legacy-fastify', 'payments'])
    t.match(output, `  ${name} `)
  t.ok(output.split('\n').every(line => line.length <= 80))
  t.match(await run('nothing'), {
    code: 1,
    output: /^There is no example "nothing": npm run example lists them\.\n$/,
  })
})

t.test('examples that need variables name them in one line', async t => {
  for (const [name, variables] of [
    ['redis-postgres', 'REDIS_URL and DATABASE_URL'],
    ['payments', 'DATABASE_URL, ISSUER and PARTNER_KEY'],
  ] as const)
    t.same(await run(name), { code: 1, output: `Set ${variables}: see examples/${name}/README.md\n` })
})
