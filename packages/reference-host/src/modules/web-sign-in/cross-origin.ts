import type { RequestFacts } from '@gatewright/http'
import type { HostDenial } from '@gatewright/host'
import { deny } from '../../product/denials.ts'

/**
 * Denies a request from a web page of another origin. Otherwise a page that the victim visits could start a sign-in from the
 * victim's network, so that `sameNetwork` is true and the victim sees no warning. Browsers set both header fields, and a page
 * cannot change them (Fetch standard); command lines send neither. Denial: `policy_blocked`.
 */
export function denyOtherOrigin({ header }: RequestFacts, ownOrigin: string): HostDenial | undefined {
  const origin = header('origin') ?? ownOrigin
  const site = header('sec-fetch-site') ?? 'none'
  if (origin === ownOrigin && ['none', 'same-origin'].includes(site)) return undefined
  const message = `only a command line or a page of ${ownOrigin} may send this, not a page of another origin`
  return deny('policy_blocked', message, { details: { rule: 'cross_origin' } })
}
