// What the console says about keys, and how it orders them, without a browser.
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { parseAddresses } from '../../../packages/reference-host/browser/helper/key/addresses.ts'
import {
  MONEY_OPERATIONS,
  OPERATION_KINDS,
  operationsWords,
} from '../../../packages/reference-host/browser/shared/operations.ts'
import { parsePayees } from '../../../packages/reference-host/browser/helper/key/payees.ts'
import { parseCount } from '../../../packages/reference-host/browser/helper/key/parse-count.ts'
import { rightsWords } from '../../../packages/reference-host/browser/helper/key/rights.ts'
import { createKeyCurl } from '../../../packages/reference-host/browser/helper/key/samples.ts'
import {
  keySentence,
  limitWords,
  type Policy,
} from '../../../packages/reference-host/browser/helper/key/sentence.ts'
import { TEMPLATES } from '../../../packages/reference-host/browser/helper/key/templates.ts'
import {
  filterKeys,
  keysBelow,
  keyTree,
  policyChain,
} from '../../../packages/reference-host/browser/helper/console/keys/key-tree.ts'
import { isOnUse } from '../../../packages/reference-host/browser/helper/console/keys/key-table.ts'
import { capsNow } from '../../../packages/reference-host/browser/helper/console/keys/tighten-key.ts'
import type { Cap, Key } from '../../../packages/reference-host/browser/helper/console/wire.ts'

const ALL = [
  'bills.read',
  'bills.write',
  'cards.read',
  'cards.secrets.read',
  'cards.write',
  'keys.read',
  'keys.write',
  'payments.read',
  'payments.write',
  'withdrawals.write',
]
const says = (scopes: readonly string[], policy: Policy = {}, expiresAt?: string): string =>
  keySentence({ scopes, policies: [policy], expiresAt }, ALL)
const templateScopes = (id: string): readonly string[] =>
  TEMPLATES.find(template => template.id === id)?.scopes(ALL) ?? []

t.test('says in a sentence what a key may do', async t => {
  const agent = templateScopes('agent')
  t.equal(
    says(agent, { maxAuthAmountCents: 1000, dailySpendCapCents: 5000 }, '2027-01-01T00:00:00Z'),
    'May pay up to 10.00 USD at once and 50.00 USD a day. May not withdraw, see card numbers or make keys. Ends 1 Jan 2027.',
  )
  const month = { operations: MONEY_OPERATIONS, window: 'month', maxCents: 50_000 } as const
  const cards = { operations: ['cards.create', 'cards.execute'], window: 'total', maxCount: 1 } as const
  t.match(says(agent, { limits: [month, cards] }), /^May pay up to 500\.00 USD a month\./)
  t.match(says(agent, { limits: [month, cards] }), /At most 1 new card in total\.$/)
  t.equal(says(ALL), 'May pay as much as your balance holds. May withdraw, see card numbers and make keys.')
  const week = { operations: ['deposits.create'], window: 'week', maxCents: 500 } as const
  t.match(
    says(agent, { limits: [week], timeZone: 'Europe/Berlin' }),
    /At most 5\.00 USD a week for .*\. Days begin at midnight in Europe\/Berlin\.$/,
  )
  const withdrawals = { dailyWithdrawalCapCents: 2000 }
  t.match(says(ALL, withdrawals), /May withdraw up to 20\.00 USD a day, see card numbers and make keys\./)
  t.match(says(ALL, { ...withdrawals, dailySpendCapCents: 500 }), /May withdraw up to 5\.00 USD a day,/)
  t.match(says(ALL, { allowCardSecrets: false }), /May not see card numbers\./)
  t.match(says(ALL, { allowedIps: ['10.0.0.0/8', '::1'] }), /Works only from 10\.0\.0\.0\/8, ::1\./)
  t.match(
    says(templateScopes('read')),
    /^May read everything, and changes nothing\. May not see card numbers/,
  )
  t.match(says(['cards.read']), /^May only read, and changes nothing\./)
  t.match(says(['keys.write']), /^Moves no money\./)
  t.equal(says([]), 'May do nothing.')
  t.equal(says(ALL, { allowOperations: [] }), 'May do nothing.')
})

t.test('says above which amount a key asks, where it may pay at all', t => {
  t.match(says(ALL, { approveAboveCents: 5000 }), /holds\. Asks you above 50\.00 USD\. May withdraw/)
  t.notMatch(says(['cards.read'], { approveAboveCents: 5000 }), /Asks/)
  const policies = [{ approveAboveCents: 5000 }, { approveAboveCents: 0 }]
  t.match(keySentence({ scopes: ALL, policies }, ALL), /Asks you above 0\.00 USD\./)
  t.notMatch(says(ALL), /Asks/)
  const limits = [{ operations: ['payments.create'], window: 'day', approveAboveCents: 5000 }] as const
  t.match(says(ALL, { limits }), /Asks you above 50\.00 USD a day for payments\./)
  for (const id of ['read', 'agent']) {
    const template = TEMPLATES.find(each => each.id === id)
    t.notOk(template?.scopes([...ALL, 'approvals.write']).includes('approvals.write'), id)
  }
  t.end()
})

t.test('says when a limit of a key gives an alert', t => {
  const month = { operations: MONEY_OPERATIONS, window: 'month', maxCents: 50_000 } as const
  const cards = {
    operations: ['cards.create', 'cards.execute'],
    window: 'week',
    maxCount: 3,
    alertAtPercent: 60,
  } as const
  const policy = { dailySpendCapCents: 5000, alertAtPercent: 80 }
  t.match(says(ALL, policy), /USD a day\. Tells you when 80 % of the limit of a day is used\. May/)
  t.match(
    says(ALL, { ...policy, limits: [{ ...month, alertAtPercent: 50 }, cards] }),
    /is used\. Tells you when 50 % of the limit of a month is used\. .*At most 3 new cards a week, and tells you at 60 %\.$/,
  )
  t.notMatch(says(['cards.read'], policy), /Tells/)
  t.end()
})

t.test('says to whom a key may pay', t => {
  const wallet = `wallet:0x${'ab'.repeat(20)}`
  t.match(
    says(ALL, { payees: ['country:DE', wallet], denyPayees: ['mcc:7995'] }),
    new RegExp(`Pays only country DE or wallet 0x${'ab'.repeat(20)}\\. Never pays mcc 7995\\.$`),
  )
  t.match(says(ALL, { payees: [] }), /Pays nobody\.$/)
  t.notMatch(says(['cards.read'], { payees: [] }), /Pays nobody/, 'nothing of payees where it pays nothing')
  t.end()
})

t.test('reads payees, one a line, and gives a wallet its kind', t => {
  t.same(parsePayees(` biller:City Power\n\n0x${'Ab'.repeat(20)} `), [
    'biller:City Power',
    `wallet:0x${'ab'.repeat(20)}`,
  ])
  t.same(parsePayees(''), [])
  t.equal(parsePayees('City Power'), undefined)
  t.equal(parsePayees('biller:'), undefined)
  t.end()
})

t.test('says nothing of a key that a policy forbids', async t => {
  t.equal(
    says(ALL, { denyOperations: ['withdrawals.*', 'keys.create'], notAfter: '2027-01-01T00:00:00Z' }),
    'May pay as much as your balance holds. May see card numbers. May not withdraw or make keys. Never withdrawals, keys.create. Not after 2027-01-01 00:00:00 UTC.',
  )
  t.equal(
    says(ALL, { allowOperations: ['cards.list', 'bills.list'] }),
    'Moves no money. May not see card numbers or make keys. Only cards.list, bills.list.',
  )
  t.match(says(ALL, { allowOperations: ['payments.*'] }), /^May pay .* May not withdraw, /)
})

t.test('of several policies the lowest cap counts in the sentence', async t => {
  const policies = [{ dailySpendCapCents: 5000 }, { dailySpendCapCents: 700 }, {}]
  t.match(keySentence({ scopes: ALL, policies }, ALL), /^May pay up to 7\.00 USD a day\./)
})

t.test('sums scopes up in a few words', async t => {
  t.equal(rightsWords(ALL, ALL), 'Everything')
  t.equal(rightsWords([], ALL), 'Nothing')
  t.equal(rightsWords(templateScopes('read'), ALL), 'Read only')
  t.equal(rightsWords(['cards.read'], ALL), 'Reads Cards')
  t.equal(rightsWords(['cards.read', 'payments.write'], ALL), 'Payments')
  t.equal(rightsWords(['cards.secrets.read'], ALL), 'Cards', 'a card number is more than reading')
  t.equal(
    rightsWords(['bills.write', 'cards.write', 'payments.write', 'withdrawals.write'], ALL),
    'Bills, Cards and 2 more groups',
  )
})

t.test('an agent can neither withdraw nor make keys nor see card numbers', async t => {
  const scopes = templateScopes('agent')
  t.ok(scopes.includes('payments.write'))
  for (const scope of ['withdrawals.write', 'keys.write', 'cards.write', 'cards.secrets.read'])
    t.notOk(scopes.includes(scope), scope)
})

t.test('names operations by their kind, and others by their id', async t => {
  t.equal(operationsWords(['bills.*']), 'bills')
  t.equal(operationsWords(['cards.authorize']), 'card payments')
  t.equal(operationsWords(['tokens.list']), 'tokens.list')
  t.equal(
    limitWords({ operations: ['cards.authorize'], window: 'day', maxCount: 1 }),
    'At most 1 card payment a day',
  )
})

t.test(
  'knows every operation of the host that moves money, and no operation that the host has not',
  async t => {
    const folder = 'packages/reference-host/src/modules'
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts'))
      .map(name => readFileSync(`${folder}/${name}`, 'utf8'))
    const declared = sources.flatMap(source =>
      [...source.matchAll(/\bid: '(\w+\.\w+)',|operation: '(\w+\.\w+)'/g)].map(found => found[1] ?? found[2]),
    )
    for (const id of OPERATION_KINDS.flatMap(({ operations }) => operations)) t.ok(declared.includes(id), id)
    const spending = sources.flatMap(source =>
      source
        .split(/(?=ledgerWrite[(<])/)
        .filter(part => /\bspends: '(?:spend|withdrawal)'/.test(part))
        .flatMap(part => /\bid: '(\w+\.\w+)'/.exec(part)?.[1] ?? []),
    )
    t.ok(spending.length >= 6, spending.join(' '))
    for (const id of spending) t.ok(MONEY_OPERATIONS.includes(id), id)
  },
)

t.test('finds addresses and blocks that are mistyped', async t => {
  t.same(parseAddresses('203.0.113.9\n 10.0.0.0/8, 2001:db8::/32'), [
    '203.0.113.9',
    '10.0.0.0/8',
    '2001:db8::/32',
  ])
  t.same(parseAddresses(' '), [])
  for (const wrong of ['my office', '10.0.0', '10.0.0.0/', 'abcd', '10.0.0.1;'])
    t.equal(parseAddresses(wrong), undefined)
})

t.test('reads whole numbers of up to 6 digits', async t => {
  t.equal(parseCount(' 0 '), 0)
  t.equal(parseCount('999999'), 999_999)
  for (const wrong of ['', '1000000', '-1', '1.5', '1e3']) t.equal(parseCount(wrong), undefined, wrong)
})

t.test('quotes a name in the command that makes a key', async t => {
  t.match(createKeyCurl('http://h', { label: "Ann's" }), String.raw`{"label":"Ann'\''s"}`)
})

const DAY_MS = 86_400_000
const NOW = Date.parse('2026-03-01T00:00:00Z')
const key = (id: string, parentLineageId: string | null, changes: Partial<Key> = {}): Key => ({
  id,
  label: null,
  lineageId: id,
  parentLineageId,
  keyPrefix: `gw_sandbox_user_${id}`,
  scopes: [],
  policy: null,
  console: false,
  createdBy: null,
  rotatedBy: null,
  createdAt: '2026-01-01T00:00:00Z',
  lastUsedAt: null,
  expiresAt: null,
  revokedAt: null,
  pauses: [],
  ...changes,
})
const shape = (keys: readonly Key[]): string[] =>
  keyTree(keys).map(({ key: { id }, depth }) => `${depth} ${id}`)

t.test('puts keys below the key that they belong to, also after it was rotated', async t => {
  const keys = [
    key('grandchild', 'child'),
    key('other', null),
    key('successor', null, { lineageId: 'root' }),
    key('child', 'root'),
    key('root', null),
  ]
  t.same(shape(keys), ['0 other', '0 successor', '0 root', '1 child', '2 grandchild'])
  t.same(shape(keys.filter(({ id }) => id !== 'root')), ['0 other', '0 successor', '1 child', '2 grandchild'])
  t.same(shape([key('child', 'root')]), ['0 child'], 'a key whose maker is not shown is at the top')
  t.same(
    keysBelow({ lineageId: 'root' }, keys).map(({ id }) => id),
    ['child', 'grandchild'],
  )
})

t.test(
  'a key is bound by the policies of all keys above it, and of a rotated one by those of its successor',
  async t => {
    const keys = [
      key('successor', null, { lineageId: 'root', policy: { dailySpendCapCents: 1 } }),
      key('child', 'root', { policy: [{ dailySpendCapCents: 2 }, { dailySpendCapCents: 3 }] }),
      key('root', null, { policy: { dailySpendCapCents: 4 } }),
    ]
    const caps = policyChain(key('leaf', 'child'), keys).map(({ dailySpendCapCents }) => dailySpendCapCents)
    t.same(caps, [1, 2, 3])
  },
)

t.test('filters keys by their state and by a part of their name or id, and never shows consoles', async t => {
  const keys = [
    key('aaaa', null, { label: 'Agent-Shopping' }),
    key('bbbb', null, { expiresAt: new Date(NOW).toISOString() }),
    key('cccc', null, { expiresAt: new Date(NOW + 1).toISOString() }),
    key('dddd', null, { revokedAt: new Date(NOW - DAY_MS).toISOString() }),
    key('eeee', null, { console: true }),
  ]
  const found = (state: 'live' | 'ended', text: string): string[] =>
    filterKeys(keys, { state, text }, NOW).map(({ id }) => id)
  t.same(found('live', ''), ['aaaa', 'cccc'])
  t.same(found('ended', ''), ['bbbb', 'dddd'])
  t.same(found('live', ' agent'), ['aaaa'])
  t.same(found('live', 'user_CC'), ['cccc'])
  t.same(found('live', 'dddd'), [])
})

const cap = (rule: string, cents: number, changes: Partial<Cap> = {}): Cap => ({
  policyId: 'pol_1',
  rule,
  operations: null,
  unit: 'cents',
  window: 'day',
  cap: cents,
  used: 0,
  remaining: cents,
  resetsAt: null,
  inherited: false,
  ...changes,
})

t.test('the table shows only limits on something that the key may do', async t => {
  const may = (scopes: readonly string[], changes: Partial<Cap>, policy: unknown = null): boolean =>
    isOnUse({ scopes, policy }, { ...cap('limits', 100), ...changes })
  t.equal(may(['payments.write'], {}), true)
  t.equal(may(['cards.read'], {}), false)
  t.equal(may(['payments.write'], { operations: ['bills.*'] }), false)
  t.equal(may(['payments.write'], { operations: ['bills.*', 'payments.create'] }), true)
  t.equal(may(['payments.write'], { rule: 'dailyWithdrawalCapCents' }), false)
  t.equal(may(['withdrawals.write'], { rule: 'dailyWithdrawalCapCents' }), true)
  t.equal(may(['payments.write'], {}, { allowOperations: [] }), false)
})

t.test('names the lowest cap that binds in each field', async t => {
  const month = { operations: MONEY_OPERATIONS, window: 'month' } as const
  t.same(
    capsNow([
      cap('dailySpendCapCents', 9000),
      cap('dailySpendCapCents', 5000, { inherited: true }),
      cap('dailySpendCapCents', 7000),
      cap('limits', 800, month),
      cap('limits', 100, { operations: ['bills.pay'], window: 'month' }),
      cap('limits', 2, { ...month, unit: 'count' }),
    ]),
    {
      day: { cents: 5000, text: '50.00 USD now, from a key above.' },
      month: { cents: 800, text: '8.00 USD now, from this key.' },
    },
  )
})
