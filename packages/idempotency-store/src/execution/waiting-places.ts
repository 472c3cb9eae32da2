/** A place of a waiting request. When it is aborted, the request stops waiting. */
type WaitingPlace = AbortController

/** The places of the requests of this process that wait for a run to end, shared fairly among accounts. */
export interface WaitingPlacePool {
  /**
   * Takes a place for a request of an account. If all places are taken, the account with the most places loses its newest one,
   * provided that it has at least two places more than the account of the request. So the first waiting request of an account
   * gets a place, whatever other accounts do, unless each place belongs to an account with only one. Returns undefined if the
   * request gets no place.
   */
  take(account: string): WaitingPlace | undefined
  /** Gives a place back. A place that was lost before stays lost. */
  giveBack(account: string, place: WaitingPlace): void
}

/** Makes a pool of `max` places. */
export function createWaitingPlacePool(max: number): WaitingPlacePool {
  const byAccount = new Map<string, Set<WaitingPlace>>()
  let taken = 0

  const giveBack = (account: string, place: WaitingPlace): void => {
    const own = byAccount.get(account)
    if (!own?.delete(place)) return
    taken--
    if (own.size === 0) byAccount.delete(account)
  }
  /** Frees a place for an account that has `own` places. False if no other account has at least two more. */
  const freeFor = (own: number): boolean => {
    let largest: readonly [account: string, places: ReadonlySet<WaitingPlace>] | undefined
    for (const entry of byAccount) if (!largest || entry[1].size > largest[1].size) largest = entry
    if (!largest || largest[1].size < own + 2) return false
    const newest = [...largest[1]].at(-1) as WaitingPlace
    giveBack(largest[0], newest)
    newest.abort()
    return true
  }

  return {
    take(account) {
      if (taken >= max && !freeFor(byAccount.get(account)?.size ?? 0)) return undefined
      const place = new AbortController()
      const own = byAccount.get(account)
      if (own) own.add(place)
      else byAccount.set(account, new Set([place]))
      taken++
      return place
    },
    giveBack,
  }
}
