// Starts Redis and Postgres, runs the compiled test files, and closes with `N passed, N failed`. Arguments: test files,
// or --slow for the long suites.
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { anvilBinary } from './binaries.ts'
import { chromiumBinary } from './chromium.ts'
import { SERVERS } from './cpu-time.ts'
import { filesBelow } from './files.ts'
import { bundledPrograms } from './programs.ts'
import { postgresService, redisService } from './services.ts'
import { onOtherStores, ownSuites, processesOf } from './test-processes.ts'
import { keepTemporaryFilesInMemory } from './temporary-files.ts'
import { runTests, type ProcessRun, type TestProcess } from './test-process.ts'
import { installTools } from './tools.ts'

const args = process.argv.slice(2)
const slow = args.includes('--slow')
const named = args.filter(arg => arg !== '--slow')
const unknown = named.filter(name => name.startsWith('-') || !existsSync(name))
if (unknown.length > 0) throw new Error(`no such test file: ${unknown.join(', ')}`)
const sources = named.length > 0 ? named : ownSuites(filesBelow('test', '.ts'), { slow })
const onStores = named.length > 0 ? [] : onOtherStores(filesBelow('test', '.ts'), { slow })
const own = processesOf(sources)
const waiting: Waiting[] = [...own, ...onStores].map(process => ({ ...process, running: 0 }))
const count = waiting.reduce((total, { files }) => total + files.length, 0)

keepTemporaryFilesInMemory()
const started = performance.now()
// Once, ahead of the files: several at once would install into one folder.
anvilBinary()
if (sources.some(source => source.endsWith('.slow.ts'))) installTools()
if (sources.some(source => source.includes('/pages/'))) chromiumBinary()
const programs = await bundledPrograms()
const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stopped.abort())
const runs: ProcessRun[] = []

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
  console.log(`# Postgres from ${postgres.from}, Redis from ${redis.from}`)
  const env = {
    ...process.env,
    ...programs,
    TEST_POSTGRES_URL: postgres.url,
    TEST_REDIS_URL: redis.url,
    [SERVERS]: [postgres.pid, redis.pid].filter(Boolean).join(),
  }
  const setting = { env, timeoutMs: (slow ? 40 : 10) * 60_000, signal: stopped.signal }
  for (let next = nextWaiting(); next && !stopped.signal.aborted; next = nextWaiting()) {
    next.running += 1
    const run = await runTests(next, setting)
    next.running -= 1
    runs.push(run)
    for (const line of slow ? run.measured : []) console.log(line)
    const on = next.env ? ` on ${Object.values(next.env).join()}` : ''
    for (const { file, failures, ms, cpuMs } of run.files) {
      for (const failure of failures) console.log(`not ok ${file}${on} > ${failure}`)
      console.log(
        `${failures.length === 0 ? 'ok' : 'not ok'} ${file}${on} (${Math.round(ms)} ms) ${cpuMs} ms of CPU`,
      )
    }
  }
  await Promise.all([postgres.stop(), redis.stop()])
}
// Suites wait for stores, leases and browsers, so more processes than there are cores.
const lanes = Math.min(availableParallelism() + (slow ? 1 : 2), count)
await Promise.all(Array.from({ length: lanes }, worker))
const files = runs.flatMap(run => run.files)
const notRun = count - files.length
if (notRun > 0) console.log(`not ok ${notRun} files were not run`)
const passed = files.reduce((total, file) => total + file.passed, 0)
const failed = files.reduce((total, { failures }) => total + failures.length, notRun)
for (const { file, cpuMs } of files.toSorted((one, other) => other.cpuMs - one.cpuMs).slice(0, 10))
  console.log(`# ${(cpuMs / 1000).toFixed(1).padStart(6)} s of CPU  ${file}`)
console.log(`# ${runs.reduce((total, { hostStarts }) => total + hostStarts, 0)} hosts started`)
console.log(`# ${count} files in ${Math.round((performance.now() - started) / 1000)} s`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
