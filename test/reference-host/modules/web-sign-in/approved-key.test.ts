// The key of a command line: the person approves what it may do, and the web token makes no other key.
import { approvedKey, lowered } from '#packages/reference-host/dist/modules/web-sign-in/approved-key.js'
import fc from 'fast-check'
import t from 'tap'
import { bearer, newWallet, openTestHost, type HttpResponse, sessionOf } from '../../../harness/host.ts'
import { signIn } from '../../harness/web-sign-in.ts'
import { randomCases } from '../../../harness/random-cases.ts'

const host = await openTestHost(t)
const { send } = host

interface Limits {
  readonly maxAuthAmountCents?: number
  readonly dailySpendCapCents?: number
}

/** Starts a request, approves it as a person and takes its web token. */
async function approve(
  asked: object,
  { wallet = newWallet(), lowerTo }: { wallet?: ReturnType<typeof newWallet>; lowerTo?: Limits } = {},
) {
  const { body } = await send('/auth/cli/start', { body: { clientName: 'gw', ...asked } })
  const { requestToken, code, url } = body.data as Record<'requestToken' | 'code' | 'url', string>
  const requestId = url.split('#request=')[1] as string
  const shown = await send('/auth/cli/inspect', { body: { requestId } })
  const login = await signIn(send, wallet, { requestId, code, ...(lowerTo ? { lowerTo } : {}) })
  if (login.status !== 200) throw new Error(JSON.stringify(login.body))
  const polled = await send('/auth/cli/poll', { body: { requestToken } })
  const session = polled.body['session'] as { key?: object }
  return { token: polled.body['token'] as string, shown: shown.body['key'], approved: session.key, wallet }
}
const createKey = (token: string, body: object): Promise<HttpResponse> =>
  send('/identity/user-api-keys', { headers: bearer(token), body })
/** The rights of a key, as its own session reads them. */
async function rightsOf(created: HttpResponse) {
  const { userApiKey, userKeyId } = created.body.data as Record<'userApiKey' | 'userKeyId', string>
  const listed = await send('/user/v1/keys', { headers: bearer(await sessionOf(send, userApiKey)) })
  const keys = listed.body['keys'] as { id: string; policy: Limits | null }[]
  return keys.find(({ id }) => id === userKeyId)
}

const SCOPES = ['payments.write', 'keys.read', 'balances.read']
const POLICY = { dailySpendCapCents: 4000, maxAuthAmountCents: 1500, denyOperations: ['bills.*'] }

t.test('a sign-in that requests and lowers nothing binds no key', async t => {
  t.equal(approvedKey({}, undefined), undefined)
  t.equal(approvedKey({}, {}), undefined)
  t.same(approvedKey({ label: 'gw' }, {}), { label: 'gw' })
  t.same(approvedKey({}, { dailySpendCapCents: 5 }), { lowerTo: { dailySpendCapCents: 5 } })
})

t.test('an amount is the lower one of the request and of the person, or the only one', async t => {
  t.same(lowered(undefined, undefined), undefined)
  t.same(lowered({ dailySpendCapCents: 9 }, undefined), { dailySpendCapCents: 9 })
  t.same(lowered(undefined, { dailySpendCapCents: 5 }), { dailySpendCapCents: 5 })
  t.same(lowered({ dailySpendCapCents: 9, maxAuthAmountCents: 3 }, { dailySpendCapCents: 5 }), {
    dailySpendCapCents: 5,
    maxAuthAmountCents: 3,
  })
  t.same(lowered({ dailySpendCapCents: 4 }, { dailySpendCapCents: 5 }), { dailySpendCapCents: 4 })
})

t.test('the page is shown what was requested, and the key has exactly that', async t => {
  const asked = { label: 'gatewright on vm', scopes: SCOPES, policy: POLICY }
  const { token, shown, approved } = await approve(asked)
  t.same(shown, asked)
  t.same(approved, asked, 'the poll says what was approved')
  const created = await createKey(token, {})
  t.match(created, { status: 200, body: { label: 'gatewright on vm', scopes: SCOPES } })
  t.match(await rightsOf(created), { label: 'gatewright on vm', scopes: SCOPES, policy: POLICY })
})

t.test('a request without rights is shown as one for everything', async t => {
  const { token, shown, approved } = await approve({})
  t.match(shown, { label: null, policy: null })
  const { scopes } = shown as { scopes: string[] }
  t.ok(scopes.includes('withdrawals.write'))
  t.equal(approved, undefined, 'nothing binds the token')
  const created = await createKey(token, { scopes: ['cards.read'], policy: { dailySpendCapCents: 1 } })
  t.match(created, { status: 200, body: { scopes: ['cards.read'] } })
})

t.test('the program cannot name again what was approved, and may try again without it', async t => {
  const { token } = await approve({ scopes: SCOPES, policy: POLICY })
  for (const [field, value] of [
    ['scopes', ['withdrawals.write']],
    ['scopes', SCOPES],
    ['policy', {}],
  ] as const)
    t.match(await createKey(token, { [field]: value }), {
      status: 400,
      body: { error: 'invalid_request', field, message: /approved with the sign-in: leave it out/ },
    })
  t.match(await createKey(token, { label: 'mine' }), { status: 200, body: { label: 'mine', scopes: SCOPES } })
  t.match(await createKey(token, {}), { status: 401 }, 'it makes one key')
})

t.test('the token opens no console and rotates no key, and is not used up by trying', async t => {
  const wallet = newWallet()
  const owner = await signIn(send, wallet)
  const strong = await createKey(owner.body['token'] as string, {})
  const { token } = await approve({ scopes: SCOPES }, { wallet })
  const blocked = { status: 403, body: { error: 'policy_blocked', rule: 'approved_key' } }
  t.match(await send('/auth/console', { method: 'POST', headers: bearer(token) }), blocked)
  const rotation = `/user/v1/keys/${String(strong.body['userKeyId'])}/rotate`
  t.match(await send(rotation, { headers: bearer(token), body: {} }), blocked)
  t.match(await createKey(token, {}), { status: 200 })
})

t.test('a misspelt right, an unknown scope and a wrong policy start nothing', async t => {
  for (const [body, field] of [
    [{ polcy: POLICY }, 'polcy'],
    [{ scope: SCOPES }, 'scope'],
    [{ scopes: ['payment.write'] }, 'scopes'],
    [{ policy: { dailySpendCapCents: -1 } }, 'policy.dailySpendCapCents'],
    [{ policy: { dailySpendCap: 1 } }, 'policy.dailySpendCap'],
    [{ policy: { denyOperations: Array.from({ length: 250 }, () => 'cards.simulateRefund') } }, 'policy'],
    [{ label: '' }, 'label'],
  ] as const) {
    const { status, body: answer } = await send('/auth/cli/start', { body })
    t.match({ status, ...answer }, { status: 400, error: 'invalid_request', field }, field)
  }
  const alone = await send('/auth/challenge', {
    body: { address: newWallet().address, lowerTo: { dailySpendCapCents: 1 } },
  })
  t.match(alone, { status: 400, body: { field: 'lowerTo' } })
})

t.test('a key spends at most what was requested, what the person lowered and what came later', async t => {
  const amount = fc.option(fc.nat(5000), { nil: undefined })
  const limits = fc
    .record({ maxAuthAmountCents: amount, dailySpendCapCents: amount })
    .map(given => JSON.parse(JSON.stringify(given)) as Limits)
  const maybe = fc.option(limits, { nil: undefined })
  const property = fc.asyncProperty(maybe, maybe, maybe, async (requested, lowerTo, later) => {
    const { token } = await approve(requested ? { policy: requested } : {}, lowerTo ? { lowerTo } : {})
    const named = await createKey(token, later ? { policy: later } : {})
    if (requested && later) return t.equal(named.status, 400)
    const policy = (await rightsOf(named))?.policy ?? {}
    const all = [requested, lowerTo, later]
    for (const name of ['maxAuthAmountCents', 'dailySpendCapCents'] as const) {
      const given = all.flatMap(each => each?.[name] ?? [])
      t.equal(policy[name], given.length === 0 ? undefined : Math.min(...given), name)
    }
  })
  await fc.assert(property, { numRuns: randomCases(24) })
})
