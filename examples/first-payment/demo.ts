import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** Serves metadata and key set of an identity provider on loopback, in one document, and signs its tokens. */
async function provider() {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'demo', alg: 'RS256', use: 'sig' }
  const server = createServer((_request, response) => {
    response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}jwks`, keys: [jwk] }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const token = (scope: string): Promise<string> =>
    new SignJWT({ sub: 'auth0|ann', scope })
      .setProtectedHeader({ alg: 'RS256', kid: 'demo', typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience('https://payments.example')
      .setIssuedAt()
      .setExpirationTime('15m')
      .sign(privateKey)
  return { issuer, token, server }
}

const { issuer, token, server: keys } = await provider()
process.env['ISSUER'] = issuer
const { app } = await import('./server.ts')
const payments = app.listen(0, '127.0.0.1')
await new Promise(resolve => payments.once('listening', resolve))
const url = `http://127.0.0.1:${(payments.address() as AddressInfo).port}/payments`

/** Widths of the columns: 80 characters in all, with two between columns. */
const [REQUEST, STATUS, WHY] = [26, 6, 44]

/** The lines of a text, broken at spaces. */
function wrapped(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`.trimStart()
    if (line.length <= width) lines[lines.length - 1] = line
    else lines.push(word)
  }
  return lines
}

function printRow(request: string, status: string, why: string): void {
  const left = wrapped(request, REQUEST)
  const right = wrapped(why, WHY)
  for (let line = 0; line < Math.max(left.length, right.length); line++) {
    const cells = [(left[line] ?? '').padEnd(REQUEST), (line === 0 ? status : '').padEnd(STATUS), right[line]]
    console.log(cells.join('  ').trimEnd())
  }
}

async function pay(title: string, amountCents: number, key: string, scope: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${await token(scope)}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ amountCents }) })
  const { id = '', error, message } = (await response.json()) as Record<string, string>
  const paid = response.headers.has('idempotency-replayed') ? 'Stored response, not paid again' : 'Paid'
  const why = response.ok ? `${paid}, id ${id.slice(0, 8)}` : `${error}: ${message}`
  printRow(title, String(response.status), why)
}

printRow('Request', 'Status', 'Why')
await pay('Pay 60.00 USD', 6000, 'order-0001', 'payments.write')
await pay('The same request again', 6000, 'order-0001', 'payments.write')
await pay('Pay 5.00 USD with a token that may only read', 500, 'order-0002', 'payments.read')
await pay('Pay 50.00 USD more (limit: 100.00 USD a day)', 5000, 'order-0003', 'payments.write')

payments.close()
keys.close()
