// The complete adapter of docs/adapters/keys-and-sessions.md, over one document with compare-and-set. Runs the suites of its port.
import { createHash } from 'node:crypto'
import { Fault, FEED_RETENTION_MS, GRACE_MS, keyDigest, malformedReply, orFault } from '@gatewright/kernel'
import type { FeedChange, FeedEntry } from '@gatewright/kernel'
import { collectTests, type FaultyStorage } from '@gatewright/kernel/testing'
import type {
  AuditEntry,
  IssuerStorage,
  KeyPolicyRecord,
  KeyRecord,
  PolicyRecord,
  SessionRecord,
  SigningKeySet,
  SigningKeyStorage,
} from '@gatewright/session-issuer'
import {
  auditContract,
  keyStorageContract,
  keyStorageFaults,
  sessionStorageContract,
  sessionStorageFaults,
  signingKeyStorageContract,
} from '@gatewright/session-issuer/testing'

/** One document with a version, in any store that has compare-and-set. */
interface Document {
  load(): Promise<{ version: string; text: string }>
  /** Replaces the text if the document still has this version. Returns whether it did. */
  replace(version: string, text: string): Promise<boolean>
}

/** The content of the document. */
interface State {
  revisions: Record<string, number>
  keys: KeyRecord[]
  keyPolicies: KeyPolicyRecord[]
  sessions: SessionRecord[]
  sessionPolicies: (PolicyRecord & { sessionId: string })[]
  audit: AuditEntry[]
  feed: FeedEntry[]
}

const EMPTY: State = {
  revisions: {},
  keys: [],
  keyPolicies: [],
  sessions: [],
  sessionPolicies: [],
  audit: [],
  feed: [],
}

/** Loads a document that contains JSON, or nothing yet. */
async function loadJson<T>(document: Document, empty: T): Promise<{ version: string; content: T }> {
  const { version, text } = await orFault('document', () => document.load())
  try {
    return { version, content: text === '' ? empty : (JSON.parse(text) as T) }
  } catch {
    throw malformedReply('document', 'JSON')
  }
}

const read = async (document: Document): Promise<State> => (await loadJson(document, EMPTY)).content

/** Decides on the state and replaces it; again when another host was first. Undefined from `decide`: nothing to write. */
async function update<T>(
  document: Document,
  decide: (state: State) => { result: T; next?: State },
): Promise<T> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const { version, content } = await loadJson(document, EMPTY)
    const { result, next } = decide(content)
    if (!next || (await orFault('document', () => document.replace(version, JSON.stringify(next)))))
      return result
  }
  throw new Fault('ERR_OVERLOADED', 'the document keeps changing')
}

const appended = (state: State, changes: readonly FeedChange[]): FeedEntry[] => {
  const last = state.feed.at(-1)?.position ?? 0
  const added = changes.map((change, index) => ({ ...change, lane: 0, position: last + 1 + index }))
  return [...state.feed, ...added]
}
const endOf = (key: KeyRecord): number => Math.min(key.revokedAt ?? Infinity, key.expiresAt ?? Infinity)
const isLive = (session: SessionRecord, now: number): boolean =>
  session.revokedAt === null && now < session.expiresAt

/** The state without some keys, and without the policies of lineages that have no key left. */
function withoutKeys(state: State, ids: readonly string[]): State {
  const keys = state.keys.filter(key => !ids.includes(key.id))
  const lineages = new Set(keys.map(key => key.lineageId))
  return { ...state, keys, keyPolicies: state.keyPolicies.filter(({ lineageId }) => lineages.has(lineageId)) }
}

/** The state with sessions revoked, each with its feed entry. */
function revoked(state: State, ids: readonly string[], now: number): State {
  return {
    ...state,
    sessions: state.sessions.map(one => (ids.includes(one.sessionId) ? { ...one, revokedAt: now } : one)),
    feed: appended(
      state,
      ids.map(id => ({ kind: 'session', id, at: now })),
    ),
  }
}

const found = (policies: readonly PolicyRecord[], ids: readonly string[]): PolicyRecord[] =>
  ids
    .flatMap(wanted => policies.filter(({ id }) => id === wanted).slice(0, 1))
    .map(({ id, document }) => ({ id, document }))

/** The adapter of the first three ports. */
function documentStorage(document: Document): IssuerStorage {
  return {
    keys: {
      find: async id => (await read(document)).keys.find(key => key.id === id),
      async load(accountId) {
        const state = await read(document)
        const revision = state.revisions[keyDigest(accountId)] ?? 0
        return { revision, keys: state.keys.filter(key => key.accountId === accountId) }
      },
      commit: (accountId, revision, { keys, policies, feed, drop = [], audit = [] }) =>
        update(document, state => {
          const account = keyDigest(accountId)
          if ((state.revisions[account] ?? 0) !== revision) return { result: false }
          const unchanged = state.keys.filter(stored => !keys.some(key => key.id === stored.id))
          // Several lineages can have the same policy: each keeps it alive.
          const isStored = ({ id, lineageId }: KeyPolicyRecord): boolean =>
            state.keyPolicies.some(stored => stored.id === id && stored.lineageId === lineageId)
          const added = policies.filter(policy => !isStored(policy))
          const written = {
            ...state,
            revisions: { ...state.revisions, [account]: revision + 1 },
            keys: [...unchanged, ...keys],
            keyPolicies: [...state.keyPolicies, ...added],
            audit: [...state.audit, ...audit],
            feed: appended(state, feed),
          }
          return { result: true, next: drop.length > 0 ? withoutKeys(written, drop) : written }
        }),
      touch: uses =>
        update(document, state => {
          const revisions = { ...state.revisions }
          const keys = state.keys.map(key => {
            const use = uses.find(({ id }) => id === key.id)
            if (!use) return key
            const account = keyDigest(key.accountId)
            revisions[account] = (revisions[account] ?? 0) + 1
            return { ...key, ...use.rehash, lastUsedAt: Math.max(key.lastUsedAt ?? 0, use.at) }
          })
          return { result: undefined, next: { ...state, keys, revisions } }
        }),
      policies: async ids => found((await read(document)).keyPolicies, ids),
      collect: (limit, endedBefore) =>
        update(document, state => {
          const ended = state.keys.filter(key => endOf(key) < endedBefore).slice(0, limit)
          return {
            result: ended.length,
            next: withoutKeys(
              state,
              ended.map(key => key.id),
            ),
          }
        }),
    },
    sessions: {
      insert: (session, policies, audit) =>
        update(document, state => {
          const parentId = session.ancestry.at(-1)
          const parent = state.sessions.find(({ sessionId }) => sessionId === parentId)
          if (parentId !== undefined && parent?.revokedAt !== null) return { result: false }
          const { sessionId } = session
          const own = policies.map(policy => ({ ...policy, sessionId }))
          const next = {
            ...state,
            sessions: [...state.sessions, session],
            sessionPolicies: [...state.sessionPolicies, ...own],
            audit: audit ? [...state.audit, audit] : state.audit,
          }
          return { result: true, next }
        }),
      find: async id => (await read(document)).sessions.find(({ sessionId }) => sessionId === id),
      async list(accountId, limit, now, after) {
        const { sessions } = await read(document)
        const live = sessions.filter(one => one.accountId === accountId && isLive(one, now))
        const follows = ({ expiresAt: at, sessionId }: SessionRecord) =>
          !after || at < after.at || (at === after.at && sessionId < after.id)
        const order = (a: SessionRecord, b: SessionRecord) =>
          b.expiresAt - a.expiresAt || (a.sessionId < b.sessionId ? 1 : -1)
        return live.filter(follows).sort(order).slice(0, limit)
      },
      revoke: (id, now, audit) =>
        update(document, state => {
          const affected = state.sessions.filter(one => one.sessionId === id || one.ancestry.includes(id))
          const ids = affected.filter(one => isLive(one, now)).map(one => one.sessionId)
          if (ids.length === 0) return { result: 0 }
          const next = revoked(state, ids, now)
          return { result: ids.length, next: audit ? { ...next, audit: [...next.audit, audit] } : next }
        }),
      revokeAccount: (accountId, limit, now) =>
        update(document, state => {
          const live = state.sessions.filter(one => one.accountId === accountId && isLive(one, now))
          const ids = live.slice(0, limit).map(one => one.sessionId)
          return { result: ids.length, next: revoked(state, ids, now) }
        }),
      policies: async ids => found((await read(document)).sessionPolicies, ids),
      collect: (limit, now) =>
        update(document, state => {
          const ended = state.sessions.filter(one => one.expiresAt <= now - GRACE_MS).slice(0, limit)
          const ids = ended.map(one => one.sessionId)
          // The newest entry stays, because the next position is counted from it.
          const feed = state.feed.slice(0, -1)
          const old = feed.filter(({ at }) => at < now - FEED_RETENTION_MS).slice(0, limit)
          const next = {
            ...state,
            sessions: state.sessions.filter(one => !ids.includes(one.sessionId)),
            sessionPolicies: state.sessionPolicies.filter(({ sessionId }) => !ids.includes(sessionId)),
            feed: state.feed.filter(entry => !old.includes(entry)),
          }
          return { result: Math.max(ended.length, old.length), next }
        }),
    },
    audit: {
      async list(accountId, limit, { at, id = '' }) {
        const { audit } = await read(document)
        const rows = audit.filter(
          row => row.accountId === accountId && (row.at < at || (row.at === at && row.id < id)),
        )
        return rows.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1)).slice(0, limit)
      },
      collect: (limit, now) =>
        update(document, state => {
          const expired = state.audit.filter(row => row.expiresAt <= now).slice(0, limit)
          const audit = state.audit.filter(row => !expired.includes(row))
          return { result: expired.length, next: { ...state, audit } }
        }),
    },
  }
}

/** Signing keys in a document of their own. Encrypt the text in production: it contains private keys. */
function documentSigningKeys(document: Document): SigningKeyStorage {
  const empty: SigningKeySet = { revision: 0, keys: [] }
  return {
    load: async () => (await loadJson(document, empty)).content,
    async replace(revision, keys) {
      const { version, content } = await loadJson(document, empty)
      if (content.revision !== revision) return false
      const text = JSON.stringify({ revision: revision + 1, keys })
      return orFault('document', () => document.replace(version, text))
    },
  }
}

/** A document in this process that replies later, as a network would. Its version is the digest of its text. */
function processDocument(): Document {
  let text = ''
  const later = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
  const versionOf = (): string => createHash('sha256').update(text).digest('hex')
  return {
    async load() {
      await later()
      return { version: versionOf(), text }
    },
    async replace(version, next) {
      await later()
      if (version !== versionOf()) return false
      text = next
      return true
    },
  }
}

const close = async () => {}

/** A store that the suites reach over two connections. */
async function open() {
  const document = processDocument()
  const connections = [documentStorage(document), documentStorage(document)]
  const readFeed = async ([position = 0]: readonly number[]) =>
    (await read(document)).feed.filter(one => one.position > position)
  return { connections, readFeed, close }
}

/** The same store over connections that break before or after it acts, and over one that garbles the reply. */
async function openFaulty(): Promise<FaultyStorage<IssuerStorage>> {
  const document = processDocument()
  const broken = new Error('connection reset')
  return {
    healthy: documentStorage(document),
    cutBefore: documentStorage({ load: () => Promise.reject(broken), replace: () => Promise.reject(broken) }),
    cutAfter: documentStorage({
      ...document,
      replace: (...args) => document.replace(...args).then(() => Promise.reject(broken)),
    }),
    malformed: documentStorage({ ...document, load: async () => ({ version: '1', text: 'garbled' }) }),
    close,
  }
}

/** One port of the store, and of the faulty ones. */
async function openPort<Port>(pick: (storage: IssuerStorage) => Port) {
  const { connections, readFeed } = await open()
  return { connections: connections.map(pick), readFeed, close }
}
async function openFaultyPort<Port>(pick: (storage: IssuerStorage) => Port): Promise<FaultyStorage<Port>> {
  const { healthy, cutBefore, cutAfter, malformed } = await openFaulty()
  const [before, after] = [pick(cutBefore), pick(cutAfter)]
  return { healthy: pick(healthy), cutBefore: before, cutAfter: after, malformed: pick(malformed), close }
}

const tests = collectTests(runner => {
  keyStorageContract(runner, 'a document', () => openPort(storage => storage.keys))
  sessionStorageContract(runner, 'a document', () => openPort(storage => storage.sessions))
  auditContract(runner, 'a document', open)
  keyStorageFaults(runner, 'a document', () => openFaultyPort(storage => storage.keys))
  sessionStorageFaults(runner, 'a document', () => openFaultyPort(storage => storage.sessions))
  signingKeyStorageContract(runner, 'a document', async () => {
    const document = processDocument()
    return { connections: [documentSigningKeys(document), documentSigningKeys(document)], close }
  })
})
for (const { run } of tests) await run()
