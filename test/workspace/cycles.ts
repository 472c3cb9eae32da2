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
