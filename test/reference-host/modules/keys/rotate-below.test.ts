import t from 'tap'
import { bearer, bootstrapUser, openTestHost, type HttpResponse } from '../../../harness/host.ts'

const host = await openTestHost(t)
const rotate = (keyId: unknown, headers: Record<string, string>): Promise<HttpResponse> =>
  host.send(`/user/v1/keys/${String(keyId)}/rotate`, { body: {}, headers })

/** A wallet's root session, a key below it with these scopes, and a key below that one. */
async function chainOf(scopes: readonly string[]): Promise<Record<'middle' | 'leaf', HttpResponse['body']>> {
  const { token } = await bootstrapUser(host.send)
  const make = async (by: string, wanted: readonly string[]): Promise<HttpResponse['body']> =>
    (await host.send('/user/v1/keys', { body: { scopes: wanted }, headers: bearer(by) })).body
  const middle = await make(token, ['keys.write', ...scopes])
  const { body } = await host.send('/user/v1/sessions', {
    body: {},
    headers: { 'x-user-key': middle['userApiKey'] as string },
  })
  const leaf = await make(body['sessionToken'] as string, ['cards.read'])
  await host.send(`/user/v1/keys/${String(middle['userKeyId'])}`, {
    method: 'PATCH',
    body: { scopes },
    headers: bearer(token),
  })
  return { middle, leaf }
}

t.test('a presented key rotates a key below it only with the scope keys.write', async t => {
  const without = await chainOf(['cards.read'])
  const key = { 'x-user-key': without.middle['userApiKey'] as string }
  for (const keyId of [without.leaf['userKeyId'], 'key_none'])
    t.match(await rotate(keyId, key), {
      status: 403,
      body: { error: 'insufficient_scope', scope: 'keys.write' },
    })
  t.match(await rotate(without.middle['userKeyId'], key), { status: 200 }, 'itself it rotates without')

  const holder = await chainOf(['cards.read', 'keys.write'])
  const headers = { 'x-user-key': holder.middle['userApiKey'] as string }
  t.match(await rotate(holder.leaf['userKeyId'], headers), { status: 200, body: { scopes: ['cards.read'] } })
})
