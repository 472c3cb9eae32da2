// A wallet client of a running Gatewright host. It uses no Gatewright package.
// Start the host first (npm start). It listens on HOST and PORT, as this client assumes. Another address: npm run demo -- http://127.0.0.1:4000
import { randomUUID } from 'node:crypto'
import { newProof } from './proof.ts'

const { HOST: hostname = '127.0.0.1', PORT: port = '3000' } = process.env
const host = process.argv[2] ?? `http://${hostname}:${port}`

interface HttpResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

/** Ends the demo because no host responds. */
function endWithoutHost(error: unknown): never {
  console.error(`No host responds at ${host}. Start one with "npm start", then run this again.`)
  console.error(
    `(${error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)})`,
  )
  process.exit(1)
}

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<HttpResponse> {
  const response = await fetch(host + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }).catch(endWithoutHost)
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

/** Breaks a text into lines that fit in 80 columns below a step. */
const lines = (text: string): string[] => text.match(/.{1,76}(?: |$)/g) ?? []

/** Enough of a credential to recognise it, too little to use it. */
const shown = (credential: unknown): string => `${String(credential).slice(0, 24)}...`
const bearer = (token: unknown): Record<string, string> => ({ authorization: `Bearer ${String(token)}` })

// Fails before anything is signed if no host responds.
await fetch(`${host}/healthz`).catch(endWithoutHost)
const { message, body: proof } = await newProof()
console.log(`A new wallet signs:\n\n${message.replace(/^/gm, '   ')}`)

const first = await post('/user/v1/bootstrap', proof)
step('1. The signature becomes a key and a session', first, 200, [
  `user      ${String(first.body['userId'])}`,
  `key       ${shown(first.body['userApiKey'])}`,
  `session   ${shown(first.body['sessionToken'])} until ${String(first.body['expiresAt'])}`,
])

const replayed = await post('/user/v1/bootstrap', proof)
step('2. The same statement again is refused on purpose: its nonce is used', replayed, 401, [
  `error     ${String(replayed.body['error'])}`,
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
  String((reply.body['data'] as { payin?: { id?: string } } | undefined)?.payin?.id)
step('4. A pay-in of 25.00 USD is created', paid, 200, [`pay-in    ${payin(paid)}`])

const again = await post('/user/v1/subscriptions/payin', order, headers)
step('5. Sent again with the same idempotency key: no second pay-in', again, 200, [
  `pay-in    ${payin(again)}`,
  `Idempotency-Replayed: ${again.headers.get('idempotency-replayed')}`,
])

const legacy = await post('/consumer/v1/subscriptions/payin', order, headers)
step('6. The same through the legacy path: still the same operation', legacy, 200, [
  `pay-in    ${payin(legacy)}`,
  `Deprecation: ${legacy.headers.get('deprecation')}`,
])

// The step that people come for: a key with an allowance of 50 USD a day, and a payment above it.
const all = await post('/user/v1/sessions', {}, { 'x-user-key': key })
const allowance = await post(
  '/user/v1/keys',
  { scopes: ['subscriptions.write'], policy: { dailySpendCapCents: 5000 } },
  bearer(all.body['sessionToken']),
)
step('7. A second key may spend 50.00 USD a day', allowance, 200, [
  `key       ${shown(allowance.body['userApiKey'])}`,
])
const agent = await post('/user/v1/sessions', {}, { 'x-user-key': String(allowance.body['userApiKey']) })
const asAgent = (): Record<string, string> => ({
  ...bearer(agent.body['sessionToken']),
  'idempotency-key': randomUUID(),
})
const within = await post('/user/v1/subscriptions/payin', { amountCents: 3000 }, asAgent())
step('8. It asks for 30.00 USD', within, 200, [`pay-in    ${payin(within)}`])
const above = await post('/user/v1/subscriptions/payin', { amountCents: 3000 }, asAgent())
step('9. It asks for 30.00 USD more: its limit refuses', above, 403, [
  `error     ${String(above.body['error'])}`,
  `rule      ${String(above.body['rule'])}`,
  ...lines(String(above.body['message'])),
])

const reader = await post('/user/v1/sessions', { scopes: ['users.read'] }, { 'x-user-key': key })
const denied = await post('/user/v1/subscriptions/payin', order, {
  ...bearer(reader.body['sessionToken']),
  'idempotency-key': randomUUID(),
})
step('10. A session without subscriptions.write is denied', denied, 403, [
  `error     ${String(denied.body['error'])}`,
])
console.log(`
Done. Next:
   ${host}/helper   sign in with a test wallet
   ${host}/docs     every operation
   ${'npm run demo:payment'.padEnd(host.length + 7)}   one guarded route in your own server`)
