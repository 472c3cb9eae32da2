import { allow, GRACE_MS, type Verdict, type EpochMs } from '@gatewright/kernel'
import { isClassFull } from '@gatewright/kernel/internal'
import { consumeChallenge, issueChallenge, type Challenge } from './challenge.ts'
import { invalidRequest, invalidSignature, rateLimited, type ProofDenial } from './codes.ts'
import { checkedOptions, type CheckedOptions, type VerifierOptions } from './options.ts'
import {
  validateChecksum,
  validateTimes,
  MAX_SKEW_MS,
  readAddress,
  readStatement,
  type WalletProof,
} from './proof.ts'
import { findSigner } from './signatures/signer.ts'
import type { Binding } from './templates/template.ts'
import { candidateMessages } from './candidate-messages.ts'
import { isOnlyMessage, withFieldsOfMessage } from './fields-of-message.ts'

/** The wallet that signed, and what the signed text covers. */
export interface VerifiedWallet {
  /** The wallet's id: the lower-case address of a key (EOA), or `eip155:<chain>:<address>` of a contract wallet. */
  readonly wallet: string
  /** Lower-case. */
  readonly address: string
  /** The name of the template of the signed text. */
  readonly template: string
  /** What the signed text binds beyond wallet, nonce and times. A host may grant less for a proof that binds less. */
  readonly binds: readonly Binding[]
  readonly expiresAt: EpochMs
}

/** What the host knows about the request. None of it comes from the proof. */
export interface ProofContext {
  /** Digest of the request (`requestDigest`), for templates that bind the request. */
  readonly requestDigest?: string | undefined
  /**
   * The bucket of the client's network address: the address itself for IPv4, the /64 for IPv6. Waiting checks are served bucket
   * by bucket in turn; beyond the cap the bucket with the most waiting checks gets the 429, not its neighbours. Without it all
   * clients share one bucket.
   */
  readonly addressBucket?: string | undefined
}

/** Verifies wallet proofs. */
export interface Verifier {
  /**
   * Decides whether the holder of this wallet signed this statement, recently and for the first time. A proof of only `message`
   * and `signature` is completed with what the message states. Runs the cheapest checks first: format, times, checksum,
   * signature, and last the nonce, so that an invalid proof uses up no nonce. Of any number of simultaneous calls with one
   * statement, on any number of hosts, at most one is allowed: the nonce is used once per address, whatever kind of wallet
   * proves it, on whatever chain, and however the signature is encoded. Input never makes it throw. Denials: `invalid_request`,
   * `invalid_signature` (one response for every cause), `rate_limited` (too many checks of one address bucket waiting). Faults:
   * `ERR_OVERLOADED` (too many checks of all buckets) and `ERR_RPC_UNAVAILABLE`, with nothing claimed; and those of
   * `NonceStorage`, where the nonce may be used, so the client signs a new statement.
   */
  verify(proof: WalletProof, context?: ProofContext): Promise<Verdict<VerifiedWallet, ProofDenial>>

  /**
   * Issues a nonce for the templates of `challenges`: for one wallet or, when `address` is undefined, for whichever
   * uses it first. Throws a `TypeError` without that option. Denial: `invalid_request` for a malformed address. Faults:
   * those of `ChallengeStorage`; `ERR_STORE_FULL` when too many challenges are open.
   */
  issueChallenge(address?: unknown): Promise<Verdict<Challenge, ProofDenial>>
}

/** Creates a verifier. Throws a `TypeError` for an option out of bounds. */
export function createVerifier(options: VerifierOptions): Verifier {
  const checked = checkedOptions(options)
  return {
    verify: (proof, context = {}) => verify(checked, proof, context),
    issueChallenge: address => issueCheckedChallenge(checked, address),
  }
}

async function issueCheckedChallenge(
  { challenges, clock }: CheckedOptions,
  address: unknown,
): Promise<Verdict<Challenge, ProofDenial>> {
  if (!challenges) throw new TypeError('issueChallenge needs the option challenges of createVerifier')
  const wallet = address === undefined || address === null ? undefined : readAddress(address)
  if (wallet === false) return invalidRequest('address', 'must be 0x and 40 hex digits')
  return allow(await issueChallenge(challenges.storage, clock, challenges.ttlMs, wallet))
}

async function verify(
  options: CheckedOptions,
  proof: WalletProof,
  context: ProofContext,
): Promise<Verdict<VerifiedWallet, ProofDenial>> {
  const { clock, nonces, challenges, service, domain } = options
  const { requestDigest } = context
  const complete = isOnlyMessage(proof) ? withFieldsOfMessage(proof, options.templates, service) : undefined
  if (complete && !complete.ok) return complete
  const statement = readStatement(complete?.value ?? proof, options.lines, { service, domain, requestDigest })
  if ('ok' in statement) return statement
  const started = clock.now()
  const wrongTime = validateTimes(statement, started, options.windowMs)
  if (wrongTime) return wrongTime
  // Checked before anything is hashed, so that the requests of a flood beyond their share cost only parsing.
  if (isClassFull(options.recoveryQueue, context.addressBucket)) return rateLimited()
  const wrongChecksum = validateChecksum(statement, options.keccak256)
  if (wrongChecksum) return wrongChecksum
  const messages = candidateMessages(options, statement, started)
  if ('ok' in messages) return messages
  const found = findSigner({ options, statement, messages, addressBucket: context.addressBucket })
  const signer = found instanceof Promise ? await found : found
  if ('ok' in signer) return signer
  if (statement.issuedAt < (await options.issuedFrom()))
    return invalidSignature('issued before the nonces were restored')
  // Finding the signer may have waited, and the statement may have expired meanwhile.
  const now = clock.now()
  if (now >= statement.expiresAt) return invalidSignature('expired while waiting')
  const { wallet, message } = signer
  const { address, nonce, expiresAt } = statement
  if (challenges?.templates.has(message.template)) {
    const consumed = await consumeChallenge(challenges.storage, address, nonce, now)
    if (!consumed) return invalidSignature('challenge unknown, expired or used before')
  }
  // Claimed for the address and not for the wallet id: one statement has one claim, whatever the encoding of its signature, the
  // kind of wallet and the template.
  const first = await nonces.claim(`${address}\n${nonce}`, expiresAt + MAX_SKEW_MS + GRACE_MS, now)
  if (!first) return invalidSignature('nonce used before')
  return allow({ wallet, address, template: message.template, binds: message.match.binds, expiresAt })
}
