import { keyDigest, malformedReply, type Clock, type EpochMs, type HeaderField } from '@gatewright/kernel'
import type { CheckedProof, GuardFacts } from '../access.ts'
import type { Challenges } from '../challenges.ts'
import type { GuardDenial, GuardReason } from '../codes.ts'
import type { DirectFailureLimit } from '../rate-limits/failure-limit.ts'
import { withinTime } from '../timeout.ts'
import type { Claims } from '../token/claims.ts'
import type { CheckedDpop, ProofNonces } from './options.ts'
import { isProofSigned, precheckProof } from './proof.ts'
import { serverNonces, type ServerNonces } from './server-nonces.ts'

/**
 * Reads the thumbprint of the key that a token is bound to; undefined if anyone who has the token may use it. The member `jkt`
 * of its `cnf` decides (RFC 9449 section 6.1). Other members of `cnf` are ignored, as RFC 7800 section 3.1 requires for members
 * that are not understood (Keycloak adds `kc-jkt-type`). A `cnf` without `jkt` binds the token to something that the guard
 * cannot check, such as a client certificate (`x5t#S256`, RFC 8705). A thief could use such a token, so it is denied.
 */
export function bindingOf({ cnf }: Claims): { readonly thumbprint: string | undefined } | GuardReason {
  if (cnf === undefined) return { thumbprint: undefined }
  const { jkt } = (cnf ?? {}) as { readonly jkt?: unknown }
  if (typeof jkt !== 'string' || jkt === '') return 'the token is bound in a way that is not supported'
  return { thumbprint: jkt }
}

/** One request with a verified token. */
interface BoundRequest {
  readonly facts: GuardFacts
  readonly isDpopScheme: boolean
  readonly accessToken: string
  readonly thumbprint: string | undefined
}

/**
 * Checks the proof of a request, which the caller must claim. Until the proof is claimed, it may pass this check again. A proof that
 * fails, here or at the claim, is charged to the address; one that only lacks a nonce is not.
 */
export type CheckBinding = (request: BoundRequest) => Promise<GuardDenial | CheckedProof>

interface Dependencies {
  readonly dpop: CheckedDpop | undefined
  readonly clock: Clock
  readonly toleranceMs: number
  readonly storeTimeoutMs: number
  readonly challenges: Challenges
  readonly failures: DirectFailureLimit
}

/**
 * Makes the check of token binding (RFC 9449 section 7). A bound token needs the scheme `DPoP` and a proof for this request that
 * was not used before; an unbound token must not use that scheme. The proof is claimed in a separate step, so that a request which is
 * denied for another reason stores no proof. Faults of the claim: those of the nonce storage.
 */
export function createBindingCheck(dependencies: Dependencies): CheckBinding {
  const { challenges, failures, dpop, toleranceMs } = dependencies
  const nonces = dpop?.nonceSecret === undefined ? undefined : serverNonces(dpop.nonceSecret, toleranceMs)
  return async request => {
    const { address } = request.facts
    const denyProof = async (reason: GuardReason): Promise<GuardDenial> => {
      await failures.charge(address)
      return challenges.invalidProof(reason)
    }
    const checked = await checkProof(dependencies, nonces, request)
    if (typeof checked === 'string') return denyProof(checked)
    if ('ok' in checked) return checked
    return {
      headers: checked.headers,
      async claim() {
        const problem = await claimProof(dependencies, checked)
        return problem === undefined ? undefined : denyProof(problem)
      },
    }
  }
}

/** A valid proof that must be claimed: once for each `jti` of a key. */
interface ProofToClaim {
  readonly nonces: ProofNonces
  readonly key: string
  readonly expiresAt: EpochMs
  readonly headers: readonly HeaderField[]
}

const NO_HEADERS: readonly HeaderField[] = []

/** Checks everything about a proof except whether it was used before. */
async function checkProof(
  dependencies: Dependencies,
  serverNonces: ServerNonces | undefined,
  { facts, isDpopScheme, accessToken, thumbprint }: BoundRequest,
): Promise<GuardReason | GuardDenial | ProofToClaim> {
  const { dpop, clock, toleranceMs, failures, challenges } = dependencies
  const { dpop: field, method, url, address } = facts
  if (thumbprint === undefined) return 'the token is not bound, and its scheme is DPoP'
  if (!dpop) return 'the token is bound, and the guard has no dpop option'
  if (field === undefined) return 'the token is bound, and the request has no DPoP proof'
  if (!isDpopScheme) return 'the token is bound, and its scheme is not DPoP'
  const path = url === undefined ? undefined : pathOf(url)
  if (method === undefined || path === undefined) return 'the guard was not given the method and a valid URL'
  const proof = await precheckProof({
    proof: field,
    method,
    urls: dpop.origins.map(origin => origin + path),
    accessToken,
    thumbprint,
    toleranceMs,
    now: clock.now(),
    maxAgeMs: dpop.maxAgeMs,
  })
  if (typeof proof === 'string') return proof
  const headers = serverNonces ? await checkNonce(challenges, serverNonces, proof, clock.now()) : NO_HEADERS
  if ('ok' in headers) return headers
  const signed = await failures.runWithinLimit(address, () => isProofSigned(proof))
  if (typeof signed === 'object') return signed
  if (!signed) return 'invalid signature of the DPoP proof'
  const key = `dpop:${keyDigest(JSON.stringify([thumbprint, proof.jti]))}`
  return { nonces: dpop.nonces, key, expiresAt: proof.expiresAt, headers }
}

/** Denies a proof without an acceptable nonce. Otherwise returns the header fields for the response. */
async function checkNonce(
  challenges: Challenges,
  nonces: ServerNonces,
  { nonce }: { readonly nonce: unknown },
  now: EpochMs,
): Promise<GuardDenial | readonly HeaderField[]> {
  const age = nonce === undefined ? 'denied' : await nonces.check(nonce, now)
  if (age === 'fresh') return NO_HEADERS
  const next = await nonces.issue(now)
  if (age === 'aging') return [['DPoP-Nonce', next]]
  return challenges.useNonce(
    nonce === undefined
      ? 'the DPoP proof has no nonce of this API'
      : 'the nonce of the DPoP proof is unknown or too old',
    next,
  )
}

/** Claims a proof. Of simultaneous requests with one proof, on any number of hosts, one succeeds. */
async function claimProof(
  { clock, storeTimeoutMs }: Dependencies,
  { nonces, key, expiresAt }: ProofToClaim,
): Promise<GuardReason | undefined> {
  const now = clock.now()
  if (now >= expiresAt) return 'the DPoP proof is too old'
  const isFirst: unknown = await withinTime('DPoP nonce storage', storeTimeoutMs, async () =>
    nonces.claim(key, expiresAt, now),
  )
  if (typeof isFirst !== 'boolean') throw malformedReply('DPoP nonce storage', 'true or false')
  return isFirst ? undefined : 'the DPoP proof was used before'
}

/**
 * Returns the path of an absolute URL, or of a URL that begins with its path; undefined for any other text. It is normalized before the path of
 * `origin` is put before it: `..` must not lead out of that.
 */
function pathOf(url: string): string | undefined {
  const absolute = url.startsWith('/') ? `http://localhost${url}` : url
  const path = URL.canParse(absolute) ? new URL(absolute).pathname : ''
  return path.startsWith('/') ? path : undefined
}
