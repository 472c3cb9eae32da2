import { createClient, GatewrightError } from '@gatewright/client'
import * as partner from '@gatewright/client/partner'
import * as user from '@gatewright/client/user'
import t from 'tap'
import { bootstrapUser, newWallet, signedBootstrap, openTestHost } from '../harness/host.ts'
import { tenCalls } from './ten-calls.ts'
import { tenResults } from './ten-results.ts'

const host = await openTestHost(t)
const { url } = host

t.test('ten calls of a client do on a host what they say', async t => {
  const { key, address } = await bootstrapUser(host.send)
  const payee = await bootstrapUser(host.send)
  t.same(await tenCalls({ url, userKey: key, payee: payee.address }), tenResults(address))
})

t.test('a wallet gets its key without a credential', async t => {
  const wallet = newWallet()
  const body = (await signedBootstrap(wallet)) as { readonly signature: string }
  const { data } = await createClient({ url }).call(user.authBootstrap, { body })
  const client = createClient({ url, credential: { token: data.sessionToken } })
  const { data: me } = await client.call(user.usersRead)
  t.equal(me.user.walletAddress, wallet.address.toLowerCase())
})

t.test('a partner resolves a user and reads for it', async t => {
  const partnerKey = host.partnerKey
  const body = { userId: 'client-test' }
  const { data } = await createClient({ url, credential: { partnerKey } }).call(partner.usersResolve, {
    body,
  })
  t.equal(data.userId, 'client-test')
  const session = { userId: data.userId, scopes: ['kyc.read'] }
  const client = createClient({ url, credential: { partnerKey, session } })
  t.match((await client.call(partner.balancesRead)).data, { balances: {} })
  const found = await client.call(partner.cardsList).catch((error: unknown) => error)
  t.match(found, { problem: { code: 'insufficient_scope', scope: 'cards.read', status: 403 } })
  t.ok(found instanceof GatewrightError)
})

t.test('a session that was revoked on the host is replaced', async t => {
  const { key } = await bootstrapUser(host.send)
  const client = createClient({ url, credential: { userKey: key } })
  await client.call(user.sessionsEnd, { params: { sessionId: 'current' }, query: {} })
  t.match((await client.call(user.balancesRead)).data.balances, [{ availableCents: 0 }])
})
