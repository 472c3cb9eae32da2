import { invalidSignature, rateLimited, RETRY_AFTER_SECONDS, type ProofDenial } from './codes.ts'
import { REFUSED } from './gate.ts'
import type { CheckedOptions } from './options.ts'
import type { Statement } from './proof.ts'
import { personalHash, recoverAddress } from './recover.ts'
import { readEcdsa, type EcdsaSignature } from './signature.ts'
import type { Text, Texts } from './texts.ts'

/** Who signed what. */
export interface Signer {
  readonly principal: string
  readonly text: Text
}

/**
 * Finds which text the statement's address signed: first as a key, by recovery and with no network; then as a
 * contract wallet, by the first text that names an allow-listed chain. An account with code that signs with its key
 * (EIP-7702) is its key. Without a promise where the recovery has none and the first text is the signed one.
 * Denials: `invalid_signature`, `rate_limited`. Faults: see `Verifier.verify`.
 */
export function findSigner(
  options: CheckedOptions,
  statement: Statement,
  texts: Texts,
  addressClass: string | undefined,
): Signer | ProofDenial | Promise<Signer | ProofDenial> {
  const { address, signature } = statement
  const signer = (byKey: Text | undefined | typeof REFUSED) => {
    if (byKey === REFUSED) return rateLimited(RETRY_AFTER_SECONDS)
    if (byKey) return { principal: address, text: byKey }
    return contractSigner(options, statement, texts, addressClass)
  }
  const ecdsa = readEcdsa(signature)
  // What is no ECDSA signature at all costs no recovery.
  if (!ecdsa) return signer(undefined)
  const found = options.recoveryGate.run(addressClass, () => signedByKey(options, address, ecdsa, texts))
  return found instanceof Promise ? found.then(signer) : signer(found)
}

/** The first text whose signer is the address. */
function signedByKey(
  options: CheckedOptions,
  address: string,
  ecdsa: EcdsaSignature,
  texts: Texts,
): Text | undefined | Promise<Text | undefined> {
  const signerOf = ({ text }: Text) => recoverAddress(options, personalHash(options.keccak256, text), ecdsa)
  const byOther = async (): Promise<Text | undefined> => {
    for (const text of texts.others()) if ((await signerOf(text)) === address) return text
    return undefined
  }
  const judge = (signer: string | undefined) => (signer === address ? texts.first : byOther())
  const signer = signerOf(texts.first)
  return signer instanceof Promise ? signer.then(judge) : judge(signer)
}

async function contractSigner(
  options: CheckedOptions,
  { address, signature }: Statement,
  texts: Texts,
  addressClass: string | undefined,
): Promise<Signer | ProofDenial> {
  const { contracts } = options
  if (!contracts) return invalidSignature('not signed by this key')
  const named = ({ chainId }: Text): boolean => chainId !== undefined && contracts.has(chainId)
  const text = [texts.first, ...texts.others()].find(named)
  if (text?.chainId === undefined) return invalidSignature('not signed by this key')
  const { chainId } = text
  const hash = personalHash(options.keccak256, text.text)
  const stands = await contracts.standsBy({ chainId, wallet: address, hash, signature, addressClass })
  if (stands === REFUSED) return rateLimited(RETRY_AFTER_SECONDS)
  if (!stands) return invalidSignature('not signed by this key, nor by a contract wallet')
  return { principal: `eip155:${chainId}:${address}`, text }
}
