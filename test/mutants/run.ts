// Changes the compiled code at one place after the other and runs the tests that reach that place: a change that no test notices
// survives. Only the tests of the folder run, those at the same place below `test`. Arguments: folders or files of sources
// (packages/scope-guard/src/policies); --count M takes only so many mutations, chosen by --seed N; --again leaves out what earlier
// runs noticed in the same code; --workers N runs so many at once; --write puts the scores into the table.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { chromiumBinary } from '../harness/browser/chromium.ts'
import { filesBelow } from '../harness/files.ts'
import { keepTemporaryFilesInMemory } from '../harness/run/temporary-files.ts'
import { compiled } from '../harness/run/test-processes.ts'
import { moduleOf, sourceOf } from './compiled-module.ts'
import type { Coverage } from './coverage.ts'
import { EQUIVALENTS, isListedAs, keepsOrder } from './equivalents.ts'
import { openMemory } from './memory.ts'
import { mutationsOf, type Mutation } from './mutations.ts'
import { percent, writeScore, type Score } from './scores.ts'
import { startWorker, type TimedTest, type Worker } from './worker.ts'

// Workers drop what killed tests leave behind, so each has servers of its own and never those that these variables name.
delete process.env['TEST_POSTGRES_URL']
delete process.env['TEST_REDIS_URL']

/** A test file that passes without a mutant. */
interface Baseline extends TimedTest {
  readonly coverage: Coverage
}

const { values, positionals: folders } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '0' },
    count: { type: 'string', default: 'Infinity' },
    again: { type: 'boolean', default: false },
    workers: { type: 'string', default: String(availableParallelism()) },
    write: { type: 'boolean', default: false },
  },
})
if (folders.length === 0)
  throw new Error('name a folder of sources, such as packages/scope-guard/src/policies')

/** The tests of a folder of sources: those that mirror it. */
function testsOf(folder: string): string[] {
  const [, name, , ...path] = folder.split('/') as [string, string, string, ...string[]]
  let mirror = ['test', name, ...path]
  while (!existsSync(mirror.join('/'))) mirror = mirror.slice(0, -1)
  return filesBelow(mirror.join('/'), '.test.ts').map(compiled)
}

/** Runs `work` for each item on all workers. */
async function onAll<T>(
  workers: readonly Worker[],
  items: readonly T[],
  work: (worker: Worker, item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items]
  await Promise.all(
    workers.map(async worker => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(worker, item)
    }),
  )
}

/** Lists the mutations of a folder: all of them, or as many as wanted, by the seed. */
function mutationsBelow(folder: string): Mutation[] {
  const sources = folder.endsWith('.ts') ? [folder] : filesBelow(folder, '.ts')
  const files = sources.map(moduleOf)
  const mutations = files.filter(file => existsSync(file)).flatMap(mutationsOf)
  const count = Number(values.count)
  if (count >= mutations.length) return mutations
  const rank = ({ file, start, replacement }: Mutation): string =>
    createHash('sha256').update(`${values.seed} ${file} ${start} ${replacement}`).digest('hex')
  return mutations
    .map(mutation => ({ mutation, rank: rank(mutation) }))
    .sort((one, other) => (one.rank < other.rank ? -1 : 1))
    .slice(0, count)
    .map(({ mutation }) => mutation)
}

/** Runs each test without a mutant. One that fails twice is left out: each mutant would seem to be noticed. */
async function baselinesOf(workers: readonly Worker[], tests: readonly string[]): Promise<Baseline[]> {
  const baselines: Baseline[] = []
  const failed: string[] = []
  await onAll(workers, tests, async (worker, test) => {
    const first = await worker.baseline(test)
    const { outcome, ms, coverage } = first.outcome === 'passed' ? first : await worker.baseline(test)
    if (outcome === 'passed') baselines.push({ test, ms, coverage })
    else failed.push(test)
  })
  if (failed.length > 0) console.log(`left out, fails without a mutant: ${failed.join(', ')}`)
  return baselines.sort((one, other) => one.ms - other.ms)
}

function reaches({ coverage }: Baseline, { file, start }: Mutation): boolean {
  const reached = coverage.get(file)
  // The coverage of the right side of a logical operator begins at the operator, which also decides without that side.
  return reached?.[start] === 1 || reached?.[start - 1] === 1
}

function isEquivalent(mutation: Mutation): boolean {
  const isListed = EQUIVALENTS.some(known => isListedAs(known, mutation))
  return isListed || keepsOrder(mutation.before, mutation.after)
}

async function scoreOf(workers: readonly Worker[], folder: string): Promise<Score> {
  const all = mutationsBelow(folder)
  const mutations = all.filter(mutation => !isEquivalent(mutation))
  const wanted = values.again ? mutations.filter(mutation => !memory.wasNoticed(mutation)) : mutations
  const began = performance.now()
  const baselines = await baselinesOf(workers, testsOf(folder))
  const started = performance.now()
  console.log(`${folder}: ${baselines.length} test files in ${((started - began) / 1000).toFixed(0)} s`)
  const survivors: Mutation[] = []
  await onAll(workers, wanted, async (worker, mutation) => {
    const tests = baselines.filter(baseline => reaches(baseline, mutation))
    if (tests.length > 0 && (await worker.run(mutation, tests)) === 'noticed') {
      memory.noticed(mutation)
      return
    }
    survivors.push(mutation)
    const { file, line, before, after } = mutation
    console.log(`${sourceOf(file)}:${line}${tests.length === 0 ? ' (no test reaches it)' : ''}`)
    console.log(`  - ${before}\n  + ${after}`)
  })
  const minutes = (performance.now() - started) / 60_000
  const survived = survivors.length
  const equivalent = all.length - mutations.length
  const score = { folder, noticed: mutations.length - survived, survived, equivalent }
  const speed = (wanted.length / minutes).toFixed(0)
  console.log(
    `${folder}: ${percent(score)}, ${score.noticed} of ${mutations.length} mutants noticed, ${speed} a minute`,
  )
  return score
}

keepTemporaryFilesInMemory()
const memory = openMemory()
if (folders.some(folder => folder.includes('/pages'))) chromiumBinary()
const workers = await Promise.all(Array.from({ length: Number(values.workers) }, startWorker))
const stop = (): Promise<unknown> => Promise.all(workers.map(worker => worker.stop()))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void stop().finally(() => process.exit(1)))
try {
  for (const folder of folders) {
    const score = await scoreOf(workers, folder)
    if (values.write) writeScore(score, new Date())
  }
} finally {
  await stop()
}
