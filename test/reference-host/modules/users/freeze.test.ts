// What an operator stops in an incident: an account, and a key.
import { randomUUID } from 'node:crypto'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import t from 'tap'
import {
  bearer,
  bootstrapUser,
  newWallet,
  signedBootstrap,
  type HttpResponse,
} from '../../../harness/host.ts'
import { cardUser, keyBelow } from '../../harness/card-payments.ts'
import * as internals from '../../../harness/internals.ts'
import { openAtOnce } from '../../harness/at-once.ts'
import { partnerUser } from '../../harness/partner.ts'
import { startOperatedHost, type OperatorResponse } from '../../harness/operator.ts'

const host = await startOperatedHost({ RATE_LIMITS: 'off' })
t.teardown(() => host.close())
const { send } = host

const NOTE = { by: 'Ana', reason: 'ticket 7' }
const act = (path: string, body: object): Promise<OperatorResponse> =>
  host.ask(`/operator/api/${path}`, { body: { ...NOTE, ...body } })
const LOCKED = {
  status: 403,
  body: { error: 'policy_blocked', rule: 'account_locked', message: /operator has frozen it/ },
}
const PAUSED = { status: 403, body: { error: 'policy_blocked', rule: 'key_paused' } }

/** An account with money, a key below that of its wallet, and a card of each. */
async function newOwner() {
  const wallet = newWallet()
  const { key, token } = await bootstrapUser(send, { sessionTtlSeconds: 86_400 }, undefined, wallet)
  const user = cardUser(send, token)
  await user.fund(100_000)
  const cardId = await user.card()
  const write = (path: string, body: object = {}, method = 'POST'): Promise<HttpResponse> =>
    send(`/user/v1${path}`, {
      method,
      body,
      headers: { ...bearer(token), 'idempotency-key': randomUUID() },
    })
  const read = async (path: string) => (await send(`/user/v1${path}`, { headers: bearer(token) })).body.data
  const me = (await read('/users'))['user'] as { readonly id: string }
  const accountId = me.id.replace(/^usr_/, 'acc_')
  const keyId = key.split('_')[3] as string
  return { wallet, key, keyId, token, user, cardId, accountId, write, read }
}

/** Repeats a request until a session of a changed key is no longer accepted: a host may accept it for a second. */
async function untilEnded(ask: () => Promise<HttpResponse>): Promise<HttpResponse> {
  for (;;) {
    const response = await ask()
    if (response.status !== 200) return response
    await new Promise(resolve => setImmediate(resolve))
  }
}

const account = async (id: string) => (await host.ask(`/operator/api/account?id=${id}`)).body

type Owner = Awaited<ReturnType<typeof newOwner>>

/** Writes with an idempotency key by which nothing leaves an account. */
const STAY: Readonly<Record<string, string>> = {
  'subscriptions.payin': 'asks for money from outside',
  'subscriptions.checkout': 'asks for money from outside',
  'subscriptions.confirm': 'names a payment on a chain',
  'subscriptions.cancel': 'ends something',
  'subscriptions.simulatePayment': 'money from outside',
  'contracts.create': 'a place for the own money',
  'deposits.transfer': 'between places of the own money',
  'bills.create': 'notes a bill',
  'cards.simulateClearing': 'settles what was authorized before',
  'cards.simulateReversal': 'money comes back',
  'cards.simulateRefund': 'money comes back',
  'cards.change': 'locks; what unlocks or loosens a card has the requirements of a new one',
  'cards.propose': 'makes nothing until it is executed',
  'cards.cancel': 'ends something',
  'folders.create': 'no money',
  'deposits.create': 'money from outside',
  'deposits.simulate': 'money from outside',
}

/** The operations of users with an idempotency key that are neither among these nor in `STAY`. */
async function uncovered(ways: readonly string[]): Promise<readonly string[]> {
  const { body } = await send('/openapi.json')
  const paths = Object.entries(body['paths'] as Record<string, Record<string, DescribedOperation>>)
  const keyed = paths.flatMap(([path, methods]) =>
    Object.values(methods).filter(
      ({ parameters = [] }) =>
        path.startsWith('/user/') &&
        parameters.some(({ $ref, name }) => /idempotency-?key/i.test($ref ?? name ?? '')),
    ),
  )
  return [...new Set(keyed.map(({ operationId }) => operationId.replace('_', '.')))].filter(
    id => !ways.includes(id) && !(id in STAY),
  )
}
interface DescribedOperation {
  readonly operationId: string
  readonly parameters?: readonly { readonly name?: string; readonly $ref?: string }[]
}

const payee = newWallet()
await bootstrapUser(send, {}, undefined, payee)

/** Every way in which money leaves an account or it makes something that can spend, each with a valid request. */
async function waysOut({ user, cardId, write, key, wallet }: Owner) {
  const bill = (
    (await write('/bills', { payee: 'City Power', amountCents: 100, dueAt: '2030-01-01' })).body.data[
      'bill'
    ] as { id: string }
  ).id
  const payin = (await write('/subscriptions/checkout', { plan: 'basic' })).body.data['payin'] as {
    id: string
  }
  const proposal = (await write('/cards/disposable/proposals', { amountCents: 100 })).body.data[
    'disposable'
  ] as {
    proposalId: string
  }
  const secrets = (await write('/cards/secrets/session')).body.data['secrets'] as { sessionId: string }
  const asStatus = async (authorization: ReturnType<typeof user.pay>) => {
    const { status, declineReason } = await authorization
    return {
      status: status === 'authorized' ? 200 : 403,
      body: { rule: declineReason },
    } as unknown as HttpResponse
  }
  const ways: Readonly<Record<string, () => Promise<HttpResponse>>> = {
    'payments.create': () => write('/payments', { to: { walletAddress: payee.address }, amountCents: 100 }),
    'withdrawals.create': () =>
      write('/withdrawals', {
        amountCents: 2000,
        destination: { currency: 'usdc', network: 'base', address: newWallet().address },
      }),
    'bills.pay': () => write(`/bills/${bill}/pay`),
    'subscriptions.confirmBalance': () =>
      write('/subscriptions/payin/confirm-balance', { payinId: payin.id }),
    'cards.create': () => write('/cards'),
    'cards.execute': () => write('/cards/disposable/execute', { proposalId: proposal.proposalId }),
    'cards.reveal': () => write(`/cards/${cardId}/secrets`, { sessionId: secrets.sessionId }),
    'cards.simulateAuthorization': () => asStatus(user.pay(cardId)),
    'keys.create': () => write('/keys', { scopes: ['users.read'] }),
    'keys.rotate': () =>
      send(`/user/v1/keys/${key.split('_')[3]}/rotate`, { body: {}, headers: { 'x-user-key': key } }),
    'auth.bootstrap': async () => send('/user/v1/bootstrap', { body: await signedBootstrap(wallet) }),
  }
  return ways
}

t.test(
  'nothing leaves a frozen account, by any operation; after it is unfrozen all is as before',
  async t => {
    const owner = await newOwner()
    const ways = await waysOut(owner)
    t.same(
      await uncovered(Object.keys(ways)),
      [],
      'each operation with an idempotency key is here, or moves nothing out',
    )
    const balance = async () => ((await owner.read('/balances'))['balances'] as unknown[]).at(0)
    const before = await balance()
    t.same(await act('accounts/freeze', { accountId: owner.accountId }).then(({ body }) => body), {
      accountId: owner.accountId,
      frozen: true,
    })
    t.match(await act('accounts/freeze', { accountId: owner.accountId }), { status: 200 }, 'a repeat')
    for (const [name, way] of Object.entries(ways)) {
      const response = await way()
      t.equal(response.status, 403, name)
      t.equal(response.body['rule'] ?? 'account_locked', 'account_locked', name)
    }
    t.match(await ways['payments.create']?.(), LOCKED)
    t.match(await owner.read('/users'), { user: { frozenAt: /^\d{4}-.*Z$/ } }, 'the owner is told')
    t.same(await balance(), before)
    await act('accounts/unfreeze', { accountId: owner.accountId })
    const { rows: said } = await owner.read('/audit?action=account.freeze,account.unfreeze')
    t.match(said, [
      { text: 'The operator let the account pay again.', by: 'operator' },
      { text: 'The operator froze the account: nothing leaves it.', by: 'operator' },
    ])
    t.equal((said as unknown[]).length, 2, 'the repeat changed nothing')
    t.match(await owner.read('/users'), { user: { frozenAt: null } })
    for (const [name, way] of Object.entries(ways)) t.equal((await way()).status, 200, name)
  },
)

t.test('a frozen account reads, signs in, locks, ends and revokes, and money arrives', async t => {
  const { wallet, key, accountId, user, cardId, read, write, token } = await newOwner()
  const child = await keyBelow(send, token, {})
  const paid = await user.pay(cardId, { amountCents: 700 })
  const payin = (await write('/subscriptions/payin', { amountCents: 500 })).body.data['payin'] as {
    id: string
  }
  await act('accounts/freeze', { accountId })
  const balance = await user.balance()
  for (const path of ['/balances', '/transactions', '/cards', '/keys', '/sessions', '/payments', '/bills'])
    t.ok(await read(path), path)
  const minted = await send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })
  t.equal(minted.status, 200, 'reads need sessions')
  t.match(await write(`/cards/${cardId}`, { status: 'locked' }, 'PATCH'), { status: 200 })
  t.match(await write(`/cards/${cardId}`, { status: 'active' }, 'PATCH'), LOCKED)
  t.match(await write(`/keys/${child.keyId}`, { revoke: true }, 'PATCH'), { status: 200 })
  t.match(await user.fund(300), { status: 200 })
  t.match(await write(`/sandbox/payins/${payin.id}/settle`), { status: 200 })
  t.equal(await user.balance(), balance + 800)
  const cleared = await user.later(paid.id, 'clear')
  t.match(cleared.body.data['authorization'], { status: 'cleared', clearedCents: 700 }, 'authorized before')
  t.match(await send('/user/v1/bootstrap', { body: await signedBootstrap(wallet) }), LOCKED)
})

t.test('a frozen user of a partner is denied with the words that partner clients search for', async t => {
  const userId = randomUUID()
  const user = await partnerUser(host, userId, ['cards.read', 'cards.write'])
  t.equal((await user('/partner/v1/cards')).status, 200)
  const accountId = host.decisions.at(-1)?.accountId as string
  await act('accounts/freeze', { accountId })
  const headers = { 'idempotency-key': randomUUID() }
  t.match(await user('/partner/v1/cards', { body: {}, headers }), {
    status: 409,
    body: { error: 'invalid_state', message: /^account locked: the operator has frozen it/ },
  })
  t.match(await user('/partner/v1/cards'), { status: 200 })
})

t.test('what runs while an account is frozen has ended before, or is denied', async t => {
  const { accountId, user } = await newOwner()
  for (let round = 0; round < 3; round++) {
    const pay = () => user.write('/payments', { to: { walletAddress: payee.address }, amountCents: 1 })
    const payments: Promise<HttpResponse>[] = []
    const running = Array.from({ length: 6 }, async () => {
      for (let n = 0; n < 4; n++) {
        const payment = pay()
        payments.push(payment)
        await payment
      }
    })
    await payments[round]
    t.match(await act('accounts/freeze', { accountId }), { status: 200 })
    const balance = await user.balance()
    t.match(await pay(), LOCKED, 'what begins later is denied')
    await Promise.all(running)
    const statuses = (await Promise.all(payments)).map(({ status }) => status)
    t.ok(
      statuses.every(status => status === 200 || status === 403),
      statuses.join(),
    )
    t.equal(await user.balance(), balance, 'nothing left after the freeze was answered')
    t.match(await act('accounts/unfreeze', { accountId }), { status: 200 })
    t.equal((await pay()).status, 200)
  }
})

for (const first of ['payment', 'freeze'] as const)
  t.test(`on Postgres, if the ${first} is first, the other waits for it`, async t => {
    const { db, second, untilBlocked, addAccount } = await openAtOnce(t)
    const accountId = await addAccount(0)
    const isLocked = (on: SqlClient) => on.transaction(tx => internals.isAccountLocked(tx, accountId))
    let later: Promise<unknown> | undefined
    if (first === 'payment') {
      await db.transaction(async tx => {
        t.equal(await internals.isAccountLocked(tx, accountId), false)
        t.equal(await isLocked(second), false, 'payments do not wait for each other')
        later = internals.freezeAccount(second, accountId, { now: 1 })
        await untilBlocked(later)
        await internals.lockAccount(tx, accountId)
      })
      t.equal(await later, true)
      t.equal(await isLocked(db), true)
    } else {
      await db.transaction(async tx => {
        await rows(tx, 'select 1 from gw_users where account_id = $1 for update', [accountId])
        await rows(tx, 'update gw_users set frozen_at = 1 where account_id = $1', [accountId])
        later = isLocked(second)
        await untilBlocked(later)
      })
      t.equal(await later, true)
    }
  })

t.test('a paused key, its sessions, keys below and cards do nothing until it is resumed', async t => {
  const { token, user, read } = await newOwner()
  const leaked = await keyBelow(send, token, {})
  const below = await keyBelow(send, leaked.token, {})
  const card = await cardUser(send, leaked.token).card()
  t.equal((await user.pay(card)).status, 'authorized')
  const balances = (by: { token: string }) => send('/user/v1/balances', { headers: bearer(by.token) })
  t.match(await act('keys/pause', { keyId: leaked.keyId }), {
    status: 200,
    body: { key: { id: leaked.keyId, state: 'paused', pauses: [{ by: 'operator' }] } },
  })
  for (const each of [leaked, below]) t.match(await untilEnded(() => balances(each)), PAUSED)
  t.match(await user.pay(card), { status: 'declined', declineReason: 'policy_blocked' })
  t.match(
    await send(`/user/v1/keys/${leaked.keyId}/resume`, { method: 'POST', headers: bearer(token) }),
    PAUSED,
  )
  const listed = (await read('/keys'))['keys'] as { readonly pauses: readonly unknown[] }[]
  t.same(
    listed.map(({ pauses }) => pauses.length),
    [1, 1, 0],
    'newest first',
  )
  t.match(await act('keys/resume', { keyId: leaked.keyId }), {
    status: 200,
    body: { key: { state: 'live' } },
  })
  t.equal((await user.pay(card)).status, 'authorized')
  t.match(await balances(leaked), { status: 401 }, 'its clients mint new sessions')
})

t.test('the owner pauses and resumes a key, and not one that the operator has paused', async t => {
  const { token, keyId } = await newOwner()
  const child = await keyBelow(send, token, {})
  const change = (verb: string, id: string, by = token) =>
    send(`/user/v1/keys/${id}/${verb}`, { method: 'POST', headers: bearer(by) })
  t.match(await change('pause', child.keyId), { status: 200, body: { pauses: [{ by: 'owner' }] } })
  t.match(await change('resume', child.keyId), { status: 200, body: { pauses: [] } })
  await act('keys/pause', { keyId: child.keyId })
  t.match(await change('pause', child.keyId), { status: 200, body: { pauses: [{ by: 'operator' }] } })
  t.match(await change('resume', child.keyId), PAUSED)
  t.match(await change('pause', 'A'.repeat(16)), { status: 404 })
  t.match(await change('resume', keyId), { status: 403, body: { rule: 'key_authority' } })
})

t.test('what an operator does needs who and why, and the audit keeps both', async t => {
  const { token, accountId } = await newOwner()
  const child = await keyBelow(send, token, {})
  const targets = [
    ['accounts/freeze', { accountId }, 'frozen'],
    ['accounts/unfreeze', { accountId }, 'unfrozen'],
    ['keys/pause', { keyId: child.keyId }, child.keyId],
    ['keys/resume', { keyId: child.keyId }, child.keyId],
    ['keys/revoke', { keyId: child.keyId }, child.keyId],
  ] as const
  for (const [path, target] of targets)
    for (const [field, value] of [
      ['by', undefined],
      ['by', ' '],
      ['by', 7],
      ['by', 'x'.repeat(201)],
      ['reason', undefined],
      ['reason', ''],
      ['reason', 'a\0b'],
      ['reason', 'x'.repeat(1001)],
    ] as const)
      t.match(
        await act(path, { ...target, [field]: value }),
        { status: 400, body: { error: 'invalid_request', field } },
        `${path} ${field} ${String(value).length}`,
      )
  t.same((await account(accountId))['actions'], [], 'nothing was done')
  for (const [path, target, words] of targets) {
    t.match(await act(path, { ...target, reason: 'ticket 7\nand a call' }), { status: 200 }, path)
    const [latest] = (await account(accountId))['actions'] as { command: string; detail: string }[]
    t.equal(latest?.command, path.replace('/', ' '))
    t.equal(latest?.detail, `${words} by Ana: ticket 7 and a call`)
  }
})

t.test('the operator listener says what is wrong with an id', async t => {
  for (const [path, body, status, field] of [
    ['accounts/freeze', {}, 400, 'accountId'],
    ['accounts/freeze', { accountId: 'acc_none' }, 404],
    ['accounts/unfreeze', { accountId: 'x'.repeat(121) }, 400, 'accountId'],
    ['keys/pause', { keyId: 1 }, 400, 'keyId'],
    ['keys/pause', { keyId: 'A'.repeat(16) }, 404],
    ['keys/resume', { keyId: 'A'.repeat(16) }, 404],
    ['keys/revoke', { keyId: 'A'.repeat(16) }, 404],
    ['keys/revoke', { keyId: 'A'.repeat(16), cards: 'Lock' }, 400, 'cards'],
  ] as const) {
    const response = await act(path, body)
    t.match(
      response,
      { status, body: field === undefined ? {} : { field } },
      `${path} ${JSON.stringify(body)}`,
    )
  }
})
