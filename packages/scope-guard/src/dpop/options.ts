import { checkOptions } from '@gatewright/kernel/internal'
import type { EpochMs } from '@gatewright/kernel'

/** Remembers which proofs were used. Every nonce storage of signature-verifier fits. */
export interface ProofNonces {
  /**
   * Claims a key until `expiresAt`. Of any number of simultaneous claims of one key, exactly one resolves to true. It must
   * not forget a key before `expiresAt`; a full store rejects.
   */
  claim(key: string, expiresAt: EpochMs, now: EpochMs): Promise<boolean>
}

/** Options of DPoP (RFC 9449). */
export interface DpopOptions {
  /** Where used proofs are remembered. All processes that accept the same tokens must share it. */
  readonly nonces: ProofNonces
  /**
   * The URL by which clients reach this API, such as `https://api.example`, or a list of them. It has a path if a proxy removes a prefix that
   * clients send: with `https://example.com/api`, a request that arrives as `/cards` needs a proof for `https://example.com/api/cards`. A proof
   * must name one of them, with the path of the request, in `htu`. The `Host` field of a request is not used, because an attacker who relays a stolen proof chooses it.
   */
  readonly origin: string | readonly string[]
  /**
   * Requires proofs to have a nonce that this API issued less than 5 minutes ago (RFC 9449 section 9), so that a client cannot make
   * proofs in advance. At least 32 random characters, the same on all hosts of the API; nothing is stored. A request without such
   * a nonce is denied with 401 `use_dpop_nonce` and a new one. Default: no nonce is required.
   */
  readonly nonceSecret?: string
  /** Denies tokens that are not bound to a key. Default false: both kinds are accepted. */
  readonly required?: boolean
}

/** The algorithms of proofs that are accepted, for clients to choose from. */
export const PROOF_ALGORITHMS = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
] as const

/** How old a proof may be. A client makes one for each request, so that it is sent within seconds; 60 s allow for retries. */
const MAX_AGE_MS = 60_000

/** Checked options, with every default filled in. */
export interface CheckedDpop {
  readonly nonces: ProofNonces
  readonly maxAgeMs: number
  readonly origins: readonly string[]
  readonly nonceSecret: string | undefined
  readonly isRequired: boolean
}

const MIN_SECRET = 32

/** Checks the options. Throws a `TypeError` that names the option. */
export function checkedDpop(options: DpopOptions): CheckedDpop {
  const { nonces, origin, nonceSecret, required } = checkOptions('createGuard dpop', options, {
    nonces: true,
    origin: true,
    nonceSecret: { is: 'text', default: undefined },
    required: { is: 'boolean', default: false },
  })
  if (typeof nonces?.claim !== 'function')
    throw new TypeError('createGuard dpop: nonces must be a nonce storage with the function claim')
  if (nonceSecret !== undefined && nonceSecret.length < MIN_SECRET)
    throw new TypeError(
      `createGuard dpop: nonceSecret must have at least ${MIN_SECRET} random characters, got ${nonceSecret.length}`,
    )
  return {
    nonces,
    maxAgeMs: MAX_AGE_MS,
    origins: checkedOrigins(origin),
    nonceSecret,
    isRequired: required,
  }
}

function checkedOrigins(origin: unknown): readonly string[] {
  const origins: readonly unknown[] = Array.isArray(origin) ? [...origin] : [origin]
  if (origins.length > 0 && origins.every(isBaseUrl)) return origins
  throw new TypeError(
    `createGuard dpop: origin must be the scheme and authority that clients use, such as "https://api.example", or a list of them, got ${JSON.stringify(origin)}: set it to the public URL of this API, with the path that a proxy removes, if any, and without a slash at its end`,
  )
}

/** Whether a value is an `http:` or `https:` URL in its normal form, without a slash at its end, query, fragment and credentials. */
function isBaseUrl(value: unknown): value is string {
  if (typeof value !== 'string' || !/^https?:/.test(value) || !URL.canParse(value)) return false
  const { origin, pathname } = new URL(value)
  return value === origin + pathname.replace(/\/$/, '') && !value.endsWith('/')
}
