import { canonicalAddress } from '@gatewright/kernel/internal/address'
import type { HostValues } from './host-variables.ts'

/** The default service names. A statement that is signed for one of them is valid on every host with that name. */
const DEFAULT_NAMES: readonly unknown[] = [undefined, 'Gatewright', 'Gatewright Sandbox']

/** Lists the problems of settings that a sandbox allows and a live host rejects. Variables that could not be parsed are skipped. */
export function unsafeForLive(
  env: Readonly<Record<string, string | undefined>>,
  values: Partial<HostValues>,
): string[] {
  const problems: string[] = []
  if (!env['DATABASE_URL'])
    problems.push('DATABASE_URL must name Postgres: live refuses the embedded database')
  for (const name of ['KEY_PEPPERS', 'SIGNING_KEY_ENCRYPTION_KEY', 'DATA_KEYS']) {
    if (!env[name] && !env['DATABASE_URL']) problems.push(`${name} must be set: live generates no secrets`)
  }
  if (env['OPERATOR_PAGE'] === 'on' && !env['OPERATOR_TOKEN'] && !env['DATABASE_URL'])
    problems.push('OPERATOR_TOKEN must be set with OPERATOR_PAGE: live generates no secrets')
  if (!env['TRUST_PROXY'])
    problems.push('TRUST_PROXY must name the proxy that ends HTTPS: live refuses plain HTTP')
  if (env['REQUIRE_HTTPS'] === 'off') problems.push('REQUIRE_HTTPS must not be off: live refuses plain HTTP')
  if (env['RATE_LIMITS'] === 'off')
    problems.push('RATE_LIMITS must not be off: only a sandbox may run without limits')
  if (!env['PUBLIC_URL']?.startsWith('https://')) {
    problems.push('PUBLIC_URL must be the https origin of the API: it names the issuer of tokens')
  }
  if (DEFAULT_NAMES.includes(env['SERVICE_NAME'] || undefined)) {
    problems.push(
      'SERVICE_NAME must be a unique name: a statement signed for one host is valid on every host of that name',
    )
  }
  return [...problems, ...widelyTrusted(values)]
}

/** Shortest prefix of a block that may be trusted: that of the widest private ranges (RFC 1918, RFC 4193). */
const LEAST_BITS = { ipv4: 8, ipv6: 7 } as const

/** Trusted blocks that are too wide: every client in them could claim any address and claim HTTPS. */
function widelyTrusted({ TRUST_PROXY: trusted = [] }: Partial<HostValues>): string[] {
  const wide = trusted.filter(block => {
    const [address = '', bits] = block.split('/')
    if (bits === undefined) return false
    if (canonicalAddress(address)?.includes(':')) return Number(bits) < LEAST_BITS.ipv6
    // The last 32 bits of an IPv4-mapped IPv6 address are those of IPv4.
    return Number(bits) - (address.includes(':') ? 96 : 0) < LEAST_BITS.ipv4
  })
  return wide.map(
    block =>
      `TRUST_PROXY must not trust ${block}: everyone in it could claim any client address; name the addresses of the proxy, ` +
      `in blocks of at least /${LEAST_BITS.ipv4} (IPv4) or /${LEAST_BITS.ipv6} (IPv6)`,
  )
}
