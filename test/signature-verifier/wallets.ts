import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import { createVerifier, type Verifier, type VerifierOptions } from '@gatewright/signature-verifier'
import type { WalletProof } from '@gatewright/signature-verifier/internal'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

/** A real wallet with a fresh key. */
export type Wallet = ReturnType<typeof privateKeyToAccount>
export const newWallet = (): Wallet => privateKeyToAccount(generatePrivateKey())

/** A verifier with a manual clock and empty nonce storage. */
export function openVerifier(options: Partial<VerifierOptions> = {}): Verifier & { clock: ManualClock } {
  const clock = manualClock()
  const nonces = memoryNonces()
  return { ...createVerifier({ service: 'Gatewright', nonces, clock, ...options }), clock }
}

/** A statement's fields as an honest client sends them. */
export interface Fields extends WalletProof {
  readonly address: string
  readonly nonce: string
  readonly issuedAt: string
  readonly expiresAt: string
  readonly connector?: string | null | undefined
  readonly chainId?: number | string | null | undefined
  readonly walletLabel?: string | null | undefined
}

/** Fields of a statement issued at `clock`'s now, valid for 5 minutes. */
export function fieldsFor(wallet: Wallet, clock: ManualClock, fields: Partial<Fields> = {}): Fields {
  return {
    address: wallet.address,
    nonce: crypto.randomUUID(),
    issuedAt: new Date(clock.now()).toISOString(),
    expiresAt: new Date(clock.now() + 300_000).toISOString(),
    ...fields,
  }
}

/** Template A as a client writes it. */
export function textA(fields: Fields, service = 'Gatewright'): string {
  return [
    `${service} Bootstrap`,
    `Address: ${fields.address}`,
    `Nonce: ${fields.nonce}`,
    `Issued At: ${fields.issuedAt}`,
    `Expires At: ${fields.expiresAt}`,
  ].join('\n')
}

/** Template B as a client writes it. */
export function textB(fields: Fields, service = 'Gatewright'): string {
  return [
    textA(fields).replace('Gatewright Bootstrap', `${service} Consumer Agent Bootstrap`),
    `Connector: ${fields.connector || 'unknown'}`,
    `Chain ID: ${fields.chainId || 'unknown'}`,
    `Wallet Label: ${fields.walletLabel || 'unknown'}`,
  ].join('\n')
}

/** Fields with the wallet's signature over the text that `write` renders from them. */
export async function signed(
  wallet: Wallet,
  fields: Fields,
  write: (fields: Fields) => string = textA,
): Promise<Fields & { signature: `0x${string}` }> {
  return { ...fields, signature: await wallet.signMessage({ message: write(fields) }) }
}
