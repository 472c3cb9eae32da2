import { basename } from 'node:path'
import type { Test } from 'tap'
import { filesBelow } from './files.ts'
import { HOST_STARTED, tellHostStarts } from './host-starts.ts'
import type { HostStores } from './host-stores.ts'
import { runNode } from './node.ts'

/** The suites that speak to a host over HTTP only, so that they can run on any stores. */
const SUITES = [
  ...filesBelow('build/test/reference-host/modules', '.test.js'),
  ...['errors', 'limits', 'open-responses'].map(name => `build/test/reference-host/server/${name}.test.js`),
]

/** Runs every such suite in a process of its own, on the given stores. */
export async function runHostSuites(t: Test, stores: HostStores): Promise<void> {
  t.ok(SUITES.length >= 6, 'the suites were found')
  for (const suite of SUITES) {
    const { code, output } = await runNode([suite], { ...ownEnv(), TEST_HOST_STORES: stores })
    const passed = Number(/^# \{ total: \d+, pass: (\d+)/m.exec(output)?.[1] ?? 0)
    tellHostStarts(output.split(HOST_STARTED).length - 1)
    const failed = output.split('\n').filter(line => line.includes('not ok'))
    t.ok(code === 0 && passed > 0, `${basename(suite)} passes on ${stores}`, { failed })
  }
}

/** Without tap's variables a suite prints its totals, as it does when it is run by hand. */
function ownEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^_?TAP/.test(name)))
}
