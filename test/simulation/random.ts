/** Numbers that look random and repeat with their seed (mulberry32). */
export interface Random {
  /** From 0 to 1, without 1. */
  share(): number
  /** Exponential with this mean, as times between arrivals that know nothing of each other are. */
  exponential(mean: number): number
  /** A whole number from 0 to `below`, without `below`. */
  integer(below: number): number
}

/** Returns the same numbers for the same seed. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const share = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    share,
    exponential: mean => -mean * Math.log(1 - share()),
    integer: below => Math.floor(share() * below),
  }
}
