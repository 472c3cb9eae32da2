import { QUEUE_FULL, runQueued } from '@gatewright/kernel/internal'
import type { CandidateMessage, CandidateMessageList } from '../candidate-messages.ts'
import { invalidSignature, rateLimited, type ProofDenial } from '../codes.ts'
import type { CheckedOptions } from '../options.ts'
import type { Statement } from '../proof.ts'
import { leadingSignatures, readEcdsa, type EcdsaSignature } from './ecdsa.ts'
import { unwrapSignature, type UnwrappedSignature } from './erc6492.ts'
import { isSignedBy, personalHash } from './recover.ts'

/** The wallet that signed, and the message that it signed. */
interface Signer {
  readonly wallet: string
  readonly message: CandidateMessage
}

type SignerResult = Signer | ProofDenial

/** One proof whose signer is searched for. */
interface SignerSearch {
  readonly options: CheckedOptions
  readonly statement: Statement
  readonly messages: CandidateMessageList
  readonly addressBucket: string | undefined
}

/**
 * Finds which message the statement's address signed, after it removed an ERC-6492 wrapper: first as a key, by recovery and
 * with no network; then as a contract wallet, over the first message that names an allow-listed chain. A signature by the key
 * of an account with code (EIP-7702), wrapped or not, proves the key and never the contract. Synchronous if the queue is free,
 * `recover` is synchronous and the first message is the signed one. Denials: `invalid_signature`, `rate_limited`. Faults: see
 * `Verifier.verify`.
 */
export function findSigner(search: SignerSearch): SignerResult | Promise<SignerResult> {
  const { options, statement, addressBucket } = search
  const unwrapped = unwrapSignature(statement.signature)
  if (!unwrapped) return invalidSignature('malformed ERC-6492 wrapper, or one inside another')
  const ecdsa = readEcdsa(unwrapped.signature)
  // Bytes that are not an ECDSA signature cost no recovery.
  if (!ecdsa) return findContractSigner(search, unwrapped)
  const message = runQueued(options.recoveryQueue, addressBucket, messageSignedByKey, { search, ecdsa })
  if (message instanceof Promise) return message.then(found => signerOf(search, unwrapped, found))
  return signerOf(search, unwrapped, message)
}

function signerOf(
  search: SignerSearch,
  unwrapped: UnwrappedSignature,
  message: CandidateMessage | undefined | typeof QUEUE_FULL,
): SignerResult | Promise<SignerResult> {
  if (message === QUEUE_FULL) return rateLimited()
  return message ? { wallet: search.statement.address, message } : findContractSigner(search, unwrapped)
}

interface KeySearch {
  readonly search: SignerSearch
  readonly ecdsa: EcdsaSignature
}

/** Returns the first candidate message that the address's key signed. */
function messageSignedByKey(
  keySearch: KeySearch,
): CandidateMessage | undefined | Promise<CandidateMessage | undefined> {
  const { first } = keySearch.search.messages
  const signed = hasSigned(keySearch, first)
  if (signed instanceof Promise) return signed.then(yes => (yes ? first : otherMessageSignedByKey(keySearch)))
  return signed ? first : otherMessageSignedByKey(keySearch)
}

async function otherMessageSignedByKey(keySearch: KeySearch): Promise<CandidateMessage | undefined> {
  for (const message of keySearch.search.messages.others())
    if (await hasSigned(keySearch, message)) return message
  return undefined
}

function hasSigned({ search, ecdsa }: KeySearch, { match }: CandidateMessage): boolean | Promise<boolean> {
  const { options, statement } = search
  return isSignedBy(statement.address, options, personalHash(options.keccak256, match.text), ecdsa)
}

async function findContractSigner(
  search: SignerSearch,
  unwrapped: UnwrappedSignature,
): Promise<SignerResult> {
  const { options, statement, messages, addressBucket } = search
  const { contracts, keccak256 } = options
  const { address } = statement
  if (!contracts) return invalidSignature('not signed by this key')
  const message = [messages.first, ...messages.others()].find(
    ({ match: { chainId } }) => chainId !== undefined && contracts.has(chainId),
  )
  if (message?.match.chainId === undefined) return invalidSignature('not signed by this key')
  const { chainId, text } = message.match
  const hash = personalHash(keccak256, text)
  const byKey = await beginsWithKeySignature(search, hash, unwrapped.signature)
  if (byKey === QUEUE_FULL) return rateLimited()
  if (byKey) return invalidSignature('signed by this key, in a form that is not accepted')
  const isValid = await contracts.isValidSignature({
    chainId,
    wallet: address,
    hash,
    unwrapped,
    addressBucket,
  })
  if (isValid === QUEUE_FULL) return rateLimited()
  if (!isValid) return invalidSignature('not signed by this key, nor by a contract wallet')
  return { wallet: `eip155:${chainId}:${address}`, message }
}

/**
 * Whether the bytes begin with a signature by the address's own key in a form that `readEcdsa` denies, for example with more
 * bytes after it. The contract of an account (EIP-7702) may accept that form; the same signature would then also prove a
 * contract wallet.
 */
async function beginsWithKeySignature(
  { options, statement, addressBucket }: SignerSearch,
  hash: Uint8Array,
  signature: Uint8Array,
): Promise<boolean | typeof QUEUE_FULL> {
  const signedWithEitherParity = async (compact: Uint8Array): Promise<boolean> =>
    (await isSignedBy(statement.address, options, hash, { compact, yParity: 0 })) ||
    isSignedBy(statement.address, options, hash, { compact, yParity: 1 })
  for (const compact of leadingSignatures(signature)) {
    // One queued job runs two recoveries at most, as for every other proof.
    const found = await runQueued(options.recoveryQueue, addressBucket, signedWithEitherParity, compact)
    if (found) return found
  }
  return false
}
