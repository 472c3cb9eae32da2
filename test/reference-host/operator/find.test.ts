// What an operator finds by whatever was told: an account, from a key, a wallet, a card, a transaction or a request.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { withoutSecret } from '../../../packages/reference-host/browser/shared/pasted-key.ts'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { bearer, bootstrapUser } from '../../harness/host.ts'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { cardUser, keyBelow } from '../harness/card-payments.ts'
import { partnerUser } from '../harness/partner.ts'
import { startOperatedHost } from '../harness/operator.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-find-'))
const stores = await hostStoresEnv()
const env = { ...stores.env, DATA_DIR: dataDir, RATE_LIMITS: 'off' }
const host = await startOperatedHost(env)
const { db, close } = openDatabaseOf(env)
t.teardown(async () => {
  await close()
  await host.close()
  await stores.drop()
  rmSync(dataDir, { recursive: true, force: true })
})
const { send } = host

interface FoundBody {
  readonly what: string
  readonly id: string
  readonly accounts: readonly { readonly accountId: string; readonly cards?: readonly { last4: string }[] }[]
  readonly requests: readonly { readonly id: string; readonly accountId: string | null }[]
}
const find = async (text: unknown): Promise<FoundBody> => {
  const { status, body } = await host.ask('/operator/api/find', { body: { text } })
  t.equal(status, 200, JSON.stringify(body))
  return body as unknown as FoundBody
}
const ids = ({ accounts }: FoundBody): readonly string[] => accounts.map(({ accountId }) => accountId)

/** An account with a card, a transaction, a refused request, and a key below that of its wallet. */
async function newOwner() {
  const { key, token, address } = await bootstrapUser(send, { sessionTtlSeconds: 86_400 })
  const user = cardUser(send, token)
  await user.fund(100_000)
  const card = await user.card()
  const read = async (path: string) => (await send(`/user/v1${path}`, { headers: bearer(token) })).body.data
  const [{ id: txn } = { id: '' }] = (await read('/transactions'))['transactions'] as { id: string }[]
  const { last4 } = ((await read('/cards'))['cards'] as { last4: string }[])[0] ?? { last4: '' }
  const refused = await user.write('/payments', { to: { walletAddress: address }, amountCents: 1 })
  const userId = ((await read('/users'))['user'] as { id: string }).id
  const requestId = refused.headers.get('x-request-id') as string
  const below = await keyBelow(send, token, {})
  return {
    key,
    token,
    address,
    user,
    card,
    txn,
    last4,
    requestId,
    userId,
    below,
    accountId: userId.replace('usr_', 'acc_'),
  }
}
const owner = await newOwner()
const keyId = owner.key.split('_')[3] as string
const secret = owner.key.split('_')[4] as string

t.test('finds an account by whatever an operator is told, and repeats no secret', async t => {
  const { key, address, accountId, userId, card, txn, last4, requestId, below } = owner
  const texts: readonly (readonly [text: string, what: string, id?: string])[] = [
    [key, 'key', keyId],
    [` ${key}\n`, 'key', keyId],
    [`X-User-Key: ${key}`, 'key', keyId],
    [`curl -H "x-user-key: ${key}" https://pay.example/`, 'key', keyId],
    [`{"userApiKey":"${key}"}`, 'key', keyId],
    [key.slice(0, key.lastIndexOf('_')), 'key', keyId],
    [`${key}x`, 'key', keyId],
    [keyId, 'key', keyId],
    [below.keyId, 'key'],
    [address, 'wallet'],
    [address.toLowerCase(), 'wallet'],
    [`0x${address.slice(2).toUpperCase()}`, 'wallet'],
    [accountId, 'account'],
    [userId, 'account'],
    [requestId, 'request'],
    [requestId.slice(0, 8), 'request'],
    [last4, 'card'],
    [`411111111111${last4}`, 'card', last4],
    [`4111 1111 1111 ${last4}`, 'card', last4],
    [card, 'card'],
    [txn, 'transaction'],
  ]
  for (const [text, what, id] of texts) {
    const found = await find(text)
    t.equal(found.what, what, what)
    if (what !== 'card' || id === undefined) t.same(ids(found), [accountId], `${what} ${text.length}`)
    else t.ok(ids(found).includes(accountId), what)
    if (id !== undefined) t.equal(found.id, id)
    if (what === 'request') t.match(found.requests, [{ id: requestId, accountId }])
    t.notOk(JSON.stringify(found).includes(secret), 'the secret of the key is not repeated')
    t.notOk(JSON.stringify(found).includes('411111'), 'no whole card number is repeated')
  }
})

t.test('finds nothing for what this host does not have, and says what it looked for', async t => {
  for (const [text, what] of [
    ['A'.repeat(16), 'request'],
    [`gw_sandbox_user_${'A'.repeat(16)}_${secret}`, 'key'],
    [`0x${'1'.repeat(40)}`, 'wallet'],
    ['acc_none', 'account'],
    ['usr_none', 'account'],
    ['card_none', 'card'],
    ['txn_none', 'transaction'],
    ['payin_none', 'transaction'],
    ['wd_none', 'transaction'],
    [randomUUID(), 'request'],
    ["' or 1=1 --", 'request'],
    ['%', 'request'],
    ['x'.repeat(512), 'request'],
  ] as const)
    t.same(
      { ...(await find(text)), id: '' },
      { what, id: '', accounts: [], more: false, requests: [] },
      text.slice(0, 20),
    )
  for (const text of [undefined, '', ' ', 7, ['x'], 'x'.repeat(513), 'a\0b'])
    t.match(await host.ask('/operator/api/find', { body: { text } }), {
      status: 400,
      body: { field: 'text' },
    })
})

t.test('lists all accounts with a card that ends in the digits', async t => {
  const other = await newOwner()
  await db.query(`update gw_cards set last4 = '0042' where id in ($1, $2)`, [owner.card, other.card])
  const found = await find('0042')
  t.same(ids(found).toSorted(), [owner.accountId, other.accountId].toSorted())
  for (const { cards } of found.accounts) t.match(cards, [{ last4: '0042', status: 'active' }])
})

t.test('finds a request without a credential, which has no account', async t => {
  const denied = await send('/user/v1/balances', { headers: bearer('nothing') })
  const id = denied.headers.get('x-request-id') as string
  t.match(await find(id), { what: 'request', accounts: [], requests: [{ id, accountId: null }] })
})

t.test('finds the account of a partner by its key, and that of its user by ids', async t => {
  const found = await find(host.partnerKey)
  t.match(found, { what: 'key', accounts: [{ kind: 'partner' }] })
  const partnerId = ids(found)[0] as string
  t.match(await find(partnerId), { what: 'account', accounts: [{ kind: 'partner', accountId: partnerId }] })
  const account = await host.ask(`/operator/api/account?id=${partnerId}`)
  t.match(account.body, { kind: 'partner', money: null, keys: [{ surface: 'partner', state: 'live' }] })
  t.notOk(JSON.stringify(account.body).includes(host.partnerKey))
  const [key] = account.body['keys'] as { id: string }[]
  t.match((await host.ask(`/operator/api/key-end?id=${key?.id}`)).body, {
    sessions: null,
    cards: null,
    payins: null,
  })
  const user = await partnerUser(host, 'ann', ['cards.read', 'cards.write'])
  await user('/partner/v1/cards')
  const accountId = host.decisions.at(-1)?.accountId as string
  t.match(await find(accountId), { accounts: [{ kind: 'user', partnerId, externalId: 'ann' }] })
})

t.test('describes an account, and what ends with each of its keys, without secrets', async t => {
  const { token, accountId, below } = await newOwner()
  const leaky = cardUser(send, below.token)
  const made = await leaky.card()
  for (const amountCents of [1000, 1163]) await leaky.write('/subscriptions/payin', { amountCents })
  const deeper = await keyBelow(send, below.token, {})
  await send(`/user/v1/keys/${deeper.keyId}`, {
    method: 'PATCH',
    body: { label: 'deep' },
    headers: bearer(token),
  })
  const { body } = await host.ask(`/operator/api/account?id=${accountId}`)
  t.match(body, {
    accountId,
    kind: 'user',
    frozenAt: null,
    money: { availableCents: 100_000, heldCents: 0 },
    moreKeys: false,
    actions: [],
    refusals: [{ operation: 'payments.create', accountId }],
  })
  t.equal((body['keys'] as unknown[]).length, 3)
  t.equal((body['cards'] as unknown[]).length, 2)
  t.match(
    (body['cards'] as { id: string }[]).find(({ id }) => id === made),
    { status: 'active', keyId: below.keyId },
  )
  const end = (await host.ask(`/operator/api/key-end?id=${below.keyId}`)).body
  t.match(end, {
    below: [{ id: deeper.keyId, label: 'deep' }],
    sessions: 2,
    cards: { count: 1, listed: [{ id: made }] },
    payins: { count: 2, cents: 2163, more: false },
  })
  const policy = { allowOperations: [] }
  const none = (await send('/user/v1/keys', { body: { policy }, headers: bearer(token) })).body['userKeyId']
  const keys = (await host.ask(`/operator/api/account?id=${accountId}`)).body['keys'] as {
    id: string
    allowsNothing: boolean
  }[]
  t.equal(keys.find(({ id }) => id === none)?.allowsNothing, true)
  t.equal(keys.find(({ id }) => id === below.keyId)?.allowsNothing, false)
  for (const path of ['account?id=acc_none', 'account', 'key-end?id=none'])
    t.match(await host.ask(`/operator/api/${path}`), { status: 404 }, path)
  const paused = { by: 'Ana', reason: 'ticket 7', keyId: below.keyId }
  t.equal((await host.ask('/operator/api/keys/pause', { body: paused })).status, 200)
  t.equal(
    (await host.ask(`/operator/api/key-end?id=${below.keyId}`)).body['sessions'],
    0,
    'paused: no session is live',
  )
})

t.test('the page sends the id of a pasted key and the last digits of a card only', t => {
  for (const around of ['', ' ', 'X-User-Key: ', '"', 'https://pay.example/?key='])
    t.equal(withoutSecret(`${around}${owner.key}${around}`), keyId)
  for (const number of ['4111111111111234', '4111 1111 1111 1234', '4111-1111-1111-1234', '378282246311234'])
    t.equal(withoutSecret(number), '1234')
  for (const text of ['1234', keyId, owner.accountId, owner.requestId, owner.address, '12345678'])
    t.equal(withoutSecret(` ${text} `), text)
  t.end()
})
