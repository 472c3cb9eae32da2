// What every write of the operation table makes a host keep. The page docs/bounds.md is made from it, and
// test/reference-host/bounds/bounds.slow.ts makes the largest accepted request of each, and counts its bytes; bounds.test.ts rejects a missing row.
import * as internals from '../harness/internals.ts'

/** The limit that bounds how often a write is made. */
type Limit =
  /** `writesPerAccountPerMinute`. */
  | 'account'
  /** `mintsPerAccountPerMinute`, once for root keys and once for all below them. */
  | 'mint'
  /** Once for each key or session, which are bounded by `mint`. */
  | 'ending'
  /** `bootstrapPerAddressPerMinute`, by client address. */
  | 'bootstrap'
  /** `tokenChecksPerAddressPerMinute`, by client address. */
  | 'token-check'
  /** `pollsPerAddressPerMinute`, by client address. */
  | 'poll'
  /** `mintsPerKeyPerMinute`, by partner key. */
  | 'partner-mint'
  /** `guardedPerKeyPerMinute`, by partner key. */
  | 'partner'
  /** The provider is trusted: it signs with a secret that the operator gave it. */
  | 'provider'

/** What one write makes a host keep. */
export interface Bound {
  readonly keeps: string
  /** Most bytes that one request adds: the columns of its rows, in tables and indexes. */
  readonly bytes: number
  readonly limit: Limit
  /** Most rows of this kind that an account has at a time. Of what is beyond them, `rest` bytes stay. */
  readonly most?: number
  readonly rest?: number
  /** Of every two writes one must end such a row before the next fits. */
  readonly paired?: true
  /** How long it is kept. */
  readonly until: string
  /** Only after the identity of the account was checked, where `ONBOARDING_GATES` is `on`, as on every live host. */
  readonly requiresIdentity?: true
}

/** Most bytes that one write may add in 10 minutes at the rate limit, per account. */
export const MAX_BYTES = 20_000_000

/** Windows of a minute that 10 minutes can touch, since windows are fixed. */
const WINDOWS = 11

/** How often a write is made in 10 minutes at most. Undefined: no limit. */
function timesOf({ limit }: Bound): number | undefined {
  const limits = internals.DEFAULT_RATE_LIMITS
  const perMinute = {
    account: limits.writesPerAccountPerMinute,
    mint: 2 * limits.mintsPerAccountPerMinute,
    ending: 2 * limits.mintsPerAccountPerMinute,
    bootstrap: limits.bootstrapPerAddressPerMinute,
    'token-check': limits.tokenChecksPerAddressPerMinute,
    poll: limits.pollsPerAddressPerMinute,
    'partner-mint': limits.mintsPerKeyPerMinute,
    partner: limits.guardedPerKeyPerMinute,
    provider: undefined,
  }[limit]
  return perMinute === undefined ? undefined : perMinute * WINDOWS
}

/** Most bytes that a write adds in 10 minutes. Undefined: no limit. */
export function addsOf(bound: Bound): number | undefined {
  const times = timesOf(bound)
  if (times === undefined) return undefined
  const { bytes, most = Infinity, rest = 0, paired } = bound
  if (paired) return Math.max(most, times / 2) * bytes
  return most < times ? most * bytes + times * rest : times * bytes
}

const DAY = 'response 24 h'
const GOOD = 'for good; response 24 h'
const account = { limit: 'account', until: GOOD } as const
const inPlace = { limit: 'account', until: 'until the next one replaces it' } as const
const decided = {
  limit: 'account',
  until: 'an hour; the event 30 days, the audit row 90',
  bytes: 1300,
} as const
const nothing = { keeps: 'nothing', bytes: 0, until: '' } as const
const AUTHORIZATION = 'an authorization, its events, transactions and counters'
const authorization = { ...account, requiresIdentity: true } as const
const AUDIT = 'an audit row and entries of the revocation feed'

/** Each write, by surface and operation id. */
export const BOUNDS: Readonly<Record<string, Bound>> = {
  'user auth.bootstrap': {
    keeps: 'a user; a key and session with 8 KiB policies; audit',
    bytes: 21_100,
    limit: 'bootstrap',
    until: 'user for good; session to its end; key 7 days after; audit 90 days',
  },
  'public auth.challenge': { ...nothing, limit: 'bootstrap' },
  'public auth.login': {
    keeps: 'a user; the id of the challenge; the approved request',
    bytes: 5600,
    limit: 'bootstrap',
    until: 'the user for good; the challenge to its end',
  },
  'public auth.session': { ...nothing, limit: 'token-check' },
  'public auth.openConsole': {
    keeps: 'a console key and its session, 5 at most; audit rows',
    bytes: 4700,
    limit: 'token-check',
    until: 'to 7 days after its end; audit rows 90 days',
  },
  'public auth.startCli': {
    keeps: 'a request of a command line, with a policy of 4 KiB',
    bytes: 4600,
    limit: 'bootstrap',
    until: 'until it ends, and is collected',
  },
  'public auth.pollCli': { ...nothing, limit: 'poll' },
  'public auth.inspectCli': { ...nothing, limit: 'bootstrap' },
  'public auth.denyCli': { ...nothing, limit: 'bootstrap' },
  'user keys.create': {
    keeps: 'a key with the policies above it, at most 32 KiB; audit',
    bytes: 27_000,
    limit: 'account',
    most: 250,
    rest: 800,
    until: '50 live, 200 ended keys, to 7 days after the end; audit rows 90 days',
  },
  'user keys.change': {
    keeps: 'a policy of 8 KiB; an audit row',
    bytes: 8700,
    limit: 'mint',
    until: 'with its key; audit rows 90 days',
  },
  'user keys.rotate': {
    keeps: 'a key; an audit row',
    bytes: 4800,
    limit: 'mint',
    until: 'to 7 days after its end; audit rows 90 days',
  },
  'user keys.pause': { keeps: AUDIT, bytes: 1100, limit: 'account', until: 'audit rows 90 days' },
  'user keys.resume': { keeps: 'an audit row', bytes: 700, limit: 'account', until: 'audit rows 90 days' },
  'user keys.revoke': { keeps: AUDIT, bytes: 1000, limit: 'ending', until: 'audit rows 90 days' },
  'user sessions.create': {
    keeps: 'a session with a policy of 8 KiB; an audit row',
    bytes: 9400,
    limit: 'mint',
    until: 'to the end of the session, 24 h at most; audit rows 90 days',
  },
  'user sessions.end': { keeps: AUDIT, bytes: 800, limit: 'ending', until: 'audit rows 90 days' },
  'partner users.resolve': {
    keeps: 'a user; in a sandbox two cards',
    bytes: 18_600,
    limit: 'partner',
    most: 1,
    until: 'for good, once for each user of the partner',
  },
  'partner sessions.createForPartner': {
    keeps: 'a session; an audit row',
    bytes: 1700,
    limit: 'partner-mint',
    until: 'to the end of the session, 24 h at most; audit rows 90 days',
  },
  'user subscriptions.payin': {
    keeps: 'a pay-in with 4 KiB of members, its hold and history',
    bytes: 9400,
    limit: 'account',
    most: 100,
    paired: true,
    until: 'settled ones for good, others 30 days after the deadline; 100 open',
  },
  'user subscriptions.checkout': {
    keeps: 'a subscription and its pay-in, as above',
    bytes: 10_200,
    limit: 'account',
    most: 100,
    paired: true,
    until: 'paid ones for good, others 30 days after the deadline; 100 open',
  },
  'user subscriptions.confirm': {
    ...account,
    keeps: 'a step in the history of a pay-in, 30 at most',
    bytes: 1700,
    until: `with its pay-in; ${DAY}`,
  },
  'user subscriptions.confirmBalance': {
    ...account,
    keeps: 'a ledger transfer, a transaction and an event, in place of a hold',
    bytes: 800,
  },
  'user subscriptions.simulatePayment': {
    ...account,
    keeps: 'a ledger transfer, a transaction and an event, in place of a hold',
    bytes: 1000,
  },
  'user subscriptions.cancel': { ...account, keeps: 'a date and the response', bytes: 1500, until: DAY },
  'user contracts.create': { ...account, keeps: 'a contract, 20 at most', bytes: 1700 },
  'user deposits.transfer': { ...account, keeps: 'a ledger transfer and transactions', bytes: 3400 },
  'user payments.create': {
    ...account,
    keeps: 'a ledger transfer, transactions, events, counters',
    bytes: 6000,
    requiresIdentity: true,
  },
  'user approvals.approve': { ...decided, keeps: 'an event, an audit row, and who approved' },
  'user approvals.deny': { ...decided, keeps: 'an event, an audit row, and who denied' },
  'user bills.create': { ...account, keeps: 'a bill and an event, 100 open at a time', bytes: 3000 },
  'user bills.pay': {
    ...account,
    keeps: 'a ledger transfer, a transaction, an event',
    bytes: 4500,
    requiresIdentity: true,
  },
  'user cards.simulateAuthorization': { ...authorization, keeps: AUTHORIZATION, bytes: 8900 },
  'partner cards.simulateAuthorization': { ...authorization, keeps: AUTHORIZATION, bytes: 5800 },
  'user cards.simulateClearing': { ...authorization, keeps: 'an event, in place of a hold', bytes: 300 },
  'partner cards.simulateClearing': { ...authorization, keeps: 'an event and a transfer', bytes: 3300 },
  'user cards.simulateReversal': { ...authorization, keeps: 'an event, in place of a hold', bytes: 300 },
  'partner cards.simulateReversal': { ...authorization, keeps: 'an event', bytes: 3400 },
  'user cards.simulateRefund': { ...authorization, keeps: 'an event and a transfer', bytes: 4500 },
  'partner cards.simulateRefund': { ...authorization, keeps: 'an event and a transfer', bytes: 4500 },
  'user cards.create': {
    ...account,
    keeps: 'a card, four notes of 684 characters, policies (24 KiB at most)',
    bytes: 24_000,
    most: 200,
    requiresIdentity: true,
    until: `${GOOD}; 50 open at a time, 200 in 24 h`,
  },
  'partner cards.create': {
    ...account,
    keeps: 'a card with four notes of 684 characters',
    bytes: 8100,
    most: 200,
    requiresIdentity: true,
    until: `${GOOD}; 50 open at a time, 200 in 24 h`,
  },
  'user cards.change': {
    limit: 'account',
    keeps: 'an event; the notes, in place and in the response',
    bytes: 7400,
    until: GOOD,
  },
  'partner cards.change': {
    limit: 'account',
    keeps: 'an event; the notes, in place and in the response',
    bytes: 3500,
    until: GOOD,
  },
  'user cards.openSecrets': { ...nothing, limit: 'account' },
  'partner cards.openSecrets': { ...nothing, limit: 'account' },
  'user cards.reveal': { ...account, keeps: 'an event', bytes: 600 },
  'partner cards.reveal': { ...account, keeps: 'an event', bytes: 600 },
  'user cards.propose': { limit: 'account', keeps: 'the response', bytes: 1200, until: DAY },
  'user cards.execute': {
    ...account,
    keeps: 'a card, a note, policies (24 KiB at most)',
    bytes: 19_500,
    most: 200,
    requiresIdentity: true,
    until: `${GOOD}; counted with cards.create`,
  },
  'user cards.cancel': { ...account, keeps: 'an event and the response', bytes: 4500 },
  'partner cards.cancel': { ...account, keeps: 'an event', bytes: 600 },
  'user folders.create': {
    ...account,
    keeps: 'a folder, 100 at most',
    bytes: 1600,
    until: `until deleted; ${DAY}`,
  },
  'user folders.change': { ...inPlace, keeps: 'a name', bytes: 0 },
  'user folders.delete': { ...nothing, limit: 'account' },
  'partner deposits.range': { ...nothing, limit: 'account' },
  'partner deposits.estimate': { ...nothing, limit: 'account' },
  'partner withdrawals.range': { ...nothing, limit: 'account' },
  'partner withdrawals.estimate': { ...nothing, limit: 'account' },
  'user deposits.create': {
    ...account,

    keeps: 'a deposit, 20 waiting at a time; without requirements in a sandbox, play money',
    bytes: 2900,
    requiresIdentity: true,
  },
  'partner deposits.create': {
    ...account,
    keeps: 'a deposit, 20 waiting at a time',
    bytes: 2900,
    requiresIdentity: true,
  },
  'user deposits.simulate': { ...account, keeps: 'a payment, a ledger transfer, events', bytes: 4100 },
  'partner deposits.simulate': { ...account, keeps: 'a payment, a ledger transfer, events', bytes: 4100 },
  'user withdrawals.create': {
    ...account,

    keeps: 'a withdrawal, its hold, transactions, events; 20 unfinished at a time',
    bytes: 7000,
    requiresIdentity: true,
  },
  'partner withdrawals.create': {
    ...account,
    keeps: 'the response; a withdrawal, 20 unfinished at a time',
    bytes: 1100,
    requiresIdentity: true,
  },
  'user users.change': { ...inPlace, keeps: 'the profile, encrypted', bytes: 0 },
  'partner users.change': { ...inPlace, keeps: 'the profile, encrypted', bytes: 0 },
  'user identity.change': { ...inPlace, keeps: 'the label of the wallet', bytes: 0 },
  'user crypto.encrypt': {
    limit: 'account',
    keeps: 'one key for the account, once',
    bytes: 0,
    until: 'for good',
  },
  'user access.evaluate': { ...nothing, limit: 'account' },
  'user crypto.decrypt': { ...nothing, limit: 'account' },
  'partner crypto.encrypt': {
    limit: 'account',
    keeps: 'one key for the account, once',
    bytes: 0,
    until: 'for good',
  },
  'partner crypto.decrypt': { ...nothing, limit: 'account' },
  'user referrals.apply': {
    limit: 'account',
    keeps: 'who invited the account, once',
    bytes: 100,
    until: 'for good',
  },
  'user notifications.mark': { ...inPlace, keeps: 'when it was read', bytes: 100 },
  'user notifications.markAll': { ...inPlace, keeps: 'when each was read', bytes: 100 },
  'user kyc.submit': {
    limit: 'account',
    keeps: 'the application, encrypted, in place of the last; an event',
    bytes: 3900,
    until: 'for good',
  },
  'partner kyc.submit': {
    limit: 'account',
    keeps: 'the application, encrypted, in place of the last; an event',
    bytes: 3900,
    until: 'for good',
  },
  'user kyc.simulate': { limit: 'account', keeps: 'an event', bytes: 900, until: 'for good' },
  'partner kyc.simulate': { limit: 'account', keeps: 'an event', bytes: 900, until: 'for good' },
  'user agreements.accept': {
    limit: 'account',
    keeps: 'an acceptance, once for each text',
    bytes: 300,
    until: 'for good',
  },
  'partner agreements.accept': {
    limit: 'account',
    keeps: 'an acceptance, once for each text',
    bytes: 300,
    until: 'for good',
  },
  'user onboarding.skip': {
    limit: 'account',
    keeps: 'the name of a step, once',
    bytes: 100,
    until: 'for good',
  },
  'public system.providerEvents': {
    keeps: 'the id of a message, and what the event changes',
    bytes: 2000,
    limit: 'provider',
    until: 'message ids 30 days; the rest for good',
  },
}

/** The rows of the request log, which every refused request and every write adds, also those of callers without a valid credential. */
export const REQUEST_ROWS = {
  /** Most bytes of one row, in the table and its indexes. Its texts are cut. */
  bytes: 9700,
  /** Most rows of one account that wait in a host to be written. */
  waiting: internals.MAX_WAITING_PER_ACCOUNT,
}

/** Who makes a write, and what counts it. */
const WHO: Readonly<Record<Limit, string>> = {
  account: 'account',
  mint: 'account',
  ending: 'account',
  bootstrap: 'address',
  'token-check': 'address',
  poll: 'address',
  'partner-mint': 'partner key',
  partner: 'partner key',
  provider: 'provider',
}

const LIMIT_NAMES: Readonly<Record<Limit, string>> = {
  account: 'an account',
  mint: 'an account for keys and sessions',
  ending: 'an account that ends keys and sessions',
  bootstrap: 'an address that signs in',
  'token-check': 'an address with web tokens',
  poll: 'an address that polls',
  'partner-mint': 'a partner key for sessions',
  partner: 'a partner key',
  provider: 'a provider',
}

const number = (value: number): string => value.toLocaleString('en-US').replaceAll(',', ' ')

const keepsNothing = ({ bytes, keeps }: Bound): boolean => bytes === 0 && keeps === 'nothing'

/** How many writes each kind of limit allows in 10 minutes, in words. */
function timesByLimit(): string {
  const seen = new Map<Limit, number>()
  for (const bound of Object.values(BOUNDS)) {
    const times = timesOf(bound)
    if (times !== undefined) seen.set(bound.limit, times)
  }
  return [...seen].map(([limit, times]) => `${number(times)} by ${LIMIT_NAMES[limit]}`).join(', ')
}

/** The cells of a row behind the name. */
function cellsOf(bound: Bound): string {
  const adds = addsOf(bound)
  const figures = [number(bound.bytes), adds === undefined ? '' : `${(adds / 1e6).toFixed(1)} MB`]
  return `${bound.keeps} | ${figures.join(' | ')} | ${bound.until} | ${WHO[bound.limit]} |`
}

/** The rows of the writes that keep something. Operations of both surfaces with the same bounds share one. */
function rowsOf(bounds: readonly (readonly [string, Bound])[]): string[] {
  const rows = new Map<string, { surfaces: string[]; operation: string; cells: string }>()
  for (const [name, bound] of bounds) {
    if (keepsNothing(bound)) continue
    const [surface = '', operation = ''] = name.split(' ')
    const cells = cellsOf(bound)
    const row = rows.get(operation + cells) ?? { surfaces: [], operation, cells }
    row.surfaces.push(surface)
    rows.set(operation + cells, row)
  }
  return [...rows.values()].map(
    ({ surfaces, operation, cells }) => `| \`${operation}\` (${surfaces.join(', ')}) | ${cells}`,
  )
}

/** The page docs/bounds.md. */
export function boundsPage(): string {
  const { writesPerAccountPerMinute, mintsPerAccountPerMinute } = internals.DEFAULT_RATE_LIMITS
  return `# What a caller can make a host keep

<!-- Written by \`npm run docs:update\` from test/workspace/bounds.ts. -->

Every write of the operation table, with the most bytes that one request adds to the database. What 10 minutes at the default rate limits add for
one account is less than ${MAX_BYTES / 1e6} MB. A test makes the largest accepted request of each write and counts its rows, once for the table and once for each index.

What bounds the number of writes, however many keys and sessions an account has:

- \`writesPerAccountPerMinute\` (${writesPerAccountPerMinute}): all writes with a session, but not what ends a key or a session: a key that floods cannot keep its owner from ending it.
- \`mintsPerAccountPerMinute\` (${mintsPerAccountPerMinute}): new sessions, changed and rotated keys, counted apart for the root keys of an account and for those below them.
- \`bootstrapPerAddressPerMinute\`, \`tokenChecksPerAddressPerMinute\` and \`pollsPerAddressPerMinute\`: requests without a session, by client address.
- Partner keys and webhook secrets come from the operator. Their users and events are trusted not to flood.

A process without Redis counts for itself. Windows are fixed: 10 minutes can touch 11 of them. Counters of caps (150 bytes, at most 32 for each call) are
included, the 130 bytes for which an event waits a second to be published are not. A payment that waits for an approval keeps that and an event in place of its rows; an account has at most 20 open approvals, which end after an hour. An alert (\`alertAtPercent\`) is an event of at most 1,600 bytes, once for each counter and window; a policy has at most 6. Counters of a day or a month are deleted after it, those with the window \`total\` never.

All figures are at most. "Response" is the stored response of an idempotent request, "By" what writes are counted by. Operations named \`simulate\` exist in a sandbox only.
Writes in 10 minutes: ${timesByLimit()}.

| Write | Keeps | Bytes of one | In 10 minutes | Kept | By |
|---|---|---|---|---|---|
${rowsOf(Object.entries(BOUNDS)).join('\n')}

With \`ONBOARDING_GATES=on\` an account makes these only after its identity was checked: ${Object.entries(
    BOUNDS,
  )
    .filter(([, bound]) => bound.requiresIdentity)
    .map(([name]) => `\`${name}\``)
    .join(', ')}.

These keep nothing: ${Object.entries(BOUNDS)
    .filter(([, bound]) => keepsNothing(bound))
    .map(([name]) => `\`${name}\``)
    .join(', ')}.

An event of a partner's user is published a moment after the write ([events](events.md)): one more row of about 800 bytes, for 30 days. Events of
wallet users are published only while the operator has an endpoint.

Reads keep nothing but the counters of policies that count them, and the time of the last use of a key.

The request log (\`REQUEST_LOG\`) adds a row for each refused request and each write, of at most ${number(REQUEST_ROWS.bytes)} bytes, and keeps about the ${number(internals.KEPT_PER_ACCOUNT)} newest
of an account for \`REQUEST_LOG_DAYS\`: ${(REQUEST_ROWS.bytes * internals.KEPT_PER_ACCOUNT) / 1e6} MB. Requests without a valid credential count together as one account. Between two writes to the
database a host keeps at most ${REQUEST_ROWS.waiting} rows of one account; further rows are dropped and counted.

## Why

A wallet costs nothing, so the sum over accounts is bounded by the requests per address that an operator's proxy admits. Stored responses hold the members of pay-ins and the notes of cards once
more. Canceled cards are kept for their authorizations, so cards are also counted by day.
`
}
