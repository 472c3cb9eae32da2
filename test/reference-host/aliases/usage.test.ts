import t from 'tap'
import { gatewright, jsonOf } from '../../harness/gatewright.ts'
import { bearer, bootstrapUser, startTestHost } from '../../harness/host.ts'
import { temporaryFolder } from '../../harness/files.ts'

const dataDir = temporaryFolder(t)
const aliases = async (verb: string): Promise<unknown> =>
  jsonOf(await gatewright(['aliases', verb, '--json'], { DATA_DIR: dataDir }))

t.test(
  'counts legacy names under the key that used them, and keeps the counts after the host stops',
  async t => {
    const host = await startTestHost({ DATA_DIR: dataDir })
    const user = await bootstrapUser(host.send)
    const mint = (path: string, headers: Record<string, string>) => host.send(path, { body: {}, headers })
    for (let round = 0; round < 3; round++)
      await mint('/consumer/v1/sessions', { 'x-consumer-key': user.key })
    const id = host.decisions.at(-1)!.keyId as string
    await mint('/user/v1/sessions', { 'x-user-key': user.key })
    await mint('/consumer/v1/sessions', { 'x-consumer-key': 'junk' })
    await host.send('/consumer/v1/nothing')
    const narrow = await bootstrapUser(host.send, { sessionScopes: ['cards.read'] })
    const denied = await host.send('/consumer/v1/subscriptions/payin', {
      body: {},
      headers: bearer(narrow.token),
    })
    t.equal(denied.status, 403)
    t.match(denied.headers.get('deprecation'), /^@\d+$/, 'denials say it too')
    t.match(denied.headers.get('link'), '</user/v1/subscriptions/payin>; rel="successor-version"')
    await host.close()

    const report = (await aliases('report')) as {
      aliases: { id: string; users: { principal: string; count: number }[] }[]
    }
    const usersOf = (alias: string) =>
      Object.fromEntries(
        report.aliases
          .find(({ id }) => id === alias)!
          .users.map(({ principal, count }) => [principal, count]),
      )
    t.same(usersOf('prefix:/consumer/v1'), { [id]: 3, [narrow.key.split('_')[3] as string]: 1, anonymous: 2 })
    t.same(usersOf('header:x-consumer-key'), { [id]: 3, anonymous: 1 })
    t.same(usersOf('prefix:/identity/consumer-api-keys'), {}, 'an unused name is listed too')
  },
)

t.test('counts scopes, and adds to what is stored', async t => {
  const host = await startTestHost({ DATA_DIR: dataDir })
  await host.send('/consumer/v1/nothing')
  const proof = { address: 'x', signature: 'x', nonce: 'x', issuedAt: 'x', expiresAt: 'x' }
  const { headers: responded } = await host.send('/user/v1/bootstrap', {
    body: { ...proof, scopes: ['deposits-swapped.read'] },
  })
  t.match(responded.get('deprecation'), /^@\d+$/)
  await host.close()
  const report = (await aliases('report')) as { aliases: { id: string; count: number }[] }
  const counts = new Map(report.aliases.map(({ id, count }) => [id, count]))
  t.equal(counts.get('scope:user:deposits-swapped.read'), 1)
  t.equal(counts.get('prefix:/consumer/v1'), 7)
})

t.test(
  'lists names past their sunset date: none of the shipped table, which has no sunset dates',
  async t => {
    t.same(await aliases('due'), [])
  },
)
