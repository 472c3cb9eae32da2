// Compares the results of this checkout's last run of each bench (build/bench) with those that are kept in test/bench/results.json, and
// exits 1 where ours got slower. Run it by `npm run bench -- compare`. With `--write`, keeps the results of this checkout instead.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { filesBelow } from '../harness/files.ts'
import { compareResults, differenceTable, keptResults, type KeptResult } from './comparison.ts'

const KEPT = 'test/bench/results.json'

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))
const files = existsSync('build/bench') ? filesBelow('build/bench', '.json') : []
if (files.length === 0)
  throw new Error('build/bench has no result: run a bench first, such as npm run bench -- host')
const now = keptResults(files.map(read))
const last = existsSync(KEPT) ? (read(KEPT) as KeptResult[]) : []

if (process.argv.includes('--write')) {
  const others = last.filter(({ title }) => now.every(result => result.title !== title))
  const all = [...others, ...now].toSorted((a, b) => (a.title < b.title ? -1 : 1))
  writeFileSync(KEPT, `${JSON.stringify(all, null, 2)}\n`)
  console.log(`${now.length} results are written to ${KEPT}: run npm run format before you commit it`)
} else {
  const differences = compareResults(last, now)
  console.log(differenceTable(differences))
  if (differences.some(({ change, isReal }) => isReal && change > 1)) process.exitCode = 1
}
