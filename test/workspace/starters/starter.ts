/** A small server of a team as public starters are, before and after it has taken Gatewright in. */
export interface Starter {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  /** The files that Gatewright changes or adds, whole. */
  readonly patched: Readonly<Record<string, string>>
  /** Tests of money, which pass only after the patch. */
  readonly money: Readonly<Record<string, string>>
  /** The arguments of Node that run its tests. */
  readonly tests: readonly string[]
  /** Other programs of the starter, which must end well before and after, by what they show. */
  readonly others: Readonly<Record<string, readonly string[]>>
}

/** Counts the lines that a patch adds and removes. */
export function changedLines({ files, patched }: Pick<Starter, 'files' | 'patched'>): {
  readonly added: number
  readonly removed: number
} {
  let added = 0
  let removed = 0
  for (const [name, after] of Object.entries(patched)) {
    const left = new Map<string, number>()
    for (const line of linesOf(files[name])) left.set(line, (left.get(line) ?? 0) + 1)
    for (const line of linesOf(after)) {
      const count = left.get(line) ?? 0
      if (count === 0) added++
      else left.set(line, count - 1)
    }
    for (const count of left.values()) removed += count
  }
  return { added, removed }
}

const linesOf = (text = ''): readonly string[] => text.split('\n').filter(line => line.trim() !== '')
