// A wallet client of a running Gatewright host. It uses no Gatewright package.
// Start the host first (npm start). It listens on PORT, as this client assumes. Another address: npm run demo -- http://127.0.0.1:4000
import { randomUUID } from 'node:crypto'
import { newProof } from './proof.ts'

const host = process.argv[2] ?? `http://127.0.0.1:${process.env['PORT'] ?? 3000}`

interface HttpResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<HttpResponse> {
  const response = await fetch(host + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }).catch((error: unknown) => {
    console.error(`No host responds at ${host}. Start one with "npm start", then run this again.`)
    console.error(
      `(${error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)})`,
    )
    process.exit(1)
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  }
}

/** Prints a step and ends the demo when the host did not respond as expected. */
function step(title: string, reply: HttpResponse, expected: number, lines: readonly string[]): void {
  console.log(`\n${title}\n   -> ${reply.status}`)
  for (const line of lines) console.log(`   ${line}`)
  if (reply.status === expected) return
  console.error(`   expected ${expected}: ${JSON.stringify(reply.body)}`)
  process.exit(1)
}

/** Enough of a credential to recognise it, too little to use it. */
const shown = (credential: unknown): string => `${String(credential).slice(0, 24)}...`
const bearer = (token: unknown): Record<string, string> => ({ authorization: `Bearer ${String(token)}` })

const { message, body: proof } = await newProof()
console.log(`A new wallet signs:\n\n${message.replace(/^/gm, '   ')}`)

const first = await post('/user/v1/bootstrap', proof)
step('1. The signature becomes a key and a session', first, 200, [
  `user      ${String(first.body['userId'])}`,
  `key       ${shown(first.body['userApiKey'])}`,
  `session   ${shown(first.body['sessionToken'])} until ${String(first.body['expiresAt'])}`,
])

const replayed = await post('/user/v1/bootstrap', proof)
step('2. The same statement again is denied: its nonce is used', replayed, 401, [
  String(replayed.body['message']),
])

const key = String(first.body['userApiKey'])
const narrow = await post('/user/v1/sessions', { scopes: ['subscriptions.write'] }, { 'x-user-key': key })
step('3. The key mints a session that can only write subscriptions', narrow, 200, [
  `session   ${shown(narrow.body['sessionToken'])}`,
  `scopes    ${String(narrow.body['scopes'])}`,
])

const order = { amountCents: 2500, note: 'first month' }
const once = { 'idempotency-key': randomUUID() }
const headers = { ...bearer(narrow.body['sessionToken']), ...once }
const paid = await post('/user/v1/subscriptions/payin', order, headers)
const payin = (reply: HttpResponse): string =>
  JSON.stringify((reply.body['data'] as { payin?: { id?: string } } | undefined)?.payin?.id)
step('4. A pay-in of 25.00 USD is created', paid, 200, [`pay-in    ${payin(paid)}`])

const again = await post('/user/v1/subscriptions/payin', order, headers)
step('5. Sent again with the same idempotency key: the stored response, no second pay-in', again, 200, [
  `pay-in    ${payin(again)}`,
  `Idempotency-Replayed: ${again.headers.get('idempotency-replayed')}`,
])

const legacy = await post('/consumer/v1/subscriptions/payin', order, headers)
step('6. The same through the legacy path: still the same operation', legacy, 200, [
  `pay-in    ${payin(legacy)}`,
  `Deprecation: ${legacy.headers.get('deprecation')}`,
])

const reader = await post('/user/v1/sessions', { scopes: ['users.read'] }, { 'x-user-key': key })
const denied = await post('/user/v1/subscriptions/payin', order, {
  ...bearer(reader.body['sessionToken']),
  'idempotency-key': randomUUID(),
})
step('7. A session without subscriptions.write is denied', denied, 403, [
  `error     ${String(denied.body['error'])}`,
  `message   ${String(denied.body['message'])}`,
])
console.log('\nDone.')
