import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { gatewright, jsonOf } from '../harness/gatewright.ts'
import { bearer, bootstrapUser, newWallet, openTestHost, type HttpResponse } from '../harness/host.ts'
import { keyBelow } from './harness/card-payments.ts'
import { kycBody } from './harness/kyc.ts'
import { inlined } from '../harness/openapi.ts'
import { temporaryFolder } from '../harness/files.ts'

interface OperationDescription {
  readonly deprecated?: boolean
  readonly security: readonly Record<string, unknown>[]
  readonly requestBody?: {
    readonly content: {
      'application/json': { schema: { properties: object }; example?: Record<string, unknown> }
    }
  }
}
// The clock does not advance, so that no withdrawal is completed meanwhile.
const host = await openTestHost(t, { RATE_LIMITS: 'off' }, manualClock(Date.now()))
const published = (await host.send('/openapi.json')).body
const description = inlined(published, published)
const operations = Object.entries(
  description['paths'] as Record<string, Record<string, OperationDescription>>,
).flatMap(([path, item]) =>
  Object.entries(item).map(([method, each]) => ({ path, method: method.toUpperCase(), ...each })),
)
type Operation = (typeof operations)[number]
const guardedBy = (scheme: string): Operation[] =>
  operations.filter(({ security }) => security.flatMap(Object.keys).includes(scheme))

/** A caller's token, its ids by collection or body member, and its private texts. */
interface AccountRecords {
  readonly token: string
  readonly ids: Readonly<Record<string, string>>
  readonly texts: readonly string[]
}

/** A request to an operation: a target, and a body where it takes one. */
interface RequestTo {
  readonly path: string
  readonly body?: Record<string, unknown>
  /** Whether it names a record by an id. */
  readonly byId: boolean
  /** Where the id is. */
  readonly place: string
}

/** The most characters of an id, but for those that are sealed texts. */
const MAX_CHARACTERS = 120
const SEALED_IDS = ['proposalId', 'sessionId']

/** Body members that are ids of an account's records. */
const idMembers = ({ path, requestBody }: Operation): string[] =>
  Object.keys(requestBody?.content['application/json'].schema.properties ?? {}).filter(
    name =>
      name.endsWith('Id') &&
      !['chainId', 'nationalId'].includes(name) &&
      // Partners have no folders: what they send under this name is not read.
      !(name === 'folderId' && path.startsWith('/partner/')),
  )

/**
 * Every way to ask an operation for another account's records: each id in the path and in each id member of
 * the body. Throws for a collection or member without a known id, so that whoever adds an operation adds an
 * id to the accounts below.
 */
function requestsTo(operation: Operation, ids: AccountRecords['ids']): RequestTo[] {
  const { path, requestBody } = operation
  const example = requestBody?.content['application/json'].example ?? {}
  const body = requestBody ? { body: example } : {}
  const collections = [...path.matchAll(/([\w-]+)\/\{\w+\}/g)].map(([, collection]) => collection as string)
  for (const name of [...collections, ...idMembers(operation)]) {
    if (ids[name] === undefined) throw new Error(`${path}: no id of another caller is known for "${name}"`)
  }
  const values = Object.values(ids)
  if (collections.length > 0) {
    const short = values.filter(id => id.length <= MAX_CHARACTERS)
    const place = 'path'
    return short.map(id => ({ path: path.replaceAll(/\{\w+\}/g, id), ...body, byId: true, place }))
  }
  const named = idMembers(operation).flatMap(name =>
    values
      .filter(id => id.length <= MAX_CHARACTERS || SEALED_IDS.includes(name))
      .map(id => ({ path, body: { ...example, [name]: id }, byId: true, place: name })),
  )
  return named.length > 0 ? named : [{ path, ...body, byId: false, place: '' }]
}

/**
 * Everything that belongs to one caller and that no other caller may see: ids, key texts, tokens, addresses.
 */
function ownTexts(responses: readonly HttpResponse[]): string[] {
  const found = JSON.stringify(responses.map(({ body }) => body)).match(/"[\w.:-]{12,}"/g) ?? []
  return [...new Set(found)].filter(text => /\d/.test(text) && !/^"\d{4}-\d\d-\d\dT/.test(text))
}

/**
 * Creates a user with a key below the bootstrap key, a second session, a subscription and pay-ins, and
 * collects the ids.
 */
async function createUserRecords(): Promise<AccountRecords> {
  const user = await bootstrapUser(host.send)
  const send = (path: string, body: object): Promise<HttpResponse> =>
    host.send(path, { body, headers: { ...bearer(user.token), 'idempotency-key': 'same-for-everybody' } })
  const key = await send('/user/v1/keys', {})
  const session = await send('/user/v1/sessions', {})
  const payin = await send('/user/v1/subscriptions/payin', { amountCents: 1 })
  const bought = await send('/user/v1/subscriptions/checkout', { plan: 'basic' })
  await send('/user/v1/deposits', { amountCents: 1000 })
  const folder = await send('/user/v1/folders', { name: 'Private folder 1' })
  const card = await send('/user/v1/cards', {})
  const proposal = await send('/user/v1/cards/disposable/proposals', { amountCents: 100 })
  const secrets = await send('/user/v1/cards/secrets/session', {})
  const asset = { currency: 'usdc', network: 'base' }
  const deposit = await host.send('/user/v1/deposits', {
    body: asset,
    headers: { ...bearer(user.token), 'idempotency-key': 'another-for-everybody' },
  })
  const destination = { ...asset, address: newWallet().address }
  const withdrawal = await send('/user/v1/withdrawals', { amountCents: 100, destination })
  const idOf = ({ body }: HttpResponse, name: string): string => (body.data[name] as { id: string }).id
  const payment = await send('/user/v1/sandbox/authorizations', {
    cardId: idOf(card, 'card'),
    amountCents: 1,
  })
  const keyId = key.body['userKeyId'] as string
  await send('/user/v1/subscriptions/payin/confirm-balance', { payinId: idOf(bought, 'payin') })
  const notified = await host.send('/user/v1/notifications', { headers: bearer(user.token) })
  const [notification] = notified.body.data['notifications'] as { id: string }[]
  const referral = await host.send('/user/v1/referrals', { headers: bearer(user.token) })
  const contract = idOf(await send('/user/v1/contracts', {}), 'contract')
  const transfer = { amountCents: 100, fromContractId: null, toContractId: contract }
  const moved = await send('/user/v1/deposits/transfer', transfer)
  const bill = { payee: 'City Power', amountCents: 5, dueAt: '2030-01-01' }
  const noted = await send('/user/v1/bills', bill)
  const agent = await keyBelow(host.send, user.token, { approveAboveCents: 0 })
  const asked = await host.send(`/user/v1/bills/${idOf(noted, 'bill')}/pay`, {
    body: {},
    headers: { ...bearer(agent.token), 'idempotency-key': 'asked-by-everybody' },
  })
  const listed = await host.send('/user/v1/transactions', { headers: bearer(user.token) })
  const [transaction] = listed.body.data['transactions'] as { id: string }[]
  const ids = {
    transactions: transaction?.id as string,
    bills: idOf(noted, 'bill'),
    approvals: asked.body['approvalId'] as string,
    fromContractId: contract,
    toContractId: contract,
    subscriptions: idOf(bought, 'subscription'),
    keys: keyId,
    'user-api-keys': keyId,
    'consumer-api-keys': keyId,
    sessions: session.body['sessionId'] as string,
    onboarding: 'step-of-another',
    payins: idOf(payin, 'payin'),
    payinId: idOf(bought, 'payin'),
    subscriptionId: idOf(bought, 'subscription'),
    notifications: notification?.id as string,
    cards: idOf(card, 'card'),
    folders: idOf(folder, 'folder'),
    folderId: idOf(folder, 'folder'),
    cardId: idOf(card, 'card'),
    authorizations: idOf(payment, 'authorization'),
    proposalId: (proposal.body.data['disposable'] as { proposalId: string }).proposalId,
    sessionId: (secrets.body.data['secrets'] as { sessionId: string }).sessionId,
    deposits: idOf(deposit, 'deposit'),
    withdrawals: idOf(withdrawal, 'withdrawal'),
    requests: key.headers.get('x-request-id') as string,
  }
  return {
    token: user.token,
    ids,
    texts: ownTexts([
      key,
      session,
      payin,
      bought,
      notified,
      referral,
      card,
      folder,
      moved,
      noted,
      listed,
      payment,
      deposit,
      withdrawal,
    ]),
  }
}

t.test("no user operation shows or changes another user's records: their ids are 404", async t => {
  const [ann, bob] = [await createUserRecords(), await createUserRecords()]
  const mine = async (): Promise<unknown[]> => {
    const paths = [
      'keys',
      'sessions',
      'balances',
      'subscriptions',
      'subscriptions/payins',
      'contracts',
      'transactions',
      'payments',
      'bills',
      'approvals',
      'users',
      'identity',
      'cards',
      'folders',
      // Not withdrawals: the worker of the host moves them meanwhile.
      'deposits?scope=all',
    ]
    const get = (path: string): Promise<HttpResponse> =>
      host.send(`/user/v1/${path}`, { headers: bearer(ann.token) })
    return (await Promise.all(paths.map(get))).map(({ body }) => body.data)
  }
  const shared = ann.texts.filter(text => bob.texts.includes(text))
  t.same(shared, [], 'the same idempotency key created separate records')
  const before = await mine()
  const guarded = guardedBy('UserSessionBearer')
  t.ok(guarded.length >= 20, 'the table was read')
  for (const operation of guarded) {
    const { method } = operation
    const send = ({ path, body }: RequestTo, key: string): Promise<HttpResponse> =>
      host.send(path, {
        method,
        headers: { ...bearer(bob.token), 'idempotency-key': key },
        ...(body && method !== 'GET' ? { body } : {}),
      })
    const unknown = Object.fromEntries(Object.keys(ann.ids).map(name => [name, 'never-existed']))
    // The same request with an unknown id in the same place.
    const nevers = new Map(requestsTo(operation, unknown).map(each => [each.place, each]))
    const denials = new Map<string, HttpResponse>()
    for (const [place, never] of nevers) denials.set(place, await send(never, `never-existed-${place}`))
    for (const [n, asked] of requestsTo(operation, ann.ids).entries()) {
      const denial = denials.get(asked.place) as HttpResponse
      const response = await send(asked, asked.byId ? `bob-tries-${n}` : 'same-for-everybody')
      const where = `${method} ${asked.path}`
      const bodyText = JSON.stringify(response.body)
      t.same(
        ann.texts.filter(own => bodyText.includes(own)),
        [],
        where,
      )
      if (asked.byId)
        t.same([response.status, response.body], [404, denial.body], `${where}: as if it never was`)
    }
  }
  const { keys = '', cards = '', transactions = '', withdrawals = '' } = ann.ids
  for (const filter of [`keyId=${keys}`, `cardId=${cards}`, `id=${transactions}`, `id=${withdrawals}`]) {
    const found = await host.send(`/user/v1/transactions?${filter}`, { headers: bearer(bob.token) })
    t.same([found.status, found.body.data['transactions']], [200, []], `bob finds none by ${filter}`)
  }
  t.same(await mine(), before, 'nothing was changed')
})

t.test("no partner operation shows another partner's records, even under the same user id", async t => {
  const dataDir = temporaryFolder(t)
  const keys = [await newPartner(dataDir, 'One'), await newPartner(dataDir, 'Two')] as const
  const both = await openTestHost(t, { DATA_DIR: dataDir })

  const account = async (partnerKey: string): Promise<AccountRecords> => {
    const headers = { 'x-partner-key': partnerKey }
    const userId = 'shared-name-1'
    await both.send('/partner/v1/users/resolve', { body: { userId }, headers })
    const scopes = [
      'cards.read',
      'cards.write',
      'cards.secrets.read',
      'users.read',
      'users.write',
      'encryption.read',
      'encryption.write',
      'deposits.write',
    ]
    const open = (wanted: readonly string[]): Promise<HttpResponse> =>
      both.send('/partner/v1/sessions', { body: { userId, scopes: wanted }, headers })
    const session = await open(scopes)
    const setUp = bearer((await open(['kyc.write'])).body.data['sessionToken'] as string)
    await both.send('/partner/v1/kyc/applications', { body: kycBody('Approved'), headers: setUp })
    await both.send('/partner/v1/agreements', { body: { accepted: true }, headers: setUp })
    const deposit = await both.send('/partner/v1/deposits', {
      body: { currency: 'usdc', network: 'base' },
      headers: { ...setUp, 'idempotency-key': 'same-for-everybody' },
    })
    const token = session.body.data['sessionToken'] as string
    const cards = await both.send('/partner/v1/cards?limit=100', { headers: bearer(token) })
    const [card] = cards.body.data['cards'] as { cardId: string }[]
    const texts = ownTexts([session, cards, deposit]).filter(
      text => !text.includes(userId) && !text.startsWith('"per'),
    )
    const opened = await both.send('/partner/v1/cards/secrets/session', {
      method: 'POST',
      headers: bearer(token),
    })
    const cardId = card?.cardId as string
    const paid = await both.send('/partner/v1/sandbox/authorizations', {
      headers: { ...bearer(token), 'idempotency-key': 'payment-of-its-own' },
      body: { cardId, amountCents: 1 },
    })
    const authorization = paid.body.data['authorization'] as { id: string }
    const { id } = deposit.body.data['deposit'] as { id: string }
    const ids = {
      deposits: id,
      cards: cardId,
      cardId,
      authorizations: authorization.id,
      sessionId: opened.body.data['sessionId'] as string,
    }
    return { token, ids, texts }
  }
  const [one, two] = [await account(keys[0]), await account(keys[1])]
  t.ok(one.texts.length >= 26, 'the cards and the session were seen')
  t.same(
    one.texts.filter(text => two.texts.includes(text)),
    [],
  )
  const guarded = guardedBy('PartnerSessionBearer')
  t.ok(guarded.length >= 1, 'the table was read')
  for (const operation of guarded) {
    for (const { path, body, byId } of requestsTo(operation, one.ids)) {
      const { method } = operation
      const key = byId ? randomUUID() : 'same-for-everybody'
      const headers = { ...bearer(two.token), 'idempotency-key': key }
      const response = await both.send(path, {
        method,
        headers,
        ...(body && method !== 'GET' ? { body } : {}),
      })
      const text = JSON.stringify(response.body)
      t.same(
        one.texts.filter(own => text.includes(own)),
        [],
        `${method} ${path}`,
      )
      if (byId) t.equal(response.status, 404, `${method} ${path}`)
    }
  }
})

/** Creates a partner as the operator does, and returns its key. */
async function newPartner(dataDir: string, name: string): Promise<string> {
  const command = ['partner-keys', 'create', name, '--json']
  return jsonOf<{ key: string }>(await gatewright(command, { DATA_DIR: dataDir })).key
}
