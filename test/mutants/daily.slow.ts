// Six mutants of the day, from one of the folders whose code decides or moves money. Survivors are printed; they fail nothing.
// `npm run mutants -- FOLDER` makes all mutants of a folder.
import t from 'tap'
import { runNode } from '../harness/node.ts'
import { DAY_NUMBER, turnOf } from '../harness/turns.ts'
import { DECIDING_FOLDERS } from './folders.ts'

for (const folder of turnOf(DECIDING_FOLDERS, 1)) {
  t.test(`prints which of six mutants of ${folder} survive`, async t => {
    const flags = ['--seed', String(DAY_NUMBER), '--count', '6']
    const { code, output } = await runNode(['build/test/mutants/run.js', folder, ...flags])
    t.comment(output)
    t.equal(code, 0, output)
    t.match(output, / mutants noticed, /, 'the folder has a score')
  })
}
