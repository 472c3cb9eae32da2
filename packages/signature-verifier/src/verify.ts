import { allow, GRACE_MS, type EpochMs, type Verdict } from '@gatewright/kernel'
import { invalidRequest, invalidSignature, rateLimited, type ProofDenial } from './codes.ts'
import { REFUSED } from './gate.ts'
import { checkedOptions, type CheckedOptions, type VerifierOptions } from './options.ts'
import { checkChecksum, checkTimes, readStatement, type Statement, type WalletProof } from './proof.ts'
import { personalHash, recoverAddress } from './recover.ts'
import { readEcdsa } from './signature.ts'
import type { Binding, Reading } from './template.ts'

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
  readonly requestDigest?: string
  /**
   * What the caller's network address counts as: the address itself for IPv4, the /64 for IPv6. Checks that wait are
   * served class by class in turn, and over the cap the class with most of them waiting gets the 429, not its
   * neighbours. Without it all callers count as one.
   */
  readonly addressClass?: string
}

/** Decides wallet proofs. */
export interface Verifier {
  /**
   * Did the holder of this wallet sign this exact statement, now, for the first time? Cheapest checks first: shape,
   * times, checksum, signature, and last the nonce, so that a bad proof spends nobody's nonce. Of any number of
   * simultaneous calls with one statement, on any number of hosts, one at most is allowed. Never throws on input.
   * Denials: `invalid_request`, `invalid_signature` (one answer for every cause), `rate_limited` (too many checks of
   * one address class waiting). Faults: `ERR_OVERLOADED` (too many of all classes; nothing was claimed) and those of
   * `NonceStorage`; the nonce may then be spent, so the client signs a new statement.
   */
  verify(proof: WalletProof, context?: ProofContext): Promise<Verdict<ProvenWallet, ProofDenial>>
}

/** Makes a verifier. Throws a `TypeError` for an option out of bounds. */
export function createVerifier(options: VerifierOptions): Verifier {
  const checked = checkedOptions(options)
  return { verify: (proof, context = {}) => verify(checked, proof, context) }
}

type Text = Extract<Reading, { is: 'text' }> & { readonly template: string }

async function verify(
  options: CheckedOptions,
  proof: WalletProof,
  context: ProofContext,
): Promise<Verdict<ProvenWallet, ProofDenial>> {
  const statement = readStatement(proof, options.extras)
  if ('ok' in statement) return statement
  const refused = checkTimes(statement, options.clock.now(), options) ?? checkChecksum(statement)
  if (refused) return refused
  const texts = textsOf(options, statement, context)
  if ('ok' in texts) return texts
  const signed = await options.recoveryGate.run(context.addressClass, () =>
    signedText(options, statement, texts),
  )
  if (signed === REFUSED) return rateLimited(1)
  if (!signed) return invalidSignature('signed by another key, or another text')
  // Recovery may have waited: what ended meanwhile is over.
  const now = options.clock.now()
  if (now >= statement.expiresAt) return invalidSignature('expired while waiting')
  const until = statement.expiresAt + options.skewMs + GRACE_MS
  const principal = statement.address
  const first = await options.nonces.claim(`${principal}\n${statement.nonce}`, until, now)
  if (!first) return invalidSignature('nonce used before')
  return allow({
    ...{ principal, address: statement.address },
    ...{ template: signed.template, binds: signed.binds, expiresAt: statement.expiresAt },
  })
}

/** The texts that may have been signed: at most two, or one when the client sent the text. */
function textsOf(
  { templates, service, domain }: CheckedOptions,
  { fields, message, template: hint }: Statement,
  { requestDigest }: ProofContext,
): readonly Text[] | ProofDenial {
  const named = hint === undefined ? templates : templates.filter(template => template.name === hint)
  if (named.length === 0) return invalidRequest('template', 'is not known here')
  const tried =
    message === undefined ? named.filter(template => template.source === 'fields').slice(0, 2) : named
  const facts = { fields: { ...fields, service, domain, requestDigest }, message }
  const texts: Text[] = []
  let contrary: string | undefined
  for (const { name, read } of tried) {
    const reading = read(facts)
    if (reading.is === 'text') texts.push({ ...reading, template: name })
    if (reading.is === 'contrary') contrary ??= reading.reason
  }
  if (texts.length > 0) return texts
  if (contrary !== undefined) return invalidSignature(contrary)
  return invalidRequest('message', message === undefined ? 'is required' : 'is of no known template')
}

/** The first text whose signer is the statement's address. No network. */
async function signedText(
  { recover }: CheckedOptions,
  { signature, address }: Statement,
  texts: readonly Text[],
): Promise<Text | undefined> {
  const ecdsa = readEcdsa(signature)
  if (!ecdsa) return undefined
  for (const text of texts) {
    if ((await recoverAddress(recover, personalHash(text.text), ecdsa)) === address) return text
  }
  return undefined
}
