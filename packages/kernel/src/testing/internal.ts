// What the packages of this repository share and no page describes: it may change in any release.
export { connectionTests, isStoreFault, openedTests } from './suite.ts'
