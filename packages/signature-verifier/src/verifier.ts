import { allow, GRACE_MS, isClassFull, type EpochMs, type Verdict } from '@gatewright/kernel'
import { consumeChallenge, issueChallenge, type Challenge } from './challenge.ts'
import {
  invalidRequest,
  invalidSignature,
  rateLimited,
  RETRY_AFTER_SECONDS,
  type ProofDenial,
} from './codes.ts'
import { checkedOptions, type CheckedOptions, type VerifierOptions } from './options.ts'
import { checkChecksum, checkTimes, readAddress, readStatement, type WalletProof } from './proof.ts'
import { findSigner } from './signatures/signer.ts'
import type { Binding } from './templates/line-template.ts'
import { textsOf } from './candidate-messages.ts'

/** Who signed, and what the signed text ties down. */
export interface ProvenWallet {
  /** Whom the proof is for: an EOA's lower-case address, or `eip155:<chain>:<address>` of a contract wallet. */
  readonly principal: string
  /** Lower-case. */
  readonly address: string
  /** Name of the template that was signed. */
  readonly template: string
  /** What the text binds beyond wallet, nonce and times: a host may give less to a proof that binds less. */
  readonly binds: readonly Binding[]
  readonly expiresAt: EpochMs
}

/** What the host knows about the request; never taken from the proof. */
export interface ProofContext {
  /** Digest of what is asked for (`requestDigest`), for templates that bind the request. */
  readonly requestDigest?: string | undefined
  /**
   * What the caller's network address counts as: the address itself for IPv4, the /64 for IPv6. Checks that wait are
   * served class by class in turn, and over the cap the class with most of them waiting gets the 429, not its
   * neighbours. Without it all callers count as one.
   */
  readonly addressBucket?: string | undefined
}

/** Decides wallet proofs. */
export interface Verifier {
  /**
   * Did the holder of this wallet sign this exact statement, now, for the first time? Cheapest checks first: shape,
   * times, checksum, signature, and last the nonce, so that a bad proof spends nobody's nonce. Of any number of
   * simultaneous calls with one statement, on any number of hosts, one at most is allowed: the nonce is used once per
   * address, whatever kind of wallet proves it, on whatever chain, and however the signature is encoded. Never throws
   * on input.
   * Denials: `invalid_request`, `invalid_signature` (one answer for every cause), `rate_limited` (too many checks of
   * one address class waiting). Faults: `ERR_OVERLOADED` (too many of all classes) and `ERR_RPC_UNAVAILABLE`, with
   * nothing claimed, and those of `NonceStorage`: the nonce may then be spent, so the client signs a new statement.
   */
  verify(proof: WalletProof, context?: ProofContext): Promise<Verdict<ProvenWallet, ProofDenial>>

  /**
   * Gives out a nonce for the templates of `challenges`: for one wallet, or for whichever asks first when `address` is
   * undefined. Throws a `TypeError` without that option. Denial: `invalid_request` for a malformed address.
   * Faults: those of `ChallengeStorage`; `ERR_STORE_FULL` when too many are out.
   */
  issueChallenge(address?: unknown): Promise<Verdict<Challenge, ProofDenial>>
}

/** Makes a verifier. Throws a `TypeError` for an option out of bounds. */
export function createVerifier(options: VerifierOptions): Verifier {
  const checked = checkedOptions(options)
  return {
    verify: (proof, context = {}) => verify(checked, proof, context),
    issueChallenge: address => giveChallenge(checked, address),
  }
}

async function giveChallenge(
  { challenges, clock }: CheckedOptions,
  address: unknown,
): Promise<Verdict<Challenge, ProofDenial>> {
  if (!challenges) throw new TypeError('challenges must be given to createVerifier')
  const wallet = address === undefined || address === null ? undefined : readAddress(address)
  if (wallet === false) return invalidRequest('address', 'must be 0x and 40 hex digits')
  return allow(await issueChallenge(challenges.storage, clock, challenges.ttlMs, wallet))
}

async function verify(
  options: CheckedOptions,
  proof: WalletProof,
  context: ProofContext,
): Promise<Verdict<ProvenWallet, ProofDenial>> {
  const { clock, nonces, challenges, skewMs, service, domain } = options
  const { requestDigest } = context
  const statement = readStatement(proof, options.lines, { service, domain, requestDigest })
  if ('ok' in statement) return statement
  const started = clock.now()
  const mistimed = checkTimes(statement, started, options)
  if (mistimed) return mistimed
  // Before anything is hashed: what a flood sends beyond its share costs no more than reading it.
  if (isClassFull(options.recoveryQueue, context.addressBucket)) return rateLimited(RETRY_AFTER_SECONDS)
  const misspelt = checkChecksum(statement, options.keccak256)
  if (misspelt) return misspelt
  const texts = textsOf(options, statement, started)
  if ('ok' in texts) return texts
  const found = findSigner({ options, statement, texts, addressBucket: context.addressBucket })
  const signer = found instanceof Promise ? await found : found
  if ('ok' in signer) return signer
  // Finding the signer may have waited: what ended meanwhile is over.
  const now = clock.now()
  if (now >= statement.expiresAt) return invalidSignature('expired while waiting')
  const { principal, text } = signer
  const { address, nonce, expiresAt } = statement
  if (challenges?.templates.has(text.template)) {
    const known = await consumeChallenge(challenges.storage, address, nonce, now)
    if (!known) return invalidSignature('challenge unknown, ended or used before')
  }
  // By address and not by principal, and for every template: one statement has one claim, in whatever encoding its
  // signature comes, whoever it proves, and whether or not this host wants a challenge for it.
  const first = await nonces.claim(`${address}\n${nonce}`, expiresAt + skewMs + GRACE_MS, now)
  if (!first) return invalidSignature('nonce used before')
  return allow({ principal, address, template: text.template, binds: text.reading.binds, expiresAt })
}
