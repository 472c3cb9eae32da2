import type { HostStores } from '../host-stores.ts'
import type { TestProcess } from './test-process.ts'

/** Files that look at their whole process, such as its memory, and most long suites. */
const ALONE = /\/memory\.test\.ts$|\.slow\.ts$/
/** Long suites that share a process all the same: loading a host by the hooks of `several.ts` takes five seconds of CPU. */
const SHARING = [
  /^test\/reference-host\/(?:bounds|chain|cli|modules|money-model|openapi|pages)\/(?!.*kills)/,
  /^test\/examples\/(?!own-tests|tasks)/,
  /\/(?:broken|processes|operation-types|oidc-provider|client-settings)\.slow\.ts$/,
]

/** Files that collect garbage again and again, which takes ten times as long in a process that has loaded a host. */
const COLLECTING =
  /\/(?:policies\/chain-cache|rate-limits\/rule-limits|revocation\/follower|token\/cache|providers\/calls)\.test\.ts$/

/** The long suites that take most: what starts last is waited for on one core. */
const LONGEST =
  /\/(?:kills|types|image|tarballs|daily|money-model|plans|upgrade|kill|benches|random-cases)\.slow\.ts$/

/** The short suites that take or wait longest, for the same reason. */
const FIRST = /\/(?:cli\/account|reference-host\/live)\.test\.ts$/
/** Those that load the reference host: 150 of its modules, and twice as many of other packages. */
const LOADING_HOST = /^test\/(?:reference-host|host|client|examples)\//

/** Files that one process runs: a heap that keeps growing costs more than to load everything again. */
const FILES_A_PROCESS = 300
/** Long suites that one runs. */
const LONG_A_PROCESS = 15

/** The suites that speak to a host over HTTP only, or to its operations, so that they can run on any stores. Others name theirs. */
export const ON_EVERY_STORE =
  /^test\/(?:reference-host\/modules\/(?:(?!.*\/locks\.).*\.test|(?:texts|users\/user-ids|auth\/failed-bootstrap|cards\/cards-a-day|cards\/authorizations\/event-orders|subscriptions\/onchain\/[\w-]+)\.slow)|host\/http\/(?:errors|limits|open-responses)\.test)\.ts$/
/** Those of them that depend on where keys, sessions and limits are stored. */
export const KEYS_AND_LIMITS = /^test\/(?:reference-host\/modules\/(?:auth|keys|identity)|host\/http)\//
/** Those of them with races for the money of an account by each way in which it moves, which end in other ways on Postgres. They run there with the short suites, and on SQLite with the slow ones. */
const MONEY_RACES = /\/(?:authorizations|deposits|payments|withdrawals)\.test\.ts$/

/** The files of `npm test` that run on its own stores, or of `npm run test:slow`. */
export function ownSuites(tests: readonly string[], { slow }: { readonly slow: boolean }): string[] {
  return tests.filter(file =>
    slow ? file.endsWith('.slow.ts') : file.endsWith('.test.ts') && !isMoneyRace(file),
  )
}

const isMoneyRace = (file: string): boolean => ON_EVERY_STORE.test(file) && MONEY_RACES.test(file)

/** Suites that run on other stores than by themselves: those with races for money with the short suites, all others with the slow ones. */
export function onOtherStores(tests: readonly string[], { slow }: { readonly slow: boolean }): TestProcess[] {
  const on = (stores: HostStores, which: readonly string[]): TestProcess[] =>
    together(which).map(process => ({ ...process, env: { TEST_HOST_STORES: stores } }))
  const suites = tests.filter(file => ON_EVERY_STORE.test(file))
  const races = suites.filter(isMoneyRace)
  if (!slow) return on('postgres+redis', races)
  const others = suites.filter(file => !isMoneyRace(file))
  const keys = suites.filter(file => KEYS_AND_LIMITS.test(file))
  return [...on('postgres+redis', others), ...on('postgres', keys), ...on('embedded', races)]
}

/** Sources by how they run, the longest first. */
export function processesOf(sources: readonly string[]): TestProcess[] {
  const long = sources.filter(
    file => file.endsWith('.slow.ts') && SHARING.some(pattern => pattern.test(file)),
  )
  const alone = sources.filter(file => ALONE.test(file) && !long.includes(file))
  const [longest, others] = [true, false].map(is => alone.filter(file => LONGEST.test(file) === is)) as [
    string[],
    string[],
  ]
  const shared = sources.filter(file => !ALONE.test(file) && !COLLECTING.test(file))
  return [
    ...[...longest, ...others].map(file => ({ files: [compiled(file)] })),
    ...together(shared.toSorted((one, other) => turnOf(one) - turnOf(other))),
    ...together(sources.filter(file => COLLECTING.test(file))),
    ...together(long, LONG_A_PROCESS),
  ]
}

/** The place of a file among the shared ones: the sort keeps the order of those with one place. */
const turnOf = (file: string): number => (FIRST.test(file) ? 0 : LOADING_HOST.test(file) ? 1 : 2)

const together = (sources: readonly string[], most = FILES_A_PROCESS): TestProcess[] =>
  sources.length === 0 ? [] : [{ files: sources.map(compiled), together: Math.min(most, sources.length) }]

/** The list comes from the sources, so the compiled file of a deleted test does not run. */
export function compiled(source: string): string {
  return `build/${source.replace(/\.ts$/, '.js')}`
}
