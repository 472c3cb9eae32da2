import { REFUSED, runQueued } from '@gatewright/kernel'
import { invalidSignature, rateLimited, RETRY_AFTER_SECONDS, type ProofDenial } from './codes.ts'
import type { CheckedOptions } from './options.ts'
import type { Statement } from './proof.ts'
import { isSignedBy, personalHash } from './recover.ts'
import { readEcdsa, type EcdsaSignature } from './signature.ts'
import type { Text, Texts } from './texts.ts'

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
  readonly addressClass: string | undefined
}

/**
 * Finds which text the statement's address signed: first as a key, by recovery and with no network; then as a
 * contract wallet, by the first text that names an allow-listed chain. An account with code that signs with its key
 * (EIP-7702) is its key. Without a promise where the recovery has none and the first text is the signed one.
 * Denials: `invalid_signature`, `rate_limited`. Faults: see `Verifier.verify`.
 */
export function findSigner(question: Question): Signer | ProofDenial | Promise<Signer | ProofDenial> {
  const { options, statement, addressClass } = question
  const ecdsa = readEcdsa(statement.signature)
  // What is no ECDSA signature at all costs no recovery.
  if (!ecdsa) return contractSigner(question)
  const text = runQueued(options.recoveryQueue, addressClass, signedByKey, { question, ecdsa })
  return text instanceof Promise ? text.then(found => signerOf(question, found)) : signerOf(question, text)
}

function signerOf(
  question: Question,
  text: Text | undefined | typeof REFUSED,
): Signer | ProofDenial | Promise<Signer | ProofDenial> {
  if (text === REFUSED) return rateLimited(RETRY_AFTER_SECONDS)
  return text ? { principal: question.statement.address, text } : contractSigner(question)
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

async function contractSigner({
  options,
  statement,
  texts,
  addressClass,
}: Question): Promise<Signer | ProofDenial> {
  const { contracts, keccak256 } = options
  const { address, signature } = statement
  if (!contracts) return invalidSignature('not signed by this key')
  const named = ({ reading: { chainId } }: Text): boolean => chainId !== undefined && contracts.has(chainId)
  const text = [texts.first, ...texts.others()].find(named)
  if (text?.reading.chainId === undefined) return invalidSignature('not signed by this key')
  const { chainId } = text.reading
  const hash = personalHash(keccak256, text.reading.text)
  const stands = await contracts.standsBy({ chainId, wallet: address, hash, signature, addressClass })
  if (stands === REFUSED) return rateLimited(RETRY_AFTER_SECONDS)
  if (!stands) return invalidSignature('not signed by this key, nor by a contract wallet')
  return { principal: `eip155:${chainId}:${address}`, text }
}
