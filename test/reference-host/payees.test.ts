// Whom the holder of a key may pay, by each operation that sends money.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { bearer, openTestHost } from '../harness/host.ts'
import { keyBelow, networkEvent, networkRequest, cardUser } from './harness/card-payments.ts'
import { kycBody, WEBHOOK_SECRET } from './harness/kyc.ts'
import { moneyUser, newMoneyUser, type MoneyUser } from './harness/money.ts'
import { OUTSIDE, withdrawalBody } from './harness/transfers.ts'

const host = await openTestHost(t, {
  RATE_LIMITS: 'off',
  PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}`,
})
const { send } = host
const owner = await newMoneyUser(send)
const shop = await newMoneyUser(send)
await owner.write('/kyc/applications', kycBody('Approved'))
await owner.write('/agreements', { accepted: true })
await owner.fund(100_000)
const accountOf = ({ token }: { readonly token: string }): string => {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString())
  return (claims as { sub: string }).sub
}
const [own, shops] = [accountOf(owner), accountOf(shop)]

/** Each operation that sends money, with every name of its payee. */
const WAYS: readonly (readonly [operation: string, names: readonly string[], pay: Pay])[] = [
  [
    'payments.create',
    [`account:${shops}`, `wallet:${shop.address.toLowerCase()}`],
    user => user.write('/payments', { to: { walletAddress: shop.address }, amountCents: 100 }),
  ],
  [
    'bills.pay',
    ['biller:City Power'],
    async user => {
      const bill = { payee: 'City Power', amountCents: 100, dueAt: '2099-01-01' }
      const noted = await owner.write('/bills', bill)
      const { id } = noted.body.data['bill'] as { id: string }
      return user.write(`/bills/${id}/pay`, {})
    },
  ],
  [
    'withdrawals.create',
    [`address:base:${OUTSIDE}`],
    user =>
      user.write('/withdrawals', withdrawalBody(2500, { address: OUTSIDE.toUpperCase().replace('X', 'x') })),
  ],
  [
    'subscriptions.payin',
    [`account:${own}`],
    user => user.write('/subscriptions/payin', { amountCents: 100 }),
  ],
  [
    'subscriptions.checkout',
    ['plan:basic'],
    user => user.write('/subscriptions/checkout', { plan: 'basic' }),
  ],
]
type Pay = (user: MoneyUser) => ReturnType<MoneyUser['write']>

const withPolicy = async (policy: object): Promise<MoneyUser> => {
  const opened = await send('/user/v1/sessions', { body: { policy }, headers: { 'x-user-key': owner.key } })
  const { sessionToken: token } = opened.body as unknown as { sessionToken: string }
  return moneyUser(send, { token })
}
const blocked = (rule: string): object => ({ status: 403, body: { error: 'policy_blocked', rule } })

for (const [operation, names, pay] of WAYS)
  void t.test(
    `${operation} pays whom a policy allows, by any name of the payee, and nobody else`,
    async t => {
      for (const name of names) {
        t.match(
          await pay(await withPolicy({ payees: ['country:FR', name] })),
          { status: 200 },
          `only ${name}`,
        )
        t.match(await pay(await withPolicy({ denyPayees: [name] })), blocked('denyPayees'), `never ${name}`)
      }
      const refused = await pay(await withPolicy({ payees: ['country:FR'] }))
      t.match(refused, blocked('payees'))
      t.match(refused.body, { payee: names.length === 1 ? names[0] : names })
      t.match(await pay(await withPolicy({ denyPayees: ['country:FR'] })), { status: 200 })
    },
  )

t.test('a card pays whom the policies of its key allow, by name, category and country', async t => {
  const paid = async (policy: object): Promise<unknown> => {
    const { token } = await keyBelow(send, owner.token, policy)
    const cardId = await cardUser(send, token).card()
    const data = networkRequest(cardId)
    const { body } = await networkEvent(send, { type: 'authorization.request', data })
    return (body.data['decision'] as { declineReason: string | null }).declineReason
  }
  for (const name of ['merchant:Corner Shop', 'mcc:5411', 'country:US']) {
    t.equal(await paid({ payees: [name] }), null, `only ${name}`)
    t.equal(await paid({ denyPayees: [name] }), 'policy_blocked', `never ${name}`)
  }
  t.equal(await paid({ payees: ['country:DE'] }), 'policy_blocked')
})

t.test('a key below another pays only whom both allow', async t => {
  const parent = await keyBelow(send, owner.token, { payees: [`account:${shops}`] })
  const child = await keyBelow(send, parent.token, { payees: [`account:${shops}`, 'plan:basic'] })
  const user = moneyUser(send, child)
  t.match(await user.write('/payments', { to: { walletAddress: shop.address }, amountCents: 1 }), {
    status: 200,
  })
  t.match(await user.write('/subscriptions/checkout', { plan: 'basic' }), blocked('payees'))
})

t.test('refuses a policy that lists a payee in a spelling that would match nothing', async t => {
  const wallet = `wallet:0x${'aB'.repeat(20)}`
  for (const [name, message] of [
    ['shop', /must begin with one of account:, wallet:/],
    ['constructor:x', /must begin with one of/],
    [wallet, /lower case/],
    ['account:shop', /acc_/],
    ['address:base', /address:NETWORK:ADDRESS/],
    ['address:base:0xAB', /lower case/],
    ['address:Base:0xab', /lower case/],
    ['mcc:54', /4 digits/],
    ['country:de', /2 capital letters/],
    ['plan:', /plan/],
  ] as const)
    for (const member of ['payees', 'denyPayees']) {
      const body = { policy: { [member]: ['country:DE', name] } }
      const made = await send('/user/v1/keys', { body, headers: bearer(owner.token) })
      t.match(made, {
        status: 400,
        body: { error: 'invalid_request', field: `policy.${member}[1]`, message },
      })
    }
  const body = { policy: { payees: [wallet.toLowerCase(), 'address:bitcoin:bc1qAbC', 'biller:City: Power'] } }
  t.match(await send('/user/v1/keys', { body, headers: bearer(owner.token) }), { status: 200 })
})

t.test('an access request may name a payee, and without one it is blocked by a list of payees', async t => {
  const { keyId } = await keyBelow(send, owner.token, { payees: ['country:DE'] })
  const evaluate = (properties: object) =>
    send('/access/v1/evaluation', {
      headers: bearer(owner.token),
      body: {
        subject: { type: 'key', id: keyId },
        action: { name: 'payments.create', properties: { amountCents: 1, ...properties } },
        resource: { type: 'account', id: own },
      },
    })
  t.match((await evaluate({ payee: ['country:DE'] })).body, { decision: true })
  t.match((await evaluate({ payee: ['merchant:m', 'country:DE'] })).body, { decision: true })
  const rules = [{ rule: 'payees', outcome: 'blocks', binds: true }]
  t.match((await evaluate({ payee: ['country:FR'] })).body, { decision: false, context: { rules } })
  t.match((await evaluate({})).body, { decision: false, context: { rules } })
  for (const [payee, field] of [
    ['country:DE', 'payee'],
    [[], 'payee'],
    [['country:DE', ''], 'payee.1'],
  ] as const)
    t.match(await evaluate({ payee }), { status: 400, body: { field: `action.properties.${field}` } })
})

t.test('the requests of a refused payment say whom it would have paid, and decide again with it', async t => {
  const key = await keyBelow(send, owner.token, { payees: ['country:DE'] })
  const requestId = randomUUID()
  await send('/user/v1/payments', {
    body: { to: { walletAddress: shop.address }, amountCents: 5 },
    headers: { ...bearer(key.token), 'idempotency-key': requestId },
  })
  const listed = await owner.read(`/requests?keyId=${key.keyId}`)
  const [request] = listed.body.data['requests'] as { id: string }[]
  const { body } = await owner.read(`/requests/${request?.id}`)
  t.match(JSON.stringify(body), new RegExp(`account:${shops}`))
  t.match(body.data, { now: { allowed: false, rule: 'payees' } })
})
