import { addressMatcher } from '@gatewright/kernel/internal/address'
import type { Settings } from '../options.ts'
import type { RequestFacts } from './facts.ts'

/** Addresses of private networks and of this machine: a peer with one of them that forwards requests is a proxy of the team. */
const isPrivate = addressMatcher([
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
])

/**
 * Tells the operator once that requests come through a proxy, and the option `trustProxy` is absent: all clients then have the address of
 * the proxy, and no request has HTTPS. A client of the internet cannot cause it.
 */
export function noteUnnamedProxy(
  { expectsNoProxy, hints }: Pick<Settings, 'expectsNoProxy' | 'hints'>,
  { header, address }: RequestFacts,
): void {
  if (!expectsNoProxy) return
  const field = ['x-forwarded-for', 'x-forwarded-proto'].find(name => header(name) !== undefined)
  if (field === undefined || (address !== '' && !isPrivate(address))) return
  const peer = address === '' ? 'unix' : address
  hints.mistake(
    'proxy',
    `requests come with ${field} from ${peer}, a proxy that trustProxy does not name, so all clients have its address and none has HTTPS: write trustProxy: ['${peer}'] in the options of the gate (gate: { trustProxy } for gatewright), or trustProxy: [] if this is meant`,
  )
}
