// What the packages of this repository share and no page describes: it may change in any release.
export { isStoreFault, openedTests } from './suite.ts'
export { withTimeLimit } from './time-limit.ts'
