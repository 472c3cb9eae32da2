import { basename } from 'node:path'
import type { Test } from 'tap'
import { filesBelow } from '../harness/files.ts'
import { reportHostStarts } from '../harness/run/host-starts.ts'
import type { HostStores } from '../harness/host-stores.ts'
import { compiled, KEYS_AND_LIMITS, ON_EVERY_STORE } from '../harness/run/test-processes.ts'
import { runTests, type FileRun } from '../harness/run/test-process.ts'

const MINUTES_A_SUITE = 10

/** Runs the suites that depend on where a host stores keys, sessions and limits, in a process of their own. */
export async function runHostSuites(t: Test, stores: HostStores): Promise<void> {
  const suites = filesBelow('test/reference-host', '.test.ts').filter(
    file => ON_EVERY_STORE.test(file) && KEYS_AND_LIMITS.test(file),
  )
  t.ok(suites.length >= 6, 'the suites were found')
  const files: FileRun[] = []
  const { signal } = new AbortController()
  const { hostStarts, failure } = await runTests(
    { files: suites.map(compiled), together: suites.length, env: { TEST_HOST_STORES: stores } },
    {
      env: process.env,
      timeoutMs: MINUTES_A_SUITE * 60_000,
      signal,
      ended: file => files.push(file),
    },
  )
  reportHostStarts(hostStarts)
  t.equal(failure, undefined)
  for (const { file, failures } of files) {
    t.equal(failures.length, 0, `${basename(file)} passes on ${stores}`, { failures })
  }
}
