import type { HostStores } from './host-stores.ts'
import type { TestProcess } from './test-process.ts'

/** Files that look at their whole process, such as its warnings, its memory or its listeners. */
const ALONE = /\/(?:leaks|memory|start|live)\.test\.ts$|\.slow\.ts$/

/** Takes more than a third of the long suites: what starts last is waited for on one core. */
const LONGEST = /\/kills\.slow\.ts$/

/** Files that share a process: more save little, and the last process is waited for on one core. */
const FILES_A_PROCESS = 12

/** The suites that speak to a host over HTTP only, so that they can run on any stores. */
export const ON_EVERY_STORE =
  /^test\/reference-host\/(?:modules\/.*|http\/(?:errors|limits|open-responses))\.test\.ts$/
/** Those of them that depend on where keys, sessions and limits are stored. Without Redis, these are in Postgres. */
const ON_POSTGRES_ALONE = /^test\/reference-host\/(?:modules\/(?:auth|keys|identity)\/|http\/)/
const STORES: readonly (readonly [stores: HostStores, sources: RegExp])[] = [
  ['postgres', ON_POSTGRES_ALONE],
  ['postgres+redis', ON_EVERY_STORE],
]

/** Deals sources out to processes, the longest first. With `everyStore` some run again on other stores. */
export function processesOf(
  sources: readonly string[],
  { everyStore }: { readonly everyStore: boolean },
): TestProcess[] {
  const again = everyStore ? sources.filter(file => ON_EVERY_STORE.test(file)) : []
  const onStores = STORES.flatMap(([stores, which]) =>
    groupsOf(again.filter(file => which.test(file))).map(files => ({
      files,
      env: { TEST_HOST_STORES: stores },
    })),
  )
  const alone = sources
    .filter(file => ALONE.test(file))
    .toSorted((one, other) => Number(LONGEST.test(other)) - Number(LONGEST.test(one)))
    .map(file => ({ files: [compiled(file)] }))
  const together = groupsOf(sources.filter(file => !ALONE.test(file))).map(files => ({ files }))
  return [...onStores, ...together, ...alone]
}

function groupsOf(sources: readonly string[]): string[][] {
  const count = Math.ceil(sources.length / FILES_A_PROCESS)
  const size = Math.ceil(sources.length / count)
  return Array.from({ length: count }, (_, at) => sources.slice(at * size, (at + 1) * size).map(compiled))
}

/** The list comes from the sources, so the compiled file of a deleted test does not run. */
export function compiled(source: string): string {
  return `build/${source.replace(/\.ts$/, '.js')}`
}
