import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { nodeBinary, OTHER_NODES } from '../../harness/binaries.ts'
import { BINARIES } from '../../workspace/runtimes/start.ts'

const SUITES = fileURLToPath(new URL('sqlite-drivers.child.js', import.meta.url))

/** Drivers that runtimes have built in, and the runtime. Node 20 has none. */
const DRIVERS = {
  'node:sqlite': () => nodeBinary(OTHER_NODES[0]),
  'bun:sqlite': () => BINARIES.bun,
}

for (const [driver, program] of Object.entries(DRIVERS))
  t.test(
    `${driver} passes sqlClientContract, idempotencyStorageContract and spendStorageContract`,
    async t => {
      // Without the hooks that tap puts into every child process.
      const env = { ...process.env, NODE_OPTIONS: '' }
      const { stdout } = await promisify(execFile)(program(), [SUITES, driver], { env, timeout: 600_000 })
      const { tests, failed } = JSON.parse(stdout) as { tests: number; failed: string[] }
      t.ok(tests > 50, `${tests} tests`)
      t.same(failed, [])
    },
  )
