import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { bearer, bootstrapUser, startTestHost, type Answer, type RequestOptions } from '../harness/host.ts'
import { runNode } from '../harness/node.ts'

interface Described {
  readonly deprecated?: boolean
  readonly security: Record<string, unknown>[]
}
const host = await startTestHost()
t.teardown(() => host.close())
const description = (await host.send('/openapi.json')).body
const operations = Object.entries(description['paths'] as Record<string, Record<string, Described>>).flatMap(
  ([path, item]) => Object.entries(item).map(([method, { security }]) => ({ path, method, security })),
)
const schemesOf = ({ security }: { security: Record<string, unknown>[] }): string[] =>
  security.flatMap(Object.keys)

/** Everything that belongs to one caller and that another must never see: ids, key texts, tokens, addresses. */
function ownTexts(answers: readonly Answer[]): string[] {
  const found = JSON.stringify(answers.map(({ body }) => body)).match(/"[\w.:-]{12,}"/g) ?? []
  return [...new Set(found)].filter(text => /\d/.test(text) && !/^"\d{4}-\d\d-\d\dT/.test(text))
}

/** A user with a key below the bootstrap key, a second session and a pay-in, and what showed up on the way. */
async function userWorld(): Promise<{ token: string; ids: Record<string, string>; texts: string[] }> {
  const user = await bootstrapUser(host.send)
  const send = (path: string, options: RequestOptions = {}): Promise<Answer> =>
    host.send(path, { ...options, headers: { ...bearer(user.token), ...options.headers } })
  const key = await send('/user/v1/keys', { body: {} })
  const session = await send('/user/v1/sessions', { body: {} })
  const payin = await send('/user/v1/subscriptions/payin', {
    body: { amountCents: 1 },
    headers: { 'idempotency-key': 'same-for-everybody' },
  })
  const ids = { keyId: key.body['userKeyId'] as string, sessionId: session.body['sessionId'] as string }
  return { token: user.token, ids, texts: ownTexts([key, session, payin]) }
}

t.test('no user operation shows or changes what belongs to another user: its id is 404', async t => {
  const [ann, bob] = [await userWorld(), await userWorld()]
  const guarded = operations.filter(operation => schemesOf(operation).includes('UserSessionBearer'))
  t.ok(guarded.length >= 20, 'the table was read')
  for (const { path, method } of guarded) {
    const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ann.ids[name] ?? 'unknown')
    const answer = await host.send(target, {
      method: method.toUpperCase(),
      headers: { ...bearer(bob.token), 'idempotency-key': 'same-for-everybody' },
      ...(method === 'get' || method === 'delete' ? {} : { body: { amountCents: 1, scopes: ['keys.read'] } }),
    })
    const text = JSON.stringify(answer.body)
    const leaked = ann.texts.filter(own => text.includes(own))
    t.same(leaked, [], `${method} ${path}`)
    if (path.includes('{')) t.equal(answer.status, 404, `${method} ${path}`)
  }
  const after = await host.send('/user/v1/keys', { headers: bearer(ann.token) })
  const keys = after.body['keys'] as { id: string; revokedAt: string | null }[]
  t.equal(keys.find(({ id }) => id === ann.ids['keyId'])?.revokedAt, null, 'nothing was changed')
  const sessions = await host.send('/user/v1/sessions', { headers: bearer(ann.token) })
  t.ok(JSON.stringify(sessions.body).includes(ann.ids['sessionId'] as string), 'nothing was ended')
})

t.test('no partner operation shows what belongs to another partner, even under the same user id', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-partners-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const keys = [await newPartner(dataDir, 'One'), await newPartner(dataDir, 'Two')] as const
  const both = await startTestHost({ DATA_DIR: dataDir })
  t.teardown(() => both.close())

  const world = async (partnerKey: string): Promise<string[]> => {
    const headers = { 'x-partner-key': partnerKey }
    const userId = 'shared-name-1'
    await both.send('/partner/v1/users/resolve', { body: { userId }, headers })
    const session = await both.send('/partner/v1/sessions', {
      body: { userId, scopes: ['cards.read'] },
      headers,
    })
    const token = session.body.data['sessionToken'] as string
    const cards = await both.send('/partner/v1/cards?limit=100', { headers: bearer(token) })
    return ownTexts([session, cards]).filter(text => !text.includes(userId) && !text.startsWith('"per'))
  }
  const [one, two] = [await world(keys[0]), await world(keys[1])]
  t.ok(one.length >= 26, 'the cards and the session were seen')
  t.same(
    one.filter(text => two.includes(text)),
    [],
  )
})

/** Makes a partner as the operator does, and returns its key. */
async function newPartner(dataDir: string, name: string): Promise<string> {
  const command = ['packages/reference-host/dist/cli/main.js', 'partner-keys', 'create', name, '--json']
  const { output } = await runNode(command, { PATH: process.env['PATH'], DATA_DIR: dataDir })
  return (JSON.parse(output) as { key: string }).key
}
