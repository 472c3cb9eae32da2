// What a store returns is checked member by member: a wrong one is a fault, and never a key with other rights.
import { auditEntry, keyRecord, sessionRecord } from '#packages/session-issuer/dist/testing/sample-records.js'
import t from 'tap'

type Read = (value: unknown) => object
const { readAuditEntry, readKey, readPolicy, readSession } = (await import(
  `${process.cwd()}/packages/session-issuer/dist/storage/parse-records.js`
)) as {
  readKey: Read
  readSession: Read
  readAuditEntry: Read
  readPolicy(id: unknown, document: unknown): object
}

const TEXT = ['', 7, null, undefined, ['x'], {}]
const TEXT_OR_NULL = ['', 7, undefined, ['x'], {}]
const TEXTS = ['', 'x', null, undefined, {}, [''], ['x', ''], ['x', 7], { length: 1 }]
const INTEGER = ['1', 1.5, null, undefined, Infinity, {}]
const INTEGER_OR_NULL = ['1', 1.5, undefined, NaN, {}]
const SURFACE = ['', 'admin', null, undefined]
const CREATOR = { keyId: 'k', lineageId: 'l', sessionIds: ['s'] }
const CREATORS = [
  7,
  {},
  [],
  { ...CREATOR, keyId: '' },
  { ...CREATOR, lineageId: undefined },
  { ...CREATOR, sessionIds: null },
  { ...CREATOR, sessionIds: [''] },
]
const PAUSE = { lineageId: 'l', by: 'owner', at: 1 }
const PAUSES = [
  null,
  'x',
  {},
  [7],
  [{ ...PAUSE, lineageId: '' }],
  [{ ...PAUSE, by: 'x' }],
  [PAUSE, { ...PAUSE, at: 1.5 }],
]
/** For each kind of record: how it is read, a valid one, and what each member may not be. */
const KINDS: Readonly<Record<string, readonly [Read, object, Readonly<Record<string, readonly unknown[]>>]>> =
  {
    key: [
      readKey,
      keyRecord('a', { id: 'k', expiresAt: 1, lastUsedAt: 2, revokedAt: 3, createdBy: CREATOR, userId: 'u' }),
      {
        id: TEXT,
        prefix: TEXT,
        label: TEXT_OR_NULL,
        surface: SURFACE,
        accountId: TEXT,
        userId: TEXT_OR_NULL,
        walletAddress: TEXT_OR_NULL,
        scopes: TEXTS,
        policyIds: TEXTS,
        inheritedPolicies: INTEGER,
        lineageId: TEXT,
        ancestry: TEXTS,
        parentId: TEXT_OR_NULL,
        createdBy: CREATORS,
        rotatedBy: CREATORS,
        successorId: TEXT_OR_NULL,
        version: INTEGER,
        createdAt: INTEGER,
        expiresAt: INTEGER_OR_NULL,
        revokedAt: INTEGER_OR_NULL,
        lastUsedAt: INTEGER_OR_NULL,
        pauses: PAUSES,
        console: ['', 0, null, 'true'],
        digest: TEXT,
        pepperId: TEXT,
      },
    ],
    session: [
      readSession,
      sessionRecord({ surface: 'partner', label: 'x', revokedAt: 1 }),
      {
        sessionId: TEXT,
        accountId: TEXT,
        userId: TEXT_OR_NULL,
        walletAddress: TEXT_OR_NULL,
        surface: SURFACE,
        keyId: TEXT,
        keyVersion: INTEGER,
        policyIds: TEXTS,
        scopes: TEXTS,
        issuedAt: INTEGER,
        expiresAt: INTEGER,
        ancestry: TEXTS,
        label: TEXT_OR_NULL,
        revokedAt: INTEGER_OR_NULL,
      },
    ],
    'audit row': [
      readAuditEntry,
      auditEntry('a', { scopes: null }),
      {
        id: TEXT,
        accountId: TEXT,
        at: INTEGER,
        expiresAt: INTEGER,
        by: TEXT,
        keyId: TEXT_OR_NULL,
        sessionId: TEXT_OR_NULL,
        action: TEXT,
        target: TEXT,
        label: TEXT_OR_NULL,
        scopes: ['', 7, undefined, ['']],
        policyIds: TEXTS,
      },
    ],
  }

for (const [name, [read, valid, wrong]] of Object.entries(KINDS)) {
  t.test(`reads a stored ${name}, and throws a fault for each wrong member`, t => {
    t.same(read({ ...valid, unknown: 1 }), valid, 'unknown members are dropped')
    for (const [member, values] of Object.entries(wrong))
      for (const value of values)
        t.throws(
          () => read({ ...valid, [member]: value }),
          { name: 'Fault', code: 'ERR_STORE_REPLY' },
          `${member}: ${JSON.stringify(value)}`,
        )
    t.same(Object.keys(wrong).sort(), Object.keys(valid).sort(), 'all members are checked')
    for (const value of [null, undefined, 7, 'x', []])
      t.throws(() => read(value), { code: 'ERR_STORE_REPLY' })
    t.end()
  })
}

t.test('reads a key and an audit row with every member at its other kind of value', t => {
  const bare = keyRecord('a', { id: 'k', userId: null, expiresAt: null, console: true, rotatedBy: CREATOR })
  t.same(readKey(bare), bare)
  const row = auditEntry('a', { scopes: [], keyId: null, sessionId: null })
  t.same(readAuditEntry(row), row)
  t.end()
})

t.test('reads a policy as JSON under its id', t => {
  t.same(readPolicy('p', '{"a":[]}'), { id: 'p', document: { a: [] } })
  for (const [id, document] of [
    ['', '{}'],
    [7, '{}'],
    ['p', '{'],
    ['p', undefined],
  ])
    t.throws(() => readPolicy(id, document), { name: 'Fault', code: 'ERR_STORE_REPLY' })
  t.end()
})
