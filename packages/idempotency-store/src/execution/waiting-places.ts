/** A place of a waiting request. When it is aborted, the request has lost its place and stops waiting. */
type WaitingPlace = AbortController

/** The places of the requests of this process that wait for a run to end, shared fairly among accounts. */
export interface WaitingPlacePool {
  /**
   * Takes a place for a request of an account. While all places are taken, the account that has the most of them loses its
   * newest one, if it keeps at least as many as the caller's account then has. So whatever other accounts do, the first waiting
   * request of an account gets a place, unless every place is that of another account's only waiting request. Returns undefined
   * if the request gets no place.
   */
  take(account: string): WaitingPlace | undefined
  /** Gives a place back. A place that was lost before stays lost. */
  giveBack(account: string, place: WaitingPlace): void
}

/** Makes the places. There are never more than `most` in use. */
export function createWaitingPlacePool(most: number): WaitingPlacePool {
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
      if (taken >= most && !freeFor(byAccount.get(account)?.size ?? 0)) return undefined
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
