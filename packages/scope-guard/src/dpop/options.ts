import { checkOptions, type EpochMs } from '@gatewright/kernel/internal'

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
   * The scheme and authority by which clients reach this API, such as `https://api.example`, or a list of them. A proof must name
   * one of them in `htu`. The `Host` field of a request is not used, because an attacker who relays a stolen proof chooses it.
   */
  readonly origin: string | readonly string[]
}

/** How old a proof may be. A client makes one for each request, so that it is sent within seconds; 60 s allow for retries. */
const MAX_AGE_MS = 60_000

/** Checked options, with every default filled in. */
export interface CheckedDpop {
  readonly nonces: ProofNonces
  readonly maxAgeMs: number
  readonly origins: readonly string[]
}

/** Checks the options. Throws a `TypeError` that names the option. */
export function checkedDpop(options: DpopOptions): CheckedDpop {
  const { nonces, origin } = checkOptions('createGuard dpop', options, { nonces: true, origin: true })
  if (typeof nonces?.claim !== 'function')
    throw new TypeError('createGuard dpop: nonces must be a nonce storage with the function claim')
  return { nonces, maxAgeMs: MAX_AGE_MS, origins: checkedOrigins(origin) }
}

function checkedOrigins(origin: unknown): readonly string[] {
  const origins: readonly unknown[] = Array.isArray(origin) ? [...origin] : [origin]
  if (origins.length > 0 && origins.every(isHttpOrigin)) return origins
  throw new TypeError(
    `createGuard dpop: origin must be the scheme and authority that clients use, such as "https://api.example", or a list of them, got ${JSON.stringify(origin)}: set it to the public URL of this API, without a path`,
  )
}

/** Whether a value is the origin of an `http:` or `https:` URL, spelled as RFC 6454 section 6.2 writes it. */
function isHttpOrigin(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^https?:/.test(value) &&
    URL.canParse(value) &&
    new URL(value).origin === value
  )
}
