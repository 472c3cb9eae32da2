// What the packages of this repository share and no page describes: it may change in any release.
export { isNote, LONGEST_NOTE } from './decision.ts'
export type { DescribedRun, ListedLostRun } from './lost-runs.ts'
