// Starts Redis and Postgres, runs tap over the compiled tests and closes with `N passed, N failed`, counted
// from the `result` events that tap's own totals are made of. Arguments: test files, tap options, or --prove.
import { spawn } from 'node:child_process'
import { anvilBinary } from './binaries.ts'
import { filesBelow } from './files.ts'
import { HOST_STARTED } from './host-starts.ts'
import { Parser, type FinalResults, type Result } from 'tap-parser'
import { postgresService, redisService } from './services.ts'

const args = process.argv.slice(2)
const prove = args.includes('--prove')
const rest = args.filter(arg => arg !== '--prove')
const named = rest.filter(arg => !arg.startsWith('-')).map(compiled)
const all = filesBelow('test', prove ? '.prove.ts' : '.test.ts').map(compiled)
const files = named.length > 0 ? named : [...all.filter(isLong), ...all.filter(file => !isLong(file))]

/** The list comes from the sources, so the compiled file of a deleted test does not run. */
function compiled(source: string): string {
  return source.startsWith('build/') ? source : `build/${source.replace(/\.ts$/, '.js')}`
}

/** Files that take a fifth of the whole each: what starts last is waited for, on one core. */
function isLong(file: string): boolean {
  return file.includes('/stores-')
}

const started = performance.now()
const times: { readonly name: string; readonly ms: number }[] = []
let hostStarts = 0
// Once, ahead of the files: several at once would install it into one folder.
anvilBinary()
const [postgres, redis] = await Promise.all([postgresService(), redisService()])
console.log(`# Postgres from ${postgres.from}, Redis from ${redis.from}`)
const stop = (): Promise<unknown> => Promise.all([postgres.stop(), redis.stop()])

const child = spawn(
  process.execPath,
  [
    'node_modules/tap/dist/esm/run.mjs',
    '--reporter=tap',
    '--no-color',
    ...(prove ? ['--timeout=2400', '--jobs=1'] : []),
    ...rest.filter(arg => arg.startsWith('-')),
    ...files,
  ],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TEST_POSTGRES_URL: postgres.url, TEST_REDIS_URL: redis.url },
  },
)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => child.kill(signal))

const count = { passed: 0, failed: 0, skipped: 0 }
const fail = (line: string): void => {
  count.failed++
  console.log(`not ok ${line}`)
}
let final: FinalResults | undefined
const parser = new Parser((results: FinalResults) => {
  final = results
})
parser.on('result', (result: Result) => {
  if (result.ok && (result.skip || result.todo)) count.skipped++
  else if (result.ok) count.passed++
  else fail(`${result.fullname} > ${result.name}\n${result.diag ? JSON.stringify(result.diag, null, 2) : ''}`)
})
parser.on('assert', (file: Result) => {
  times.push({ name: file.name, ms: file.time ?? 0 })
  console.log(`${file.ok ? 'ok' : 'not ok'} ${file.name}${file.time ? ` (${Math.round(file.time)} ms)` : ''}`)
  if (file.skip) fail(`${file.name}: it ran no tests`)
})
/** A file's own output is a child of the whole, and a subtest's a child of that. */
function printMeasured(within: Parser): void {
  within.on('comment', (text: string) => {
    if (prove && text.startsWith('# measured')) console.log(text.trimEnd())
    if (text.startsWith(HOST_STARTED)) hostStarts++
  })
  within.on('child', printMeasured)
}
printMeasured(parser)
parser.on('bailout', (reason: string) => fail(`bail out: ${reason}`))
child.stdout.on('data', (chunk: Buffer) => parser.write(chunk))
const code = await new Promise<number | null>(resolve => child.once('close', resolve))
parser.end()
await stop()

if (count.failed === 0 && (code !== 0 || !final?.ok)) fail(`tap ended with ${code} though no test failed`)
if (count.passed === 0) fail('no test ran')
if (count.skipped > 0) fail(`${count.skipped} skipped: a skipped test proves nothing`)
const slowest = times.toSorted((one, other) => other.ms - one.ms).slice(0, 10)
for (const { name, ms } of slowest) console.log(`# ${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`)
console.log(`# ${hostStarts} hosts started`)
console.log(`# ${files.length} files in ${Math.round((performance.now() - started) / 1000)} s`)
console.log(`${count.passed} passed, ${count.failed} failed`)
process.exitCode = count.failed > 0 ? 1 : 0
