import { writeFileSync } from 'node:fs'
import { manualClock } from '@gatewright/kernel/testing'
import { bearer, bootstrapUser, startTestHost, type RequestOptions } from '../../harness/host.ts'
import { inlined } from '../../harness/openapi.ts'
import { partnerUser } from './partner.ts'

interface OperationDescription {
  readonly parameters: readonly { readonly name: string; readonly in: 'path' | 'query' | 'header' }[]
  readonly requestBody?: { content: { 'application/json': { schema: object; example?: unknown } } }
}

/** What differs from run to run: random ids, keys, tokens, digests and addresses. */
const RANDOM: readonly (readonly [RegExp, string])[] = [
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>'],
  [/gw_[a-z]+_[a-z]+_\w+/g, '<key>'],
  [/0x[0-9a-fA-F]{8,}/g, '<hex>'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>'],
  [/127\.0\.0\.1:\d+/g, '<host>'],
  [/"code":"[A-Z0-9]{4}-[A-Z0-9]{4}"/g, '"code":"<code>"'],
  [/[0-9a-f]{32,}/g, '<random>'],
  [/(last4\\?":\\?")\d{4}/g, '$1<digits>'],
  [/(code\\?":\\?")[A-Z0-9]{6}\b/g, '$1<code>'],
  // Values of members, not their names, and no codes.
  [/(?<=")(?![a-z_.]+\\?"|per[A-Z])[A-Za-z0-9+/_.-]{16,}={0,2}(?=\\?"(?!:))/g, '<random>'],
  // The cards that a sandbox makes up for the users of its partner.
  [/"status":"\w+","expirationMonth":1,"expirationYear":2029,"limit":(null|\{[^}]*\})/g, '<card>'],
]

/** Header fields that a client acts on. The others (`date`, `x-request-id`, `content-length`) differ from run to run. */
const FIELDS = [
  'allow',
  'cache-control',
  'content-type',
  'deprecation',
  'idempotency-replayed',
  'link',
  'location',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'sunset',
  'vary',
  'www-authenticate',
]

const PARTNER_SCOPES = [
  'users.read',
  'users.write',
  'kyc.read',
  'kyc.write',
  'cards.read',
  'cards.write',
  'deposits.read',
  'withdrawals.write',
  'transactions.read',
]

const cursor = (text: string): string => Buffer.from(text).toString('base64url')
const PLAIN_VALUES =
  '0 1 01 1.5 -1 1e1 50 100 101 200 201 99999999999999999999 true false TRUE active all revoke cancel ' +
  'spend fee,spend fee,fee spend, card_unknown usd a/b abc.1'
const CURSORS = ['after:1', 'after:999', 'after:0', 'after:01', 'at:1:a', 'at:0:a'].map(cursor)
/** What is sent as each query parameter: every value that some parameter takes, and some that none does. */
const QUERY_VALUES = [
  ...PLAIN_VALUES.split(' '),
  ...CURSORS,
  ...['', ' 1', 'x'.repeat(121), 'ä', 'a\u0308', 'a\0'].map(encodeURIComponent),
]

/** The query strings for an operation: each value of each parameter, one twice, one that is no UTF-8, and a name that it does not have. */
function queriesOf(names: readonly string[]): readonly string[] {
  const each = names.flatMap(name => [
    ...QUERY_VALUES.map(value => `${name}=${value}`),
    `${name}=1&${name}=1`,
    `${name}=%FF`,
  ])
  return [...each, 'unknown=1']
}

function withoutRandom(text: string): string {
  return RANDOM.reduce((rest, [pattern, name]) => rest.replaceAll(pattern, name), text)
}

/**
 * Sends the same requests to every operation of a new host, and writes what came back to a file, without what is random. Two files,
 * of the source before and after a change, show whether the change is seen on the wire:
 * `npm run -s build && node build/test/reference-host/harness/record-wire.js wire.txt`.
 */
async function recordWire(file: string): Promise<void> {
  const clock = manualClock()
  const host = await startTestHost({ RATE_LIMITS: 'off' }, clock)
  const user = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, clock.now())
  const published = (await host.send('/openapi.json')).body
  const lines = [JSON.stringify(published).replaceAll(host.url, '<url>')]
  const paths = inlined(published, published)['paths'] as Record<string, Record<string, OperationDescription>>
  for (const [path, item] of Object.entries(paths)) {
    // A new session for each path: it lives for 15 minutes.
    const ofPartner = await partnerUser(host, 'wire', PARTNER_SCOPES)
    for (const [name, described] of Object.entries(item)) {
      if (path === '/metrics' || path === '/readyz') continue
      const method = name.toUpperCase()
      const example = described.requestBody?.content['application/json'].example
      const target = path.replaceAll(/\{\w+\}/g, 'unknown-id')
      const send = async (
        label: string,
        { query = '', ...options }: RequestOptions & { readonly query?: string },
        on = host.send,
      ): Promise<void> => {
        // Lists have the order of creation, of sessions in seconds.
        clock.advance(1000)
        const { status, headers, body } = await on(target + query, { method, ...options })
        const sent = FIELDS.filter(field => headers.has(field)).map(
          field => `${field}: ${headers.get(field)}`,
        )
        lines.push(
          `${method} ${path} (${label}) ${status}`,
          ...[...sent, JSON.stringify(body)].map(withoutRandom),
        )
      }
      const key = { 'idempotency-key': `key of ${method} ${path}`.replaceAll(/[^\w]/g, '-') }
      const own = { ...bearer(user.token), ...key }
      const body = method === 'GET' ? {} : { body: example ?? {} }
      await send('no credential', {})
      await send('wrong credential', { headers: bearer('a.b.c') })
      if (method !== 'GET') {
        await send('no JSON', { headers: own, body: '{' })
        await send('empty body', {
          headers: { ...own, 'idempotency-key': `${key['idempotency-key']}-empty` },
          body: {},
        })
      }
      const ofQuery = described.parameters.filter(each => each.in === 'query').map(each => each.name)
      for (const query of ofQuery.length > 0 ? queriesOf(ofQuery) : []) {
        const options = { query: `?${query}` }
        if (path.startsWith('/partner')) await send(`partner session, ${query}`, options, ofPartner)
        else await send(`user, ${query}`, { ...options, headers: bearer(user.token) })
      }
      // A session that these would end could not be used for the operations after them.
      if (method === 'DELETE' && /keys|sessions/.test(path)) continue
      await send('user', { headers: own, ...body })
      await send('user again', { headers: own, ...body })
      await send('user, as an Open Response', { headers: { ...own, 'x-open-responses': '1' }, ...body })
      await send('user key', { headers: { 'x-user-key': user.key, ...key }, ...body })
      await send('partner key', { headers: { 'x-partner-key': host.partnerKey, ...key }, ...body })
      await send('partner session', { headers: key, ...body }, (at, options) => ofPartner(at, options))
    }
  }
  await host.close()
  writeFileSync(file, `${lines.join('\n')}\n`)
}

await recordWire(process.argv[2] ?? 'wire.txt')
