interface Scope {
  readonly run: object
  readonly part: object
}

/** The members of `AsyncLocalStorage` that are used. */
interface ScopeStorage {
  run<T>(scope: Scope, work: () => T): T
  exit<T>(work: () => T): T
  getStore(): Scope | undefined
  disable(): void
}

/** Where a runtime has `AsyncLocalStorage`: some edge runtimes as a global, Node, Deno, Bun and workerd in `process`. */
interface Runtime {
  readonly AsyncLocalStorage?: new () => ScopeStorage
  readonly process?: {
    getBuiltinModule?(name: string): { readonly AsyncLocalStorage?: new () => ScopeStorage } | undefined
  }
}

/** Undefined: the runtime has none. It is tried, because the Edge runtime of Next has a `getBuiltinModule` that throws. */
function openStorage(): ScopeStorage | undefined {
  const { process, AsyncLocalStorage } = globalThis as Runtime
  try {
    const Storage = AsyncLocalStorage ?? process?.getBuiltinModule?.('node:async_hooks')?.AsyncLocalStorage
    return Storage && new Storage()
  } catch {
    return undefined
  }
}

const storage = openStorage()

/** The runs whose handlers are followed now: following makes every promise of the process slower on Node 20. */
const followed = new Set<object>()

/** Whether this runtime can tell what a handler does from what other code does. Every supported version of Node can. */
export const canFollow: boolean = storage !== undefined

/** Calls a part of what handles a request. Until `stopFollowing(run)`, `partOf(run)` returns the part in everything that the part starts. */
export function follow<T>(run: object, part: object, work: () => T): T {
  if (!storage) return work()
  followed.add(run)
  return storage.run({ run, part }, work)
}

/** Returns the part of a run that called the current function, however late. Undefined: other code did, or it cannot be known. */
export function partOf(run: object): object | undefined {
  const scope = storage?.getStore()
  return scope?.run === run ? scope.part : undefined
}

/** Calls a function as code that belongs to no run. */
export function outside<T>(work: () => T): T {
  return storage ? storage.exit(work) : work()
}

/** Says that `partOf` is not asked about a run any more. */
export function stopFollowing(run: object): void {
  if (!followed.delete(run) || followed.size > 0) return
  try {
    storage?.disable()
  } catch {
    // workerd has the function, and it throws.
  }
}
