import { laneOf, routeOf } from '../route.ts'

/** The lane of an account in the revocation feed. */
export const laneOfAccount = (accountId: string): number => laneOf(routeOf(accountId))
