// Benches of test/bench, which take turns, each with one round of little work: that it still runs is asserted, its figures are not.
import t from 'tap'
import { runNode } from '../harness/node.ts'
import { turnOf } from '../harness/turns.ts'
import { benchArguments, benchModule, benchNames } from './bench-process.ts'

const runOnce = (module: string): ReturnType<typeof runNode> =>
  runNode(benchArguments(module), { ...process.env, BENCH_ONCE: '1' })

for (const name of turnOf(benchNames(), 5)) {
  t.test(`npm run bench -- ${name} runs to its end`, async t => {
    const { code, output } = await runOnce(benchModule(name))
    t.equal(code, 0, output)
    t.not(output, '', 'prints what it measured')
  })
}
