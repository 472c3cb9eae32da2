import { basename } from 'node:path'
import t from 'tap'
import { filesBelow } from '../harness/files.ts'
import type { HostStores } from '../harness/host-stores.ts'
import { runNode } from '../harness/node.ts'

/** The suites that speak to a host over HTTP only. */
const SUITES = [
  ...filesBelow('build/test/reference-host/modules', '.test.js'),
  ...['errors', 'limits', 'open-responses'].map(name => `build/test/reference-host/server/${name}.test.js`),
]
const COMBINATIONS: readonly HostStores[] = ['postgres', 'postgres+redis']

for (const stores of COMBINATIONS) {
  t.test(`the host passes its suites on ${stores} as on the embedded database`, async t => {
    t.ok(SUITES.length >= 6)
    for (const suite of SUITES) {
      const { code, output } = await runNode([suite], { ...process.env, TEST_HOST_STORES: stores })
      const passed = Number(/^# \{ total: \d+, pass: (\d+)/m.exec(output)?.[1] ?? 0)
      t.ok(code === 0 && passed > 0, `${basename(suite)} passes`, {
        output: output.split('\n').filter(l => /not ok/.test(l)),
      })
    }
  })
}
