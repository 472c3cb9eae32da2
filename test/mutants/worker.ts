import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { createClient } from 'redis'
import { plainNode } from '../harness/node.ts'
import { postgresService, redisService } from '../harness/services.ts'
import { coverageOf, type Coverage } from './coverage.ts'
import type { Mutation } from './mutations.ts'

/** How a run of test files ended: `noticed` when one failed or did not end in time. */
type Outcome = 'noticed' | 'passed'

/** A test file, and how long it takes without a mutant. */
export interface TimedTest {
  readonly test: string
  readonly ms: number
}

/** A copy of the compiled repository on servers of its own, where one mutant at a time runs. */
export interface Worker {
  /** Runs a test file without a mutant. */
  baseline(
    test: string,
  ): Promise<{ readonly outcome: Outcome; readonly ms: number; readonly coverage: Coverage }>
  /** Runs test files, the quickest first, with a mutant until one fails. */
  run(mutation: Mutation, tests: readonly TimedTest[]): Promise<Outcome>
  stop(): Promise<void>
}

/** How long test files may run, and how long they may print nothing, as in a loop without an end. */
interface Limits {
  readonly totalMs: number
  readonly silentMs: number
}

const BASELINE_LIMITS: Limits = { totalMs: 120_000, silentMs: 120_000 }

/** What is no loop without an end takes less than this. */
const patience = (ms: number): number => 5000 + 3 * ms

function limitsOf(tests: readonly TimedTest[]): Limits {
  const times = tests.map(({ ms }) => ms)
  return {
    totalMs: patience(times.reduce((sum, ms) => sum + ms, 0)),
    silentMs: patience(Math.max(...times)),
  }
}

/** Makes a copy of what is compiled, and starts servers. */
export async function startWorker(): Promise<Worker> {
  const root = mkdtempSync(join(tmpdir(), 'mutants-'))
  copyTree(root)
  const postgres = await postgresService()
  let redis = await redisService()
  const admin = new pg.Client({ connectionString: postgres.url })
  await admin.connect()
  const temporary = join(root, 'tmp')
  /** Ends the test files that run. */
  let stopTests = (): void => {}
  let isStopping = false

  /** Removes what test files left that were killed. */
  const cleanUp = async (): Promise<void> => {
    rmSync(temporary, { recursive: true, force: true })
    mkdirSync(temporary)
    if (isStopping) return
    if (!(await flushed(redis.url))) {
      await redis.stop()
      redis = await redisService()
    }
    const schemas = `select nspname from pg_namespace where nspname !~ '^(pg_|information_schema$|public$)'`
    const { rows } = await admin.query<{ nspname: string }>(schemas)
    for (const { nspname } of rows) await admin.query(`drop schema "${nspname}" cascade`)
  }

  const runTests = async (
    tests: readonly string[],
    { totalMs, silentMs }: Limits,
    env: NodeJS.ProcessEnv = {},
  ): Promise<Outcome> => {
    // The hooks by which several files share a process take a second, as long as loading the host.
    const scripts = tests.length === 1 ? tests : ['build/test/harness/run/several.js', ...tests]
    const child = plainNode(scripts, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
      // A process group: what the test started ends with it.
      detached: true,
      env: {
        ...process.env,
        TEST_POSTGRES_URL: postgres.url,
        TEST_REDIS_URL: redis.url,
        TMPDIR: temporary,
        ...env,
      },
    })
    const stop = (): void => {
      stopTests = () => {}
      try {
        process.kill(-(child.pid as number), 'SIGKILL')
      } catch {
        // All of the group have ended.
      }
    }
    stopTests = stop
    const timer = setTimeout(stop, totalMs)
    const silence = setTimeout(stop, silentMs)
    child.stdout?.on('data', (chunk: Buffer) => {
      silence.refresh()
      if (/^\s*not ok /m.test(chunk.toString())) stop()
    })
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve)
    })
    clearTimeout(timer)
    clearTimeout(silence)
    if (code === 0) return 'passed'
    stop()
    await cleanUp()
    return 'noticed'
  }

  await cleanUp()
  return {
    async baseline(test) {
      const began = performance.now()
      let outcome: Outcome = 'noticed'
      const coverage = await coverageOf(root, async directory => {
        outcome = await runTests([test], BASELINE_LIMITS, { NODE_V8_COVERAGE: directory })
      })
      return { outcome, ms: performance.now() - began, coverage }
    },
    async run({ file, start, end, replacement }, tests) {
      const copy = join(root, file)
      const code = readFileSync(copy, 'utf8')
      writeFileSync(copy, code.slice(0, start) + replacement + code.slice(end))
      try {
        // The quickest file on its own: it notices most mutants of code that it covers.
        for (const group of [tests.slice(0, 1), tests.slice(1)]) {
          if (group.length === 0) continue
          const names = group.map(({ test }) => test)
          if ((await runTests(names, limitsOf(group))) === 'noticed') return 'noticed'
        }
        return 'passed'
      } finally {
        writeFileSync(copy, code)
      }
    },
    async stop() {
      isStopping = true
      stopTests()
      await admin.end()
      await Promise.all([postgres.stop(), redis.stop()])
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Empties a Redis. False if it runs a script of a mutant that does not end. */
async function flushed(url: string): Promise<boolean> {
  const client = createClient({ url })
  try {
    await client.connect()
    await client.flushAll()
    return true
  } catch {
    return false
  } finally {
    client.destroy()
  }
}

/** Copies what a test file reads: the compiled modules, and links to all that no mutant changes. */
function copyTree(root: string): void {
  for (const name of ['packages', 'build'])
    cpSync(name, join(root, name), { recursive: true, verbatimSymlinks: true })
  for (const name of ['package.json', 'docs', 'test', 'examples', 'README.md'])
    symlinkSync(resolve(name), join(root, name))
  const modules = join(root, 'node_modules')
  mkdirSync(modules)
  for (const name of readdirSync('node_modules')) {
    // These links are relative, so they lead to the copy.
    if (name === '@gatewright')
      cpSync(join('node_modules', name), join(modules, name), { recursive: true, verbatimSymlinks: true })
    else symlinkSync(resolve('node_modules', name), join(modules, name))
  }
}
