import { memoryFeed, type Session, type MemoryFeed, type Verdict } from '@gatewright/kernel'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import {
  createIssuer,
  type ApiKey,
  type Issuer,
  type PolicyRecord,
  type SigningKeySet,
  type SigningKeyStorage,
  type IssuerOptions,
} from '@gatewright/session-issuer'
import type { ListPosition, SessionRequest } from '@gatewright/session-issuer/internal'
import type { CreatedKey, KeyRequest } from '#packages/session-issuer/dist/keys/create-key.js'
import { memoryCredentials } from '@gatewright/session-issuer/memory'

export const PEPPER = { id: 'p1', secret: 'x'.repeat(32) }
export const OWNER = { accountId: 'acc', userId: 'usr', walletAddress: '0xab' } as const
export const USER = { surface: 'user', ...OWNER } as const
export const DAY = 86_400_000

/** The shortest storage that passes the contract of the port. */
export function memorySigningKeys(): SigningKeyStorage {
  let set: SigningKeySet = { revision: 0, keys: [] }
  return {
    load: async () => set,
    async replace(revision, keys) {
      if (revision !== set.revision) return false
      set = { revision: revision + 1, keys }
      return true
    },
  }
}

/** Reads all pages of a list. `between` runs after each page. */
export async function allPages<P extends { readonly next: ListPosition | null }>(
  read: (after: { readonly after?: ListPosition }) => Promise<Verdict<P>>,
  between: () => Promise<unknown> = async () => {},
): Promise<P[]> {
  const pages: P[] = []
  let after: ListPosition | null | undefined
  while (after !== null) {
    const page: P = must(await read(after ? { after } : {}))
    pages.push(page)
    after = page.next
    await between()
  }
  return pages
}

export interface SetUp {
  readonly issuer: Issuer
  readonly clock: ManualClock
  readonly feed: MemoryFeed
  readonly options: IssuerOptions
}

/** An issuer with memory storage that reads its store each time, on a manual clock. */
export function setUp(changes: Partial<IssuerOptions> = {}): SetUp {
  const feed = memoryFeed()
  const clock = manualClock()
  const options: IssuerOptions = {
    issuer: 'https://gate.example',
    audience: 'https://gate.example',
    environment: 'sandbox',
    peppers: [PEPPER],
    ...memoryCredentials({ feed }),
    signingKeys: memorySigningKeys(),
    clock,
    ...changes,
  }
  return { issuer: createIssuer(options), clock, feed, options }
}

/** An issuer whose store holds other documents than it was given, such as larger ones from before there was a bound. */
export function setUpStored(stored: (document: unknown) => unknown): SetUp {
  const { keys, ...storages } = memoryCredentials({ feed: memoryFeed() })
  const policies = async (ids: readonly string[]): Promise<readonly PolicyRecord[]> =>
    (await keys.policies(ids)).map(policy => ({ ...policy, document: stored(policy.document) }))
  return setUp({ ...storages, keys: { ...keys, policies } })
}

/** The value of a verdict; throws an error with the code of a denial. */
export function must<T>(verdict: { ok: true; value: T } | { ok: false; code: string; message: string }): T {
  if (!verdict.ok) throw new Error(`${verdict.code}: ${verdict.message}`)
  return verdict.value
}

export async function newKey(
  issuer: Issuer,
  scopes: readonly string[],
  more: Partial<KeyRequest> = {},
): Promise<CreatedKey> {
  return must(await issuer.createKey({ ...USER, scopes, ...more }))
}

export async function newSession(
  issuer: Issuer,
  by: ApiKey | Session,
  request?: SessionRequest,
): Promise<Session> {
  return must(await issuer.issueSession(by, request)).session
}
