import root, { type Test } from 'tap'

let own: Test | undefined

/** Where the file that is being loaded puts its tests: its own test, where several files share a process. */
export function ownTest(): Test {
  return own ?? root
}

/** For `several.ts`, around the loading of each file. */
export function setOwnTest(test: Test): void {
  own = test
}
