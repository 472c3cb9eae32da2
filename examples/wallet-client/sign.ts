// Prints the body of a bootstrap request, signed by a new wallet: node build/examples/wallet-client/sign.js | curl ... -d @-
import { randomUUID } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const service = process.env['SERVICE_NAME'] ?? 'Gatewright Sandbox'
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
console.log(JSON.stringify({ ...statement, signature: await wallet.signMessage({ message }) }))
