import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** The table of scores: a row for each folder. */
const TABLE = 'test/mutants/scores.md'
const HEAD = `# How many faults the tests notice

Written by \`npm run mutants -- FOLDER --write\`. A mutant is one small change of the code. It is noticed when a test of its folder fails.

| Folder | Mutants | Noticed | Equivalent | Score | Date |
|---|---|---|---|---|---|
`

/** The result of one folder. */
export interface Score {
  readonly folder: string
  readonly noticed: number
  readonly survived: number
  readonly equivalent: number
}

/** The share of mutants that were noticed, in percent; equivalent ones do not count. */
export function percent({ noticed, survived }: Score): string {
  return `${((100 * noticed) / Math.max(1, noticed + survived)).toFixed(1)} %`
}

/** Puts the score of a folder into the table, in the place of its last one. */
export function writeScore(score: Score, now: Date): void {
  const { folder, noticed, survived, equivalent } = score
  const mutants = noticed + survived + equivalent
  const cells = [folder, mutants, noticed, equivalent, percent(score), now.toISOString().slice(0, 10)]
  const rows = existsSync(TABLE) ? readFileSync(TABLE, 'utf8').slice(HEAD.length).split('\n') : []
  const others = rows.filter(row => row !== '' && !row.startsWith(`| ${folder} |`))
  const sorted = [...others, `| ${cells.join(' | ')} |`].toSorted()
  writeFileSync(TABLE, `${HEAD}${sorted.join('\n')}\n`)
}
