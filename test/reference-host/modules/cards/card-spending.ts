// What a caller can spend with all the cards that it may reveal, its own policies allow it to spend.
import type { Session } from '@gatewright/kernel'
import type { ManualClock } from '@gatewright/kernel/testing'
import { createGuard, type Guard } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import type { ApiKey, Issuer, IssuerOptions } from '@gatewright/session-issuer'
import fc from 'fast-check'
import * as internals from '../../../harness/internals.ts'
import { newKey, newSession, OWNER, setUp } from '../../../session-issuer/fixtures.ts'

type Policies = Awaited<ReturnType<typeof internals.cardPolicies>>
type Origin = Awaited<ReturnType<typeof internals.originOf>>

const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 30, 18)

const operations = fc.constantFrom(['cards.*'], ['cards.authorize'], ['bills.pay'], ['bills.pay', 'cards.*'])
const cents = fc.integer({ min: 0, max: 40 })
const instant = fc.integer({ min: 0, max: 30 }).map(hours => new Date(START + hours * HOUR).toISOString())
const limit = fc.oneof(
  fc.record({ operations, window: fc.constantFrom('operation', 'day', 'total'), maxCents: cents }),
  fc.record({
    operations,
    window: fc.constantFrom('day', 'month'),
    maxCount: fc.integer({ min: 0, max: 4 }),
  }),
)
const MERCHANT = { name: 'Books', mcc: '5942', city: null, country: 'DE' }
const payees = fc.subarray(['merchant:Books', 'mcc:5411', 'country:DE'])
const members = fc.record({
  maxAuthAmountCents: cents,
  dailySpendCapCents: cents,
  dailyWithdrawalCapCents: cents,
  notBefore: instant,
  notAfter: instant,
  denyOperations: operations,
  allowOperations: operations,
  limits: fc.array(limit, { minLength: 1, maxLength: 2 }),
  payees,
  denyPayees: payees,
  allowedIps: fc.constant(['192.0.2.1']),
  allowCardSecrets: fc.boolean(),
})
/** A policy with few members, so that most cards can pay, and caps are met by few payments. */
const policy = members.chain(all =>
  fc
    .subarray(Object.keys(all) as (keyof typeof all)[], { maxLength: 2 })
    // A policy that ends before it begins is denied when it is written.
    .filter(names => all.notBefore < all.notAfter || names.every(name => name !== 'notBefore'))
    .map((names): object => Object.fromEntries(names.map(name => [name, all[name]]))),
)

const pick = fc.nat({ max: 50 })
/** A step that makes or changes keys, sessions and cards. `policy` picks of the few policies of a run, so that equal ones meet. */
const step = fc.oneof(
  fc.record({ do: fc.constant('key below a key' as const), by: pick, policy: pick }),
  fc.record({ do: fc.constant('key below a session' as const), by: pick, policy: pick }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('session' as const), by: pick, policy: pick }) },
  fc.record({ do: fc.constant('session of a session' as const), by: pick, policy: pick }),
  { weight: 4, arbitrary: fc.record({ do: fc.constant('card' as const), by: pick, policy: pick }) },
  fc.record({ do: fc.constant('replace a policy' as const), by: pick, policy: pick }),
  fc.record({ do: fc.constant('narrow itself' as const), by: pick, policy: pick }),
  fc.record({ do: fc.constant('rotate' as const), by: pick, policy: pick }),
  fc.record({ do: fc.constant('end a key' as const), by: pick, policy: pick }),
)
const payment = fc.record({
  card: pick,
  amountCents: fc.integer({ min: 1, max: 20 }),
  hours: fc.integer({ min: 0, max: 3 }),
})
/** The arbitrary of one run. */
export const run = fc.record({
  policies: fc.array(policy, { minLength: 1, maxLength: 3 }),
  steps: fc.array(step, { minLength: 8, maxLength: 30 }),
  callers: fc.array(pick, { minLength: 1, maxLength: 6 }),
  payments: fc.array(payment, { minLength: 8, maxLength: 24 }),
  change: fc.record({ by: pick, policy: pick }),
})
type Run = typeof run extends fc.Arbitrary<infer T> ? T : never
type Payment = Run['payments'][number]

/** How often what the property is about has happened, so that a test can see that it is not empty. */
export interface SeenCounts {
  denied: number
  allowedOfOthers: number
  paid: number
  declined: number
}

/** Keys, sessions and cards of one account, made by the code that makes them in a host. */
class Account {
  readonly clock: ManualClock
  readonly issuer: Issuer
  readonly guard: Guard
  keys: ApiKey[] = []
  sessions: Session[] = []
  readonly cards: { readonly maker: string; readonly origin: Origin }[] = []
  /** The policies that each session brought beyond its key, by its id. */
  readonly brought = new Map<string, readonly object[]>()
  private readonly stored: IssuerOptions['keys']

  constructor() {
    const { issuer, clock, options } = setUp({ maxSessionTtlSeconds: 86_400 })
    this.stored = options.keys
    clock.set(START)
    this.clock = clock
    this.issuer = issuer
    this.guard = createGuard({
      issuer: 'test',
      audience: 'test',
      keys: async () => undefined,
      clock,
      failedCredentials: 'off',
    })
  }

  readonly keyPolicies = { read: (lineage: Origin['keyLineage']) => this.issuer.lineagePolicies(lineage) }

  async open(by: ApiKey | Session, document?: object): Promise<Session> {
    const policy = document === undefined ? {} : { policy: document }
    const session = await newSession(this.issuer, by, { ttlSeconds: 86_400, ...policy })
    const before = 'sessionId' in by ? (this.brought.get(by.sessionId) ?? []) : []
    this.brought.set(session.sessionId, document === undefined ? before : [...before, document])
    this.sessions.push(session)
    return session
  }

  async take(step: Run['steps'][number], policies: readonly object[]): Promise<void> {
    const of = <T>(list: readonly T[]): T => list[step.by % list.length] as T
    // One number more than there are policies: none.
    const document = policies[step.policy % (policies.length + 1)]
    const withPolicy = document === undefined ? {} : { policy: document }
    const [key, session] = [of(this.keys), of(this.sessions)]
    switch (step.do) {
      case 'key below a key':
        return this.add(await this.issuer.createKey({ ...below(key), ...withPolicy }))
      case 'key below a session':
        return this.add(await this.issuer.createKey({ ...below(session), ...withPolicy }))
      case 'session':
        return void (await this.open(key, document))
      case 'session of a session':
        return void (await this.open(session, document))
      case 'card':
        this.cards.push({
          maker: session.sessionId,
          origin: await internals.originOf(this.issuer, session),
        })
        return
      case 'replace a policy':
        await this.issuer.changeKey('operator', key.id, { policy: document ?? {} })
        return this.refresh()
      case 'narrow itself':
        await this.issuer.changeKey(session, session.keyId, { policy: document ?? {} })
        return this.refresh()
      case 'rotate':
        this.add(await this.issuer.rotateKey('operator', key.id))
        return this.refresh()
      case 'end a key':
        // The first key stays, so that there is always a caller.
        if (key.ancestry.length > 0) await this.issuer.revokeKey('operator', key.id)
        return this.refresh()
    }
  }

  private add(made: Awaited<ReturnType<Issuer['createKey']>>): void {
    if (made.ok) this.keys.push(made.value.key)
  }

  /** Keeps the keys and sessions that are live, as they are now. At least one session. */
  async refresh(): Promise<void> {
    const current = await Promise.all(this.sessions.map(each => this.issuer.isCurrent(each)))
    this.sessions = this.sessions.filter((_, index) => current[index])
    const now = this.clock.now()
    const { keys } = await this.stored.load(OWNER.accountId)
    this.keys = keys.filter(({ revokedAt, expiresAt }) => revokedAt === null && now < (expiresAt ?? Infinity))
    if (this.sessions.length === 0) await this.open(this.keys[0] as ApiKey)
  }
}

const below = (parent: ApiKey | Session) => {
  const { surface, accountId, userId, walletAddress } = parent
  return { surface, accountId, userId, walletAddress, scopes: [], parent }
}

/** Pays under policies, on counters of its own. */
function payer({ guard }: Account) {
  const counters = memorySpends()
  return async (policies: Policies, amountCents: number, id: string): Promise<boolean> => {
    const request = { id, amountCents, currency: 'USD', merchant: MERCHANT }
    const paid = await internals.reserveUnder(
      guard,
      counters,
      { accountId: OWNER.accountId, policies },
      request,
    )
    return !('reason' in paid)
  }
}

/** What a caller pays with cards that it may reveal, its own policies must allow, payment after payment. */
async function spend(
  account: Account,
  caller: Session,
  payments: readonly Payment[],
  [pay, payAlone]: readonly [ReturnType<typeof payer>, ReturnType<typeof payer>],
  seen: SeenCounts,
): Promise<void> {
  const { issuer, keyPolicies, cards, clock } = account
  const services = { issuer, cardKeyPolicies: keyPolicies }
  const revealed: Origin[] = []
  for (const { maker, origin } of cards) {
    const { ok } = await internals.checkBelowCaller(services, caller, origin)
    if (maker === caller.sessionId && !ok) throw new Error('a session may not reveal its own card')
    if (ok) revealed.push(origin)
    if (ok && maker !== caller.sessionId && caller.policyIds.length > 0) seen.allowedOfOthers += 1
    if (!ok) seen.denied += 1
  }
  if (revealed.length === 0) return
  const documents = caller.policyIds.length > 0 ? await issuer.policies(caller.policyIds) : []
  const own = caller.policyIds.map((id, index) => ({ id, document: documents[index] }))
  for (const { card, amountCents, hours } of payments) {
    clock.advance(hours * HOUR)
    const id = `payment ${clock.now()} ${Math.random()}`
    const origin = revealed[card % revealed.length] as Origin
    const paid = await pay(await internals.cardPolicies(keyPolicies, origin), amountCents, id)
    seen[paid ? 'paid' : 'declined'] += 1
    if (paid && !(await payAlone(own, amountCents, id)))
      throw new Error(`${amountCents} cents are more than the caller's own policies allow`)
  }
}

/** Plays one run: makes the tree, then lets several callers spend, before and after a change of a policy. */
export async function play(
  { policies, steps, callers, payments, change }: Run,
  seen: SeenCounts,
): Promise<void> {
  const account = new Account()
  account.keys.push((await newKey(account.issuer, [])).key)
  await account.open(account.keys[0] as ApiKey)
  for (const each of steps) await account.take(each, policies)
  const keys = account.keys.slice()
  for (const key of keys) await account.open(key)
  for (const pick of callers) {
    const caller = account.sessions[pick % account.sessions.length] as Session
    const payers = [payer(account), payer(account)] as const
    await spend(account, caller, payments, payers, seen)
    await account.take({ do: 'replace a policy', ...change }, policies)
    const again = await reopened(account, caller)
    if (again) await spend(account, again, payments, payers, seen)
    account.clock.set(START)
  }
}

/** The caller, or a new session of its key that brings the same policies; undefined if the key has ended. */
async function reopened(account: Account, caller: Session): Promise<Session | undefined> {
  if (await account.issuer.isCurrent(caller)) return caller
  const lineage = await account.issuer.lineageOf(caller.keyId)
  const key = account.keys.find(({ lineageId }) => lineageId === lineage?.lineageId)
  if (!key) return undefined
  let session = await account.open(key)
  for (const document of account.brought.get(caller.sessionId) ?? [])
    session = await account.open(session, document)
  return session
}
