import { REFUSED, runQueued } from '@gatewright/kernel'
import { invalidSignature, rateLimited, RETRY_AFTER_SECONDS, type ProofDenial } from '../codes.ts'
import { unwrapSignature, type UnwrappedSignature } from './erc6492.ts'
import type { CheckedOptions } from '../options.ts'
import type { Statement } from '../proof.ts'
import { isSignedBy, personalHash } from './recover.ts'
import { leadingSignatures, readEcdsa, type EcdsaSignature } from './ecdsa.ts'
import type { Text, Texts } from '../candidate-messages.ts'

/** Who signed what. */
export interface Signer {
  readonly principal: string
  readonly text: Text
}

/** Whose signature is looked for. */
export interface Question {
  readonly options: CheckedOptions
  readonly statement: Statement
  readonly texts: Texts
  readonly addressBucket: string | undefined
}

/**
 * Finds which text the statement's address signed, after taking an ERC-6492 wrapper off: first as a key, by recovery
 * and with no network; then as a contract wallet, by the first text that names an allow-listed chain. What the key of
 * an account with code signed (EIP-7702) proves the key, wrapped or not, and never the code. Without a promise where
 * the recovery has none and the first text is the signed one.
 * Denials: `invalid_signature`, `rate_limited`. Faults: see `Verifier.verify`.
 */
export function findSigner(question: Question): Signer | ProofDenial | Promise<Signer | ProofDenial> {
  const { options, statement, addressBucket } = question
  const unwrapped = unwrapSignature(statement.signature)
  if (!unwrapped) return invalidSignature('malformed ERC-6492 wrapper, or one inside another')
  const ecdsa = readEcdsa(unwrapped.signature)
  // What is no ECDSA signature at all costs no recovery.
  if (!ecdsa) return contractSigner(question, unwrapped)
  const text = runQueued(options.recoveryQueue, addressBucket, signedByKey, { question, ecdsa })
  if (text instanceof Promise) return text.then(found => signerOf(question, unwrapped, found))
  return signerOf(question, unwrapped, text)
}

function signerOf(
  question: Question,
  unwrapped: UnwrappedSignature,
  text: Text | undefined | typeof REFUSED,
): Signer | ProofDenial | Promise<Signer | ProofDenial> {
  if (text === REFUSED) return rateLimited(RETRY_AFTER_SECONDS)
  return text ? { principal: question.statement.address, text } : contractSigner(question, unwrapped)
}

interface KeyQuestion {
  readonly question: Question
  readonly ecdsa: EcdsaSignature
}

/** The first text whose signer is the address. */
function signedByKey(asked: KeyQuestion): Text | undefined | Promise<Text | undefined> {
  const { first } = asked.question.texts
  const signed = signs(asked, first)
  if (signed instanceof Promise) return signed.then(yes => (yes ? first : signedOther(asked)))
  return signed ? first : signedOther(asked)
}

async function signedOther(asked: KeyQuestion): Promise<Text | undefined> {
  for (const text of asked.question.texts.others()) if (await signs(asked, text)) return text
  return undefined
}

function signs({ question, ecdsa }: KeyQuestion, { reading }: Text): boolean | Promise<boolean> {
  const { options, statement } = question
  return isSignedBy(statement.address, options, personalHash(options.keccak256, reading.text), ecdsa)
}

async function contractSigner(
  question: Question,
  unwrapped: UnwrappedSignature,
): Promise<Signer | ProofDenial> {
  const { options, statement, texts, addressBucket } = question
  const { contracts, keccak256 } = options
  const { address } = statement
  if (!contracts) return invalidSignature('not signed by this key')
  const named = ({ reading: { chainId } }: Text): boolean => chainId !== undefined && contracts.has(chainId)
  const text = [texts.first, ...texts.others()].find(named)
  if (text?.reading.chainId === undefined) return invalidSignature('not signed by this key')
  const { chainId } = text.reading
  const hash = personalHash(keccak256, text.reading.text)
  const byKey = await beginsWithKeySignature(question, hash, unwrapped.signature)
  if (byKey === REFUSED) return rateLimited(RETRY_AFTER_SECONDS)
  if (byKey) return invalidSignature('signed by this key, in a form that is not accepted')
  const stands = await contracts.standsBy({ chainId, wallet: address, hash, unwrapped, addressBucket })
  if (stands === REFUSED) return rateLimited(RETRY_AFTER_SECONDS)
  if (!stands) return invalidSignature('not signed by this key, nor by a contract wallet')
  return { principal: `eip155:${chainId}:${address}`, text }
}

/**
 * Whether the bytes begin with a signature by the address's own key in a form that `readEcdsa` refuses, such as with
 * bytes behind it. The code of an account (EIP-7702) may take that form, and must not make another principal of it.
 */
async function beginsWithKeySignature(
  { options, statement, addressBucket }: Question,
  hash: Uint8Array,
  signature: Uint8Array,
): Promise<boolean | typeof REFUSED> {
  const signedWithEitherParity = async (compact: Uint8Array): Promise<boolean> =>
    (await isSignedBy(statement.address, options, hash, { compact, yParity: 0 })) ||
    isSignedBy(statement.address, options, hash, { compact, yParity: 1 })
  for (const compact of leadingSignatures(signature)) {
    // Two recoveries a turn at most, as for every other proof.
    const found = await runQueued(options.recoveryQueue, addressBucket, signedWithEitherParity, compact)
    if (found) return found
  }
  return false
}
