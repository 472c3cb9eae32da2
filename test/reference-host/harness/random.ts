/** Numbers from a seed (mulberry32), so that a run can be repeated. */
export interface Random {
  /** At least 0, below 1. */
  next(): number
  /** A whole number of at least 0, below `below`. */
  under(below: number): number
  /** One of a list; undefined of an empty one. */
  of<T>(list: readonly T[]): T | undefined
}

/** A source of its own for each seed. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const under = (below: number): number => Math.floor(next() * below)
  return { next, under, of: list => list[under(list.length)] }
}
