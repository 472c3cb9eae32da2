import { randomUUID } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

/** A new wallet's signed bootstrap statement: what was signed, and the body of the request. */
export interface Proof {
  readonly message: string
  readonly body: Readonly<Record<string, string>>
}

/** Makes a wallet and signs template A for five minutes from now. */
export async function newProof(
  service: string = process.env['SERVICE_NAME'] ?? 'Gatewright Sandbox',
): Promise<Proof> {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const now = Date.now()
  const statement = {
    address: wallet.address,
    nonce: randomUUID(),
    issuedAt: new Date(now).toISOString(),
    expiresAt: new Date(now + 5 * 60_000).toISOString(),
  }
  const message = [
    `${service} Bootstrap`,
    `Address: ${statement.address}`,
    `Nonce: ${statement.nonce}`,
    `Issued At: ${statement.issuedAt}`,
    `Expires At: ${statement.expiresAt}`,
  ].join('\n')
  return { message, body: { ...statement, signature: await wallet.signMessage({ message }) } }
}
