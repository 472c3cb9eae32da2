// Starts the server, signs a statement with a fresh wallet, and sends it: once, again, and with another signature.
import type { AddressInfo } from 'node:net'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { walletServer } from './server.ts'

const service = 'Example Pay'
const server = await walletServer(service)
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

const wallet = privateKeyToAccount(generatePrivateKey())
const fields = {
  address: wallet.address,
  nonce: crypto.randomUUID(),
  issuedAt: new Date().toISOString(),
  expiresAt: new Date(Date.now() + 300_000).toISOString(),
}
const message = [
  `${service} Bootstrap`,
  `Address: ${fields.address}`,
  `Nonce: ${fields.nonce}`,
  `Issued At: ${fields.issuedAt}`,
  `Expires At: ${fields.expiresAt}`,
].join('\n')
const signature = await wallet.signMessage({ message })

async function send(title: string, proof: object): Promise<void> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(proof) })
  console.log(`${title}: ${response.status} ${await response.text()}`)
}

await send('signed by the wallet', { ...fields, signature })
await send('the same again', { ...fields, signature })
const other = await wallet.signMessage({ message: `${message}!` })
await send('another text signed', { ...fields, nonce: crypto.randomUUID(), signature: other })
await send('a broken address', { ...fields, address: '0x12', signature })
server.close()
