import { randomBytes } from 'node:crypto'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { manualClock } from '@gatewright/kernel/testing'
import { migrateLedger } from '#packages/host/dist/ledger/ledger.js'
import { sampleApplication } from '#packages/reference-host/dist/testing/kyc-provider.js'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { randomCases } from '../../../harness/random-cases.ts'
import { holds } from '../../../harness/holds.ts'
import * as internals from '../../../harness/internals.ts'
import { openSqlite } from '../../../harness/stores.ts'

const { createSealer, eraseUser, events, jobQueue, kycRecords, migrateHost, submitJob } = internals
const { SUBMIT_JOB, KYC_STATUSES, textOf } = internals
type Status = (typeof KYC_STATUSES)[number]
type Kyc = ReturnType<typeof kycRecords>
type Report = Parameters<Kyc['report']>[2]

const OPEN = ['pending', 'manual_review', 'needs_information', 'needs_verification']
const REPORTS = [...OPEN, 'approved', 'denied', 'locked']
/** The list of docs/identity-check.md, written out independently of the code. */
function allowed(cause: string, from: string, to: string): boolean {
  if (cause === 'submitted')
    return ['not_submitted', 'needs_information', 'canceled'].includes(from) && to === 'pending'
  if (cause === 'simulated') return to !== 'not_submitted'
  if (cause === 'versioned') return REPORTS.includes(from) && REPORTS.includes(to)
  if (from === 'approved') return ['manual_review', 'locked'].includes(to)
  return OPEN.includes(from) && REPORTS.includes(to)
}

const REPORTED = REPORTS as Report['status'][]
const reportedStatus = fc.constantFrom(...REPORTED)
const version = fc.option(fc.nat({ max: 6 }))
const step = fc.oneof(
  fc.record({ kind: fc.constant('submit' as const), name: fc.constantFrom('Ann', 'Bob') }),
  fc.record({ kind: fc.constant('report' as const), to: reportedStatus, version }),
  fc.record({ kind: fc.constant('decide' as const), to: fc.constantFrom(...KYC_STATUSES.slice(1)) }),
  fc.record({
    kind: fc.constant('provider' as const),
    says: fc.constantFrom<(Report['status'] | 'outage')[]>(...REPORTED, 'outage'),
    version,
  }),
  fc.record({ kind: fc.constant('replay' as const) }),
)

t.test(
  'only listed changes happen, whatever comes in whatever order, and history lists each of them',
  async t => {
    const { connections, close } = await openSqlite(1, db => migrateHost(db))
    t.teardown(close)
    const [db] = connections as [SqlClient]
    const sealer = createSealer([{ id: 'k', secret: randomBytes(32) }])
    const kyc = kycRecords(sealer)
    const clock = manualClock()
    let says: { status: Report['status'] | 'outage'; version: number | null } = {
      status: 'pending',
      version: null,
    }
    const provider = {
      name: 'test',
      async submit(): Promise<Report> {
        if (says.status === 'outage') throw new Error('down')
        return reportOf(says.status, says.version)
      },
    }
    const handler = submitJob({ db, clock, kyc }, { provider, count: () => {} })
    const jobs = jobQueue({
      db,
      clock,
      handlers: { [SUBMIT_JOB]: handler },
      report: () => {},
    })
    const inTransaction = <T>(work: (tx: SqlQueries) => Promise<T>): Promise<T> => db.transaction(work)
    let accounts = 0

    await holds(
      t,
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async steps => {
        const account = `acc_${++accounts}`
        const text = `insert into gw_users (id, account_id, principal, kyc_status, created_at)
        values ($1, $2, $1, 'not_submitted', 0)`
        await rows(db, text, [`usr_${accounts}`, account])
        const now = (): number => clock.now()
        let last: { id: string; report: Report } | undefined
        let highest: number | null = null
        let known: string | undefined
        /** Whether an operator locked or denied the account. */
        let closed = false
        for (const each of steps) {
          clock.advance(700_000)
          const before = await kyc.read(db, account)
          if (before.id !== known) highest = null
          known = before.id
          let cause = each.kind === 'provider' && each.version === null ? 'reported' : 'versioned'
          if (each.kind === 'submit') {
            cause = 'submitted'
            await inTransaction(async tx => {
              const application = { ...sampleApplication, firstName: each.name }
              const result = await kyc.submit(tx, account, application, now())
              if (result.outcome === 'submitted')
                await jobs.add(tx, { kind: SUBMIT_JOB, accountId: account, subjectId: result.id }, now())
            })
          } else if (each.kind === 'decide') {
            cause = 'simulated'
            const decision = { status: each.to, reason: null, cause }
            await inTransaction(tx => kyc.decide(tx, account, decision, now()))
            closed = ['locked', 'denied'].includes(each.to)
          } else if (each.kind === 'provider') {
            says = { status: each.says, version: each.version }
            await jobs.runDue(SUBMIT_JOB, 10, new AbortController().signal)
          } else if (before.id !== undefined) {
            const report = each.kind === 'report' ? reportOf(each.to, each.version) : last?.report
            const id = each.kind === 'report' ? before.id : last?.id
            if (report === undefined || id === undefined) continue
            last = { id, report }
            cause = report.version === null ? 'reported' : 'versioned'
            const outcome = await inTransaction(tx => kyc.report(tx, id, report, { now: now() }))
            if (id !== before.id && outcome !== 'unknown')
              throw new Error('a report of an older application counted')
            // The provider may have been asked again, and then repeats its newest report.
            const repeated = before.status === 'pending' && report.version === highest
            const older = highest !== null && (report.version === null || report.version <= highest)
            const stale = older && !repeated
            if (stale && outcome === 'applied') throw new Error('an older report won')
            // A report that the table denies counts, too.
            if (id === before.id && !stale) highest = report.version
          }
          if (each.kind === 'provider') {
            const stored = await storedVersion(db, account)
            if ((stored ?? -1) < (highest ?? -1)) throw new Error('a response made a newer version unknown')
            highest = stored
          }
          const after = await kyc.read(db, account)
          if (after.status !== before.status && !allowed(cause, before.status, after.status))
            throw new Error(`${cause}: ${before.status} -> ${after.status}`)
          if (closed && after.status !== 'locked' && after.status !== 'denied')
            throw new Error(`${cause} ended what the operator had closed`)
          if (each.kind === 'decide' && after.status !== each.to)
            throw new Error('the operator was not obeyed')
        }
        await checkHistory(db, account)
      }),
      { numRuns: randomCases(150) },
    )
  },
)

const versioned = fc.uniqueArray(fc.record({ version: fc.nat({ max: 9 }), to: reportedStatus }), {
  selector: ({ version }) => version,
  minLength: 1,
  maxLength: 6,
})
const deliveries = versioned.chain(reports => {
  const events = reports.map(each => ({ kind: 'event' as const, report: each }))
  const operator = fc.constant({ kind: 'asks again' as const })
  const response = fc.record({ kind: fc.constant('response' as const), report: fc.constantFrom(...reports) })
  return fc
    .tuple(fc.array(operator, { maxLength: 2 }), fc.array(response, { maxLength: 3 }))
    .map(([decisions, responses]) => [...events, ...decisions, ...responses])
    .chain(all => fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }))
})

t.test('reports with versions come to the same end in any order of arrival: to the newest one', async t => {
  const { db, kyc } = await openKyc(t)
  let accounts = 0
  const begin = fc.option(fc.constantFrom(...KYC_STATUSES.slice(1)), { nil: undefined })
  const property = fc.asyncProperty(begin, deliveries, async (decided, steps) => {
    const account = `acc_${++accounts}`
    const { id } = await submitted(db, kyc, account)
    if (decided !== undefined) await decide(db, kyc, account, decided)
    const before = await kyc.read(db, account)
    const apply = ({ to, version }: { to: Report['status']; version: number }, ofJob: boolean): unknown => {
      const report = { ...reportOf(to, version), reason: `v${version}` }
      return db.transaction(tx => kyc.report(tx, id, report, { now: 0, whilePending: ofJob }))
    }
    for (const each of steps) {
      if (each.kind === 'asks again') await decide(db, kyc, account, 'pending')
      else await apply(each.report, each.kind === 'response')
    }
    const newest = steps
      .flatMap(each => (each.kind === 'event' ? [each.report] : []))
      .reduce((one, other) => (one.version > other.version ? one : other))
    // The job asks while the application is pending, and the provider returns its status.
    if (await kyc.waiting(db, id)) await apply(newest, true)
    const closed = decided !== undefined && ['locked', 'denied', 'canceled'].includes(decided)
    const isFinal = closed && !steps.some(({ kind }) => kind === 'asks again')
    const end = isFinal ? before : { status: newest.to, reason: `v${newest.version}` }
    const after = await kyc.read(db, account)
    if (after.status !== end.status || after.reason !== end.reason)
      throw new Error(`${after.status} ${after.reason}, not ${end.status} ${end.reason}`)
    if ((await storedVersion(db, account)) !== newest.version)
      throw new Error('the newest version is unknown')
  })
  await holds(t, property, { numRuns: randomCases(300) })
})

t.test(
  'an old report that arrives while the provider is asked again does not replace its newest',
  async t => {
    const { db, kyc } = await openKyc(t)
    for (const [newest, old] of [
      ['locked', 'approved'],
      ['approved', 'locked'],
    ] as const) {
      const account = `acc_${newest}`
      const { id } = await submitted(db, kyc, account)
      const says = (to: Report['status'], version: number): Promise<string> =>
        db.transaction(tx => kyc.report(tx, id, reportOf(to, version), { now: 0 }))
      await says(newest, 5)
      await decide(db, kyc, account, 'pending')
      const provider = {
        name: 'slow',
        async submit(): Promise<Report> {
          t.equal(await says(old, 3), 'ignored')
          return reportOf(newest, 5)
        },
      }
      await runJob({ db, kyc, provider, id })
      t.equal((await kyc.read(db, account)).status, newest)
    }
  },
)

t.test('asks again where the response is older than a report that came meanwhile', async t => {
  const { db, kyc } = await openKyc(t)
  const { id } = await submitted(db, kyc, 'acc_1')
  const versions = [4, 5]
  const provider = {
    name: 'slow',
    async submit(): Promise<Report> {
      const version = versions.shift()
      if (version === 5) return reportOf('locked', 5)
      // The call began before version 5 and before the decision, and gets its response after both.
      await db.transaction(tx => kyc.report(tx, id, reportOf('locked', 5), { now: 0 }))
      await decide(db, kyc, 'acc_1', 'pending')
      return reportOf('approved', 4)
    },
  }
  t.equal(await runJob({ db, kyc, provider, id }), 'again')
  t.equal((await kyc.read(db, 'acc_1')).status, 'pending')
  t.equal(await runJob({ db, kyc, provider, id }), undefined)
  t.equal((await kyc.read(db, 'acc_1')).status, 'locked')
})

t.test(
  'a response without a version counts after the provider was asked again, and hides no version',
  async t => {
    const { db, kyc } = await openKyc(t)
    const { id } = await submitted(db, kyc, 'acc_1')
    const says = (to: Report['status'], version: number): Promise<string> =>
      db.transaction(tx => kyc.report(tx, id, reportOf(to, version), { now: 0 }))
    await says('locked', 5)
    await decide(db, kyc, 'acc_1', 'pending')
    const provider = { name: 'plain', submit: async () => reportOf('approved', null) }
    t.equal(await runJob({ db, kyc, provider, id }), undefined)
    t.equal((await kyc.read(db, 'acc_1')).status, 'approved')
    t.equal(await says('denied', 4), 'ignored', 'older than the version before')
    t.equal(await says('locked', 6), 'applied')
  },
)

t.test('a report without a version locks an account from every status that it can leave', async t => {
  const { db, kyc } = await openKyc(t)
  for (const status of [...OPEN, 'approved'] as Status[]) {
    const { id } = await submitted(db, kyc, `acc_${status}`)
    await decide(db, kyc, `acc_${status}`, status)
    const report = reportOf('locked', null)
    t.equal(await db.transaction(tx => kyc.report(tx, id, report, { now: 0 })), 'applied', status)
    t.equal((await kyc.read(db, `acc_${status}`)).status, 'locked')
    const later = reportOf('approved', null)
    t.equal(
      await db.transaction(tx => kyc.report(tx, id, later, { now: 0 })),
      'ignored',
      'the order is not known',
    )
  }
})

t.test('a lock of the provider that an operator confirms is ended by no report', async t => {
  const { db, kyc } = await openKyc(t)
  const { id } = await submitted(db, kyc, 'acc_1')
  const says = (to: Report['status'], version: number): Promise<string> =>
    db.transaction(tx => kyc.report(tx, id, reportOf(to, version), { now: 0 }))
  t.equal(await says('locked', 1), 'applied')
  t.equal(await says('approved', 2), 'applied', 'its own lock the provider ends')
  t.equal(await says('locked', 3), 'applied')
  await decide(db, kyc, 'acc_1', 'locked')
  t.equal(await says('approved', 4), 'ignored')
  t.equal((await kyc.read(db, 'acc_1')).status, 'locked')
  await decide(db, kyc, 'acc_1', 'approved')
  t.equal(await says('locked', 4), 'ignored', 'the denied report counted')
  t.equal(await says('locked', 5), 'applied')
})

t.test('a confirmed lock is reported once, in words of its own', async t => {
  const { db, kyc } = await openKyc(t)
  for (const [status, cause] of [
    ['locked', 'operator'],
    ['denied', 'simulated'],
  ] as const) {
    const account = `acc_${status}`
    const { id } = await submitted(db, kyc, account)
    await db.transaction(tx => kyc.report(tx, id, reportOf(status, 1), { now: 0 }))
    for (const reason of ['first', 'second'])
      await db.transaction(tx => kyc.decide(tx, account, { status, reason, cause }, 0))
    const history = await events.history(db, account, { kind: 'kyc', id })
    t.same(
      history.map(each => each.cause),
      ['submitted', 'reported', cause],
    )
    t.equal(textOf(history.at(-1)!).title, 'Account still locked')
    t.equal((await kyc.read(db, account)).reason, 'second', 'the reason is that of the last decision')
  }
})

t.test('a report brings no links back to an application that was erased', async t => {
  const { connections, close } = await openSqlite(1, async db => {
    await migrateHost(db)
    await migrateLedger(db)
  })
  t.teardown(close)
  const [db] = connections as [SqlClient]
  const kyc = kycRecords(createSealer([{ id: 'k', secret: randomBytes(32) }]))
  const link = { url: 'https://checks.example/ada', params: {} }
  const report = { ...reportOf('needs_verification', 1), completionLink: link }
  const insert = `insert into gw_users (id, account_id, principal, kyc_status, created_at)
    values ($1, $2, $1, 'not_submitted', 0)`
  for (const [account, erased] of [
    ['acc_kept', false],
    ['acc_erased', true],
  ] as const) {
    const userId = account.replace('acc_', 'usr_')
    await rows(db, insert, [userId, account])
    const submitted = await db.transaction(tx => kyc.submit(tx, account, sampleApplication, 0))
    if (submitted.outcome !== 'submitted') throw new Error('not submitted')
    if (erased) t.match(await db.transaction(tx => eraseUser(tx, userId)), { erased })
    t.equal(await db.transaction(tx => kyc.report(tx, submitted.id, report, { now: 0 })), 'applied')
    t.match(await kyc.read(db, account), {
      status: 'needs_verification',
      completionLink: erased ? null : link,
    })
  }
})

async function openKyc(t: Test): Promise<{ db: SqlClient; kyc: Kyc }> {
  const { connections, close } = await openSqlite(1, db => migrateHost(db))
  t.teardown(close)
  const sealer = createSealer([{ id: 'k', secret: randomBytes(32) }])
  return { db: connections[0] as SqlClient, kyc: kycRecords(sealer) }
}

/** Makes an account with a pending application. */
async function submitted(db: SqlClient, kyc: Kyc, account: string): Promise<{ readonly id: string }> {
  const text = `insert into gw_users (id, account_id, principal, kyc_status, created_at)
    values ($1, $2, $1, 'not_submitted', 0)`
  await rows(db, text, [`usr_${account}`, account])
  const result = await db.transaction(tx => kyc.submit(tx, account, sampleApplication, 0))
  if (result.outcome !== 'submitted') throw new Error('not submitted')
  return result
}

async function decide(db: SqlClient, kyc: Kyc, account: string, status: Status): Promise<void> {
  const decision = { status, reason: null, cause: 'simulated' }
  await db.transaction(tx => kyc.decide(tx, account, decision, 0))
}

/** Runs the job of an application once: `again` if it is to ask again. */
async function runJob({
  id,
  provider,
  ...services
}: Pick<Parameters<typeof submitJob>[0], 'db' | 'kyc'> &
  Pick<Parameters<typeof submitJob>[1], 'provider'> & { readonly id: string }): Promise<void | 'again'> {
  const handler = submitJob({ ...services, clock: manualClock(1) }, { provider, count: () => {} })
  const outcome = await handler(
    { kind: SUBMIT_JOB, accountId: 'acc_1', subjectId: id },
    AbortSignal.timeout(1000),
  )
  return outcome === 'again' ? outcome : services.db.transaction(outcome)
}

function reportOf(status: Report['status'], version: number | null): Report {
  return { version, status, reason: null, completionLink: null, externalVerificationLink: null }
}

async function storedVersion(db: SqlClient, account: string): Promise<number | null> {
  const [row] = await rows(db, 'select version from gw_kyc_applications where account_id = $1', [account])
  return (row?.['version'] as number | null | undefined) ?? null
}

/** The events of an account follow each other without a gap, each an allowed change, up to the status that it has. */
async function checkHistory(db: SqlClient, account: string): Promise<void> {
  const text = 'select from_status, to_status, cause from gw_events where account_id = $1 order by position'
  let status: Status = 'not_submitted'
  for (const { from_status: from, to_status: to, cause } of await rows(db, text, [account])) {
    if (from !== status || !allowed(String(cause).replace('reported', 'versioned'), String(from), String(to)))
      throw new Error(`history: ${String(cause)} ${String(from)} -> ${String(to)} after ${status}`)
    status = to as Status
  }
  const [user] = await rows(db, 'select kyc_status from gw_users where account_id = $1', [account])
  if (user?.['kyc_status'] !== status) throw new Error('the last event is not the status')
}

t.test('a response that was asked for before a decision does not replace the decision', async t => {
  const { db, kyc } = await openKyc(t)
  const { id } = await submitted(db, kyc, 'acc_1')
  const provider = {
    name: 'slow',
    async submit(): Promise<Report> {
      await decide(db, kyc, 'acc_1', 'approved')
      return reportOf('manual_review', null)
    },
  }
  t.equal(await runJob({ db, kyc, provider, id }), undefined, 'the job ends')
  t.equal((await kyc.read(db, 'acc_1')).status, 'approved')
})
