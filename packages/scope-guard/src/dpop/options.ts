import { integerOption, knownOptions, type EpochMs, type OptionNames } from '@gatewright/kernel'

/** Remembers which proofs were used. Every nonce storage of signature-verifier fits. */
export interface ProofNonces {
  /**
   * Claims a key until `expiresAt`. Of any number of simultaneous claims of one key, exactly one resolves to true. It must
   * not forget a key before `expiresAt`; a store without room rejects.
   */
  claim(key: string, expiresAt: EpochMs, now: EpochMs): Promise<boolean>
}

/** Options of DPoP (RFC 9449). */
export interface DpopOptions {
  /** Where used proofs are remembered. All processes that accept the same tokens must share it. */
  readonly nonces: ProofNonces
  /** How old a proof may be, 1 to 600 s, default 60. */
  readonly maxAgeSeconds?: number
  /**
   * The scheme and authority that clients use, such as `https://api.example`, if the server receives another `Host` or scheme.
   * Default: those of the request.
   */
  readonly origin?: string
}

const DPOP_OPTIONS: OptionNames<DpopOptions> = { nonces: true, maxAgeSeconds: true, origin: true }

/** Checked options, with every default filled in. */
export interface CheckedDpop {
  readonly nonces: ProofNonces
  readonly maxAgeMs: number
  readonly origin: string | undefined
}

/** Checks the options. Throws a `TypeError` that names the option. */
export function checkedDpop(options: DpopOptions): CheckedDpop {
  const { nonces, maxAgeSeconds = 60, origin } = knownOptions('createGuard dpop', options, DPOP_OPTIONS)
  if (typeof nonces?.claim !== 'function')
    throw new TypeError('createGuard dpop: nonces must be a nonce storage with the function claim')
  if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).origin !== origin)) {
    throw new TypeError(
      `createGuard dpop: origin must be a scheme and an authority without a path, such as "https://api.example", got ${JSON.stringify(origin)}`,
    )
  }
  return { nonces, maxAgeMs: integerOption('maxAgeSeconds', maxAgeSeconds, 1, 600) * 1000, origin }
}
