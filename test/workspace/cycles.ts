import { posix } from 'node:path'
import { importsOf } from './imports.ts'
import type { Source } from './rules.ts'

/** Groups of files that import each other in a circle, `import type` included, each group in the order of paths. */
export function importCycles(sources: readonly Source[]): string[][] {
  const imports = new Map(sources.map(({ path, text }) => [path, targets(path, text)]))
  const reached = new Map([...imports.keys()].map(path => [path, reachableFrom(path, imports)]))
  const inCycle = [...imports.keys()].filter(path => reached.get(path)?.has(path))
  const groups = new Set(
    inCycle.map(path =>
      inCycle
        .filter(other => reached.get(path)?.has(other) && reached.get(other)?.has(path))
        .toSorted()
        .join('\n'),
    ),
  )
  return [...groups].toSorted().map(group => group.split('\n'))
}

/** Pairs of folders that lie in one folder and import from each other, types included, with one import each. */
export function folderPairs(sources: readonly Source[]): string[] {
  const first = new Map<string, string>()
  const pairs: string[] = []
  for (const { path, text } of sources)
    for (const target of targets(path, text)) {
      const [from, to] = foldersApart(path, target)
      if (from === undefined || to === undefined || first.has(`${from} ${to}`)) continue
      first.set(`${from} ${to}`, `${path} imports ${target}`)
      const back = first.get(`${to} ${from}`)
      if (back !== undefined) pairs.push(`${back}, and ${path} imports ${target}`)
    }
  return pairs
}

/** The two folders at which the paths of two files part. Undefined for a file that lies where they part. */
function foldersApart(one: string, other: string): readonly (string | undefined)[] {
  const [here, there] = [one.split('/'), other.split('/')]
  const at = here.findIndex((name, index) => name !== there[index])
  return [here, there].map(names => (at < names.length - 1 ? names.slice(0, at + 1).join('/') : undefined))
}

function targets(path: string, text: string): string[] {
  return importsOf(text)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => posix.join(posix.dirname(path), specifier))
}

function reachableFrom(path: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>()
  const waiting = [...(imports.get(path) ?? [])]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue
    reached.add(next)
    waiting.push(...(imports.get(next) ?? []))
  }
  return reached
}
