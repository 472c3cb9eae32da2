// Starts Redis and Postgres, runs the compiled test files, and closes with `N passed, N failed`. Arguments: test files, or --slow for the
// long suites; --changed [REVISION] leaves out those that import nothing that has changed since (by default since the last commit).
import { statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { anvilBinary } from './binaries.ts'
import { changedSince, reachedBy } from './run/changed.ts'
import { chromiumBinary } from './browser/chromium.ts'
import { SERVERS } from './run/cpu-time.ts'
import { filesBelow } from './files.ts'
import { postgresService, redisService } from './services.ts'
import { onOtherStores, ownSuites, processesOf } from './run/test-processes.ts'
import { keepTemporaryFilesInMemory } from './run/temporary-files.ts'
import { TestReport } from './run/test-report.ts'
import { runTests, type ProcessRun, type TestProcess } from './run/test-process.ts'
import { installTools } from './tools.ts'

const { slow, since, named } = argumentsOf(process.argv.slice(2))
const all = filesBelow('test', '.ts')
const everything = named.length === 0
const suites = everything ? ownSuites(all, { slow }) : named
const changed = since === undefined ? [] : changedSince(since)
const reached = since === undefined ? undefined : await reachedBy(changed, suites)
const sources = reached ? [...reached.tests] : suites
const onStores = everything && !reached ? onOtherStores(all, { slow }) : []
const own = processesOf(sources)
const waiting: Waiting[] = [...own, ...onStores].map(process => ({ ...process, running: 0 }))
const count = waiting.reduce((total, { files }) => total + files.length, 0)

if (reached) {
  console.log(
    `# ${changed.length} files changed since ${since}: ${sources.length} of ${suites.length} test files import them`,
  )
  for (const file of reached.unseen)
    console.log(`# no test imports ${file}: npm test without --changed runs what reads it`)
}

keepTemporaryFilesInMemory()
const report = new TestReport(
  waiting.flatMap(({ files }) => files),
  process.stdout,
)
// Once, ahead of the files: several at once would install into one folder.
anvilBinary()
if (sources.some(source => source.endsWith('.slow.ts'))) installTools()
if (sources.some(source => source.includes('/pages/'))) chromiumBinary()
const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stopped.abort())
const runs: ProcessRun[] = []

interface Arguments {
  readonly slow: boolean
  readonly since: string | undefined
  readonly named: readonly string[]
}

function argumentsOf(args: readonly string[]): Arguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { slow: { type: 'boolean', default: false }, changed: { type: 'boolean', default: false } },
  })
  const { slow, changed } = values
  const [revision = 'HEAD', ...others] = changed ? positionals : []
  if (others.length > 0) throw new Error(`--changed takes one revision, not also ${others.join(', ')}`)
  const unknown = changed
    ? []
    : positionals.filter(name => !statSync(name, { throwIfNoEntry: false })?.isFile())
  if (unknown.length > 0) throw new Error(`no such test file: ${unknown.join(', ')}`)
  return { slow, since: changed ? revision : undefined, named: changed ? [] : positionals }
}

/** Files that have not been taken, and the number of processes that take from them. */
type Waiting = TestProcess & { running: number }

/** Where the next process takes its files: from a list of which none does, else where most are left for each. */
function nextWaiting(): Waiting | undefined {
  const left = waiting.filter(({ files }) => files.length > 0)
  const share = ({ files, running }: Waiting): number => files.length / (running + 1)
  return (
    left.find(({ running }) => running === 0) ?? left.toSorted((one, other) => share(other) - share(one))[0]
  )
}

/** Runs processes one after the other, on servers of its own: a transaction in one file keeps dead rows alive for all. */
async function worker(): Promise<void> {
  const [postgres, redis] = await Promise.all([postgresService(), redisService()])
  const env = {
    ...process.env,
    TEST_POSTGRES_URL: postgres.url,
    TEST_REDIS_URL: redis.url,
    [SERVERS]: [postgres.pid, redis.pid].filter(Boolean).join(),
  }
  for (let next = nextWaiting(); next && !stopped.signal.aborted; next = nextWaiting()) {
    const fromEnd = next.running % 2 === 1
    next.running += 1
    const { env: added } = next
    const run = await runTests(next, {
      env,
      // Files that import the same are neighbours: two processes that begin at the two ends load different things.
      fromEnd,
      timeoutMs: (slow ? 40 : 10) * 60_000,
      signal: stopped.signal,
      ended: file => report.ended(file, added),
    })
    next.running -= 1
    runs.push(run)
    if (run.failure) report.failed(run.failure)
    for (const line of slow || named.length > 0 ? run.measured : []) report.line(line)
  }
  await Promise.all([postgres.stop(), redis.stop()])
}
// Suites wait for stores, leases and browsers, so one more than there are cores. Each further one loads and warms up everything again.
const lanes = Math.min(availableParallelism() + 1, count)
await Promise.all(Array.from({ length: lanes }, worker))
const hostStarts = runs.reduce((total, { hostStarts }) => total + hostStarts, 0)
process.exitCode = report.close(hostStarts) > 0 ? 1 : 0
