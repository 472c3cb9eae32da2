import { invalidSignature, rateLimited, RETRY_AFTER_SECONDS, type ProofDenial } from './codes.ts'
import { REFUSED } from './gate.ts'
import type { CheckedOptions } from './options.ts'
import type { Statement } from './proof.ts'
import { personalHash, recoverAddress } from './recover.ts'
import { readEcdsa } from './signature.ts'
import type { Text } from './texts.ts'

/** Who signed what. */
export interface Signer {
  readonly principal: string
  readonly text: Text
}

/**
 * Finds which text the statement's address signed: first as a key, by recovery and with no network; then as a
 * contract wallet, by the first text that names an allow-listed chain. An account with code that signs with its key
 * (EIP-7702) is its key. Denials: `invalid_signature`, `rate_limited`. Faults: see `Verifier.verify`.
 */
export async function findSigner(
  options: CheckedOptions,
  statement: Statement,
  texts: readonly Text[],
  addressClass: string | undefined,
): Promise<Signer | ProofDenial> {
  const { address, signature } = statement
  const byKey = await signedByKey(options, statement, texts, addressClass)
  if (byKey === REFUSED) return rateLimited(RETRY_AFTER_SECONDS)
  if (byKey) return { principal: address, text: byKey }

  const { contracts } = options
  const text = texts.find(({ chainId }) => chainId !== undefined && contracts?.has(chainId))
  if (!contracts || text?.chainId === undefined) return invalidSignature('not signed by this key')
  const { chainId } = text
  const hash = personalHash(options.keccak256, text.text)
  const stands = await contracts.standsBy({ chainId, wallet: address, hash, signature, addressClass })
  if (stands === REFUSED) return rateLimited(RETRY_AFTER_SECONDS)
  if (!stands) return invalidSignature('not signed by this key, nor by a contract wallet')
  return { principal: `eip155:${chainId}:${address}`, text }
}

/** The first text whose signer is the address. What is no ECDSA signature at all costs no recovery. */
async function signedByKey(
  options: CheckedOptions,
  { signature, address }: Statement,
  texts: readonly Text[],
  addressClass: string | undefined,
): Promise<Text | undefined | typeof REFUSED> {
  const ecdsa = readEcdsa(signature)
  if (!ecdsa) return undefined
  return options.recoveryGate.run(addressClass, async () => {
    for (const text of texts) {
      if ((await recoverAddress(options, personalHash(options.keccak256, text.text), ecdsa)) === address)
        return text
    }
    return undefined
  })
}
