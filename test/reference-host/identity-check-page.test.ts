import { readFileSync } from 'node:fs'
import t from 'tap'
import * as internals from '../harness/internals.ts'

t.test('docs/identity-check.md lists the changes of a status', t => {
  const page = readFileSync('docs/identity-check.md', 'utf8')
  const { KYC_MOVES, KYC_STATUSES } = internals
  const named = (list: readonly string[]): string => list.map(each => `\`${each}\``).join(', ')
  for (const [cause, moves] of Object.entries(KYC_MOVES)) {
    for (const { from, to } of moves) {
      const all = from.length === KYC_STATUSES.length
      const statuses = all
        ? ' From: any. To: any but `not_submitted`.'
        : ` From: ${named(from)}. To: ${named(to)}.`
      const entry = page
        .split('\n')
        .find(line => line.startsWith(`- \`${cause}\`, `) && line.endsWith(statuses))
      t.ok(entry, `${cause}: ${from.join()} -> ${to.join()}`)
    }
  }
  t.end()
})
