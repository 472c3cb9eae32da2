// Forty mutants of the day, from four folders whose code decides or moves money. Survivors are printed; they fail nothing.
import { createHash } from 'node:crypto'
import t from 'tap'
import { runNode } from '../harness/node.ts'
import { DECIDING_FOLDERS } from './folders.ts'

t.test('prints which of forty mutants of the day survive', async t => {
  const day = process.env['MUTANTS_SEED'] ?? new Date().toISOString().slice(0, 10)
  const rank = (folder: string): string => createHash('sha256').update(`${day} ${folder}`).digest('hex')
  const folders = DECIDING_FOLDERS.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, 4)
  const run = ['build/test/mutants/run.js', ...folders]
  const { code, output } = await runNode([...run, '--seed', day, '--count', '10'])
  t.comment(output)
  t.equal(code, 0, output)
  t.equal(output.match(/ mutants noticed, /g)?.length, 4, 'each folder has a score')
})
