import { FEED_LANES, keyDigest } from '@gatewright/kernel'

/** How many characters of an id are the route of its account: 3,844 routes. */
const LENGTH = 2
/** What a policy id begins with, before its route. */
const POLICY = 'pol_'

/**
 * The route of an account: 2 base62 characters, computed from its id. The ids of its keys, policies, sessions and audit rows begin with
 * it, so that a row which is found by its id alone is looked for only where the rows of its account are: in one partition of a
 * database, in one hash slot of a Redis Cluster.
 */
export const routeOf = (accountId: string): string => routeOfDigest(keyDigest(accountId))

/** The route of an account, by the digest of its id. */
export const routeOfDigest = (account: string): string =>
  account.slice(0, LENGTH).replaceAll('-', '0').replaceAll('_', '1')

/** The route in the id of a key, session or audit row. */
export const routeOfId = (id: string): string => id.slice(0, LENGTH)

/** The route in the id of a policy. */
export const routeOfPolicy = (id: string): string => id.slice(POLICY.length, POLICY.length + LENGTH)

/** The characters of a route. */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * The lane of a route in the revocation feed, 0 to `FEED_LANES - 1`. The lanes are equally probable to 2 %. A text that is no route has
 * a lane, too.
 */
export function laneOf(route: string): number {
  const [first = -1, second = -1] = [...route].map(character => ALPHABET.indexOf(character))
  return (first * ALPHABET.length + second + FEED_LANES * ALPHABET.length) % FEED_LANES
}

/** A row, as far as its id. */
interface Named {
  readonly id: string
}

/** Throws a `TypeError` if the id of a row does not begin with the route of its account: nobody would find it. */
export function assertRoute(route: string, named: readonly Named[], policies: readonly Named[] = []): void {
  const wrong =
    named.find(({ id }) => routeOfId(id) !== route) ??
    policies.find(({ id }) => !id.startsWith(POLICY + route))
  if (wrong) throw new TypeError(`the id ${wrong.id} must have the route ${route} of its account`)
}
