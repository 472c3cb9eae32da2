import type { HostStores } from './host-stores.ts'
import type { TestProcess } from './test-process.ts'

/** Files that look at their whole process, such as its warnings or its memory, and most long suites. */
const ALONE = /\/(?:leaks|memory)\.test\.ts$|\.slow\.ts$/
/** Long suites that share a process all the same: loading a host by the hooks of `several.ts` takes five seconds of CPU. */
const SHARING = /^test\/reference-host\/(?:bounds|cli|modules|money-model|openapi|pages)\/(?!.*kills)/

/** Files that collect garbage again and again, which takes ten times as long in a process that has loaded a host. */
const COLLECTING = /^test\/scope-guard\/(?:policies\/chain-cache|token\/cache)\.test\.ts$/

/** Takes more than a third of the long suites: what starts last is waited for on one core. */
const LONGEST = /\/kills\.slow\.ts$/

/** Files that share a process: more save little, and the last process is waited for on one core. */
const FILES_A_PROCESS = 56
/** Long suites that share one. */
const LONG_A_PROCESS = 6

/** The suites that speak to a host over HTTP only, or to its operations, so that they can run on any stores. Others name theirs. */
export const ON_EVERY_STORE =
  /^test\/(?:reference-host\/modules\/(?:(?!.*\/(?:locks|late-authorizations)\.).*\.test|texts\.slow)|host\/http\/(?:errors|limits|open-responses)\.test)\.ts$/
/** Those of them that depend on where keys, sessions and limits are stored. */
export const KEYS_AND_LIMITS = /^test\/(?:reference-host\/modules\/(?:auth|keys|identity)|host\/http)\//
/** Those of them with races for the money of an account, which end in other ways on Postgres. */
const MONEY_RACES =
  /\/(?:bills|authorizations|increments|cards-a-day|contracts|deposits|payments|payer-caps|settlement|withdrawals)\.test\.ts$/

/**
 * Deals suites that have run on SQLite out to processes that run them on other stores: those with races for money
 * with the short suites, and all others with the slow ones.
 */
export function onOtherStores(tests: readonly string[], { slow }: { readonly slow: boolean }): TestProcess[] {
  const on = (stores: HostStores, which: readonly string[]): TestProcess[] =>
    groupsOf(which).map(files => ({ files, env: { TEST_HOST_STORES: stores } }))
  const suites = tests.filter(file => ON_EVERY_STORE.test(file))
  if (!slow)
    return on(
      'postgres+redis',
      suites.filter(file => MONEY_RACES.test(file)),
    )
  const others = suites.filter(file => !MONEY_RACES.test(file))
  const keys = suites.filter(file => KEYS_AND_LIMITS.test(file))
  return [...on('postgres+redis', others), ...on('postgres', keys)]
}

/** Deals sources out to processes, the longest first. */
export function processesOf(sources: readonly string[]): TestProcess[] {
  const long = sources.filter(file => SHARING.test(file) && file.endsWith('.slow.ts'))
  const alone = sources.filter(file => ALONE.test(file) && !long.includes(file))
  const groups = [
    ...alone.filter(file => LONGEST.test(file)).map(file => [compiled(file)]),
    ...groupsOf(sources.filter(file => !ALONE.test(file) && !COLLECTING.test(file))),
    ...groupsOf(sources.filter(file => COLLECTING.test(file))),
    ...groupsOf(long, LONG_A_PROCESS),
    ...alone.filter(file => !LONGEST.test(file)).map(file => [compiled(file)]),
  ]
  return groups.map(files => ({ files }))
}

function groupsOf(sources: readonly string[], most = FILES_A_PROCESS): string[][] {
  const count = Math.ceil(sources.length / most)
  const size = Math.ceil(sources.length / count)
  return Array.from({ length: count }, (_, at) => sources.slice(at * size, (at + 1) * size).map(compiled))
}

/** The list comes from the sources, so the compiled file of a deleted test does not run. */
export function compiled(source: string): string {
  return `build/${source.replace(/\.ts$/, '.js')}`
}
