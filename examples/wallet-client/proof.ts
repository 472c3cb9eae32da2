import { randomUUID } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'

/** A wallet's signed bootstrap statement: what was signed, and the body of the request. */
export interface Proof {
  readonly message: string
  readonly body: Readonly<Record<string, string>>
}

/** The wallet of `WALLET_PRIVATE_KEY`, or a new one. Use a key that holds play money only. */
export function walletOf(env: NodeJS.ProcessEnv): PrivateKeyAccount {
  return privateKeyToAccount((env['WALLET_PRIVATE_KEY'] as `0x${string}` | undefined) ?? generatePrivateKey())
}

/** Takes the wallet and signs template A for five minutes from now. */
export async function newProof(
  service: string = process.env['SERVICE_NAME'] ?? 'Gatewright Sandbox',
): Promise<Proof> {
  const wallet = walletOf(process.env)
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
