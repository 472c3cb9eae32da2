// Prints the body of a login on the web: a new wallet asks the host for a challenge and signs it.
// With the id and the code of a command line's request it approves that one: sign-in.js HOST REQUEST CODE
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const [, , host = 'http://127.0.0.1:3000', requestId, code] = process.argv
const { address, signMessage } = privateKeyToAccount(generatePrivateKey())

const response = await fetch(`${host}/auth/challenge`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ address, connector: 'demo', ...(requestId ? { requestId, code } : {}) }),
})
const { nonce, challengeToken, message } = (await response.json()) as Record<string, string>
if (!message) throw new Error(`the host responded with ${response.status}`)
console.log(JSON.stringify({ address, nonce, challengeToken, signature: await signMessage({ message }) }))
