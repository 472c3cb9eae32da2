import { randomUUID } from 'node:crypto'
import t from 'tap'
import { bearer, bootstrapUser, openTestHost } from '../../../../harness/host.ts'

const host = await openTestHost(t)
const user = await bootstrapUser(host.send)
const post = (path: string, body: unknown) =>
  host.send(`/user/v1/subscriptions/${path}`, {
    body,
    headers: { ...bearer(user.token), 'idempotency-key': randomUUID() },
  })
/** Members whose JSON has this many bytes: a member of the host's own, and one that it does not know. */
function membersOf(bytes: number, fill = 'a'): { metadata: object; note: string } {
  const empty = { metadata: { order: '0001' }, note: '' }
  const left = bytes - Buffer.byteLength(JSON.stringify(empty))
  const width = Buffer.byteLength(fill)
  return { ...empty, note: fill.repeat(Math.floor(left / width)) + 'a'.repeat(left % width) }
}

for (const [path, terms] of [
  ['payin', { amountCents: 100 }],
  ['checkout', { plan: 'basic' }],
] as const) {
  t.test(`keeps members of up to 4096 bytes with a pay-in, and denies larger ones: ${path}`, async t => {
    for (const fill of ['a', 'é', '😀']) {
      const kept = membersOf(4096, fill)
      const made = await post(path, { ...terms, ...kept })
      t.equal(made.status, 200)
      const { id } = made.body.data['payin'] as { id: string }
      const shown = await host.send(`/user/v1/subscriptions/payins/${id}`, { headers: bearer(user.token) })
      t.same((shown.body.data['payin'] as Record<string, unknown>)['properties'], kept)
      t.match(await post(path, { ...terms, ...membersOf(4097, fill) }), {
        status: 400,
        body: { error: 'invalid_request', field: 'note', message: /at most 4096 bytes as JSON, got 4097/ },
      })
    }
  })
}

t.test('denies hostile members of a pay-in, and names the largest in few characters', async t => {
  t.match(await post('payin', { amountCents: 100, metadata: { note: 'a'.repeat(200_000) }, order: '1' }), {
    status: 400,
    body: { field: 'metadata' },
  })
  const longName = await post('payin', { amountCents: 100, ['n'.repeat(200_000)]: 1 })
  t.match(longName, { status: 400, body: { field: 'n'.repeat(120) } })
  t.ok(JSON.stringify(longName.body).length < 500)
  const deep = `{"amountCents":100,"metadata":{"deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`
  t.match(await post('payin', deep), { status: 400, body: { error: 'invalid_request' } })
  t.same(host.failures, [])
})
