import { readFileSync } from 'node:fs'
import t from 'tap'
import { runNode } from '../harness/node.ts'

t.test('examples/verify-wallet prints what its README says', async t => {
  const { code, output } = await runNode(['build/examples/verify-wallet/demo.js'])
  t.equal(code, 0, output)
  const [, said = ''] =
    /```text\n([^]*?)```/.exec(readFileSync('examples/verify-wallet/README.md', 'utf8')) ?? []
  t.ok(said.split('\n').length > 4)
  t.equal(output.replace(/0x[0-9a-f]{40}/g, '0x...').replace(/"expiresAt":\d+/, '"expiresAt":...'), said)
})
