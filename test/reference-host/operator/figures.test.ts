import { randomUUID } from 'node:crypto'
import t from 'tap'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { gatewright, jsonOf } from '../../harness/gatewright.ts'
import { bearer, bootstrapUser, sessionOf } from '../../harness/host.ts'
import * as internals from '../../harness/internals.ts'
import { startOperatedHost } from '../harness/operator.ts'
import { temporaryFolder } from '../../harness/files.ts'

type Figures = Readonly<Record<string, unknown>>

const dataDir = temporaryFolder(t)
const env = { DATA_DIR: dataDir, RATE_LIMITS: '{"bootstrapPerAddressPerMinute":2}' }
// Rendered metrics are reused for a second.
let ahead = 0
const host = await startOperatedHost(env, { now: () => Date.now() + ahead })
const { db, close } = openDatabaseOf(env)
const figures = async <T = Figures>(name: string): Promise<T> => {
  const { status, body } = await host.ask(`/operator/api/${name}`)
  if (status !== 200) throw new Error(`${name} returned ${status}`)
  return body as T
}
/** Every sample of a metric: its labels and its value. */
async function metric(name: string): Promise<{ labels: string; value: number }[]> {
  ahead += 1001
  const text = await (await fetch(`${host.url}/metrics`)).text()
  const lines = text.split('\n').filter(line => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
  return lines.map(line => {
    const [, labels = '', value] = /^[^{ ]+(\{.*\})? (\S+)$/.exec(line) ?? []
    return { labels, value: Number(value) }
  })
}

const user = await bootstrapUser(host.send)
await host.send('/consumer/v1/keys', { headers: bearer(user.token) })
await host.send('/consumer/v1/keys', { headers: bearer(user.token) })
for (let n = 0; n < 3; n++) await host.send('/user/v1/bootstrap', { body: {} })

await t.test('counts the same decisions as the metrics', async t => {
  const { totals, slots } = await figures<{
    totals: Record<string, number>
    slots: Record<string, unknown>[]
  }>('decisions')
  const samples = await metric('gatewright_requests_total')
  const counted = (test: RegExp): number =>
    samples.filter(({ labels }) => test.test(labels)).reduce((sum, { value }) => sum + value, 0)
  const expected = {
    allowed: counted(/status="[23]/),
    refused: counted(/status="4(?!29)/),
    limited: counted(/status="429/),
    failed: counted(/status="5/),
  }
  // The second reading of the metrics is one request more.
  t.same({ ...totals, allowed: totals['allowed'] }, expected)
  t.ok(expected.limited >= 1 && expected.refused >= 1)
  t.equal(
    slots.reduce((sum, slot) => sum + Number(slot['limited']), 0),
    expected.limited,
  )
})

await t.test('measures the latency of each store as the metrics do', async t => {
  for (let n = 0; n < 4; n++) await host.chore('measure stores')
  const { stores } = await figures<{
    stores: { name: string; checks: number; p50Ms: number; p99Ms: number }[]
  }>('stores')
  const [count] = await metric('gatewright_store_check_seconds_count')
  t.match(stores, [{ name: 'database', checks: count?.value }])
  const buckets = (await metric('gatewright_store_check_seconds_bucket')).map(({ value }) => value)
  const counts = buckets.map((value, index) => value - (buckets[index - 1] ?? 0))
  for (const [name, quantile] of [
    ['p50Ms', 0.5],
    ['p99Ms', 0.99],
  ] as const) {
    const seconds = internals.quantileOf(internals.STORE_CHECK_SECONDS, counts, quantile) as number
    t.equal(stores[0]?.[name], seconds * 1000)
  }
})

await t.test('reports which stores respond, and how old the revocation feed is', async t => {
  const { ready, dependencies, feedAgeSeconds } = await figures<{
    ready: boolean
    dependencies: object
    feedAgeSeconds: number
  }>('state')
  t.match(dependencies, { database: 'ok', history: 'ok' })
  t.equal(ready, true)
  t.ok(feedAgeSeconds >= 0 && feedAgeSeconds < 5)
  const [sample] = await metric('gatewright_revocation_feed_age_seconds')
  t.ok(sample && sample.value >= 0 && sample.value < 5)
})

await t.test('lists the newest requests of all accounts, and those of one kind', async t => {
  const agent = await host.send('/user/v1/keys', {
    body: { label: 'agent-shopping', scopes: ['cards.read'] },
    headers: bearer(user.token),
  })
  const { userApiKey, userKeyId } = agent.body as unknown as Record<string, string>
  const token = await sessionOf(host.send, userApiKey as string)
  const refusedNow = () => host.send('/user/v1/keys', { body: { scopes: [] }, headers: bearer(token) })
  const refused = await refusedNow()
  t.equal(refused.status, 403)
  await refusedNow()
  const list = async (query: string): Promise<Figures[]> =>
    (await figures<{ requests: Figures[] }>(`requests?${query}`)).requests
  const [newest] = await list('outcome=refused')
  const kind = `account=${String(newest?.['accountId'])}&key=${userKeyId}&code=${String(refused.body.error)}`
  for (const query of ['outcome=refused', kind, `${kind}&operation=keys.create`])
    t.match((await list(query))[0], {
      operation: 'keys.create',
      status: 403,
      error: 'insufficient_scope',
      keyId: userKeyId,
      keyLabel: 'agent-shopping',
    })
  t.equal((await list(kind)).length, 2)
  t.same(await list(`${kind}&operation=cards.create`), [])
  t.same(await list(`${kind}&rule=limits`), [])
  t.equal((await list(`${kind}&rule=`)).length, 2, 'an empty rule: those without one')
  t.same(await list(kind.replace(/key=[^&]+/, 'key=')), [], 'a refusal without a key is of another kind')
  t.same(await list('outcome=failed'), [])
  const unproven = await list('account=&outcome=limited')
  t.ok(unproven.length > 0)
  t.match(unproven[0], { operation: 'auth.bootstrap', accountId: null, keyLabel: null })
  const wrong = await host.ask('/operator/api/requests?outcome=maybe')
  t.match(wrong, { status: 400, body: { error: 'invalid_request', field: 'outcome' } })

  const id = refused.headers.get('x-request-id') as string
  const found = await host.ask('/operator/api/find', { body: { text: id } })
  const requests = [{ id, status: 403, keyLabel: 'agent-shopping', details: { scope: 'keys.write' } }]
  t.match(found.body, { what: 'request', requests })
  for (const query of ['account?id=%00', 'requests?operation=a%00'])
    t.match(await host.ask(`/operator/api/${query}`), {
      status: 400,
      body: { error: 'invalid_request', message: /NUL/ },
    })

  const { refusals } = await figures<{ refusals: Figures[] }>('refusals')
  t.match(
    refusals.find(({ code }) => code === 'insufficient_scope'),
    { operation: 'keys.create', keyId: userKeyId, keyLabel: 'agent-shopping', count: 2, rule: null },
  )
})

await t.test('lists the history that the database has lost until an operator accepts it', async t => {
  await db.query(
    `insert into gw_lost_history (host_id, found_at, acknowledged_at, kept_at, accepted_at) values
      ('host_a', 1800000003000, 1800000002000, 1800000001000, null), ('host_b', 1800000003001, 1800000002001, null, 1)`,
    [],
  )
  t.same(await figures('lost-history'), {
    losses: [
      {
        hostId: 'host_a',
        foundAt: '2027-01-15T08:00:03.000Z',
        keptAt: '2027-01-15T08:00:01.000Z',
        acknowledgedAt: '2027-01-15T08:00:02.000Z',
      },
    ],
  })
  await db.query('delete from gw_lost_history', [])
  t.same(await figures('lost-history'), { losses: [] })
})

await t.test('names the callers of legacy names as the command does', async t => {
  const { aliases, unobservable } = await figures<{
    aliases: { id: string; count: number; users: unknown[] }[]
    unobservable: number
  }>('aliases')
  t.equal(unobservable, 4, 'old response fields and schemes')
  t.match(aliases, [
    { id: 'prefix:/consumer/v1', count: 2, callers: 1, users: [{ count: 2, principal: /^\w/ }] },
  ])
})

const jobs = [
  { kind: 'other.late', subjectId: 'a', createdAt: Date.now() - 90_000 },
  { kind: 'other.late', subjectId: 'b', createdAt: Date.now() - 30_000 },
  { kind: 'other.new', subjectId: 'c', createdAt: Date.now() },
]
await t.test('counts waiting jobs as the metrics do', async t => {
  const insert = `insert into gw_jobs (account_id, kind, subject_id, due_at, created_at) values ('acc_1', $1, $2, $3, $3)`
  for (const { kind, subjectId, createdAt } of jobs) await db.query(insert, [kind, subjectId, createdAt])
  await host.chore('measure jobs')
  const shown = await figures<{
    kinds: { kind: string; jobs: number; ageSeconds: number }[]
    jobs: unknown[]
  }>('jobs')
  const samples = await metric('gatewright_jobs')
  t.same(
    shown.kinds.map(({ kind, jobs: count }) => `{kind="${kind}"} ${count}`).sort(),
    samples.map(({ labels, value }) => `${labels} ${value}`).sort(),
  )
  const oldest = shown.kinds.find(({ kind }) => kind === 'other.late')?.ageSeconds ?? 0
  t.ok(oldest >= 90 && oldest < 120, `${oldest}`)
  t.equal(shown.jobs.length, 3)
})

await t.test('says when there are more lost runs and jobs than it lists', async t => {
  const count = async (name: 'lost-runs' | 'jobs'): Promise<unknown[]> => {
    const { runs, jobs: waiting, more } = await figures<Record<string, unknown[]>>(name)
    return [(runs ?? waiting)?.length, more]
  }
  t.same(await count('lost-runs'), [0, false])
  const run = `insert into gw_idempotency (account_id, digest, fingerprint, owner, fence, state, until, operation, account, began)
    values ('acc_1', $1, 'effect-of-a-lost-run-0123', '', 1700000000000, 'running', 0, 'payments.create', 'acc_1', 1700000000000)`
  for (let n = 0; n < 100; n++) await db.query(run, [`lost-${n}`])
  t.same(await count('lost-runs'), [100, false])
  await db.query(run, ['lost-100'])
  t.same(await count('lost-runs'), [100, true])
  const job = `insert into gw_jobs (account_id, kind, subject_id, due_at, created_at) values ('acc_1', $1, $2, $3, $3)`
  for (let n = 0; n < 100; n++) await db.query(job, ['other.many', `job-${n}`, Date.now()])
  t.same(await count('jobs'), [100, true])
  await db.query("delete from gw_idempotency where digest like 'lost-%'", [])
  await db.query("delete from gw_jobs where kind = 'other.many'", [])
})

await t.test('counts rows with attention as the metrics do', async t => {
  await host.chore('count rows with attention')
  const { attention } = await figures<{ attention: Record<string, number> }>('attention')
  const samples = await metric('gatewright_rows_with_attention')
  t.same(
    Object.entries(attention)
      .map(([kind, rows]) => `{kind="${kind}"} ${rows}`)
      .sort(),
    samples.map(({ labels, value }) => `${labels} ${value}`).sort(),
  )
})

const lost = { digest: 'lost', effectId: 'effect', beganAt: Date.now() - 120_000 }
let shownRuns: unknown[] = []
let shownJobs: unknown[] = []
let shownAliases: unknown[] = []

await t.test('resolves a lost run once, of two operators who decide at the same time', async t => {
  const text = `insert into gw_idempotency (account_id, digest, fingerprint, owner, fence, state, until, operation, account, began)
    values ('acc_1', $1, $2, '', $3, 'running', $4, 'payments.create', 'acc_1', $3)`
  for (const digest of [lost.digest, 'other'])
    await db.query(text, [digest, lost.effectId, lost.beganAt, lost.beganAt + 60_000])
  const { runs } = await figures<{ runs: { run: string; operationId: string }[] }>('lost-runs')
  t.match(runs, [{ operationId: 'effect', beganAt: new Date(lost.beganAt).toISOString() }, {}])
  const run = `lost.acc_1.${lost.beganAt}`
  const decide = (body: object) => host.ask('/operator/api/lost-runs/resolve', { body: { run, ...body } })
  t.match(await decide({ outcome: 'maybe' }), { status: 400, body: { field: 'outcome' } })
  t.match(await decide({ outcome: 'completed', data: [] }), { status: 400, body: { field: 'outcome' } })
  t.match(await decide({ run: 5 }), { status: 400, body: { field: 'run' } })
  for (const [field, given] of [
    ['by', { reason: 'r' }],
    ['by', { by: ' ', reason: 'r' }],
    ['reason', { by: 'ops' }],
    ['reason', { by: 'ops', reason: 'x'.repeat(1001) }],
  ] as const)
    t.match(await decide({ outcome: 'never_happened', ...given }), { status: 400, body: { field } })
  const note = { by: 'ops', reason: 'ticket 7' }
  t.match(await decide({ run: 'no run', outcome: 'never_happened', ...note }), { status: 409 })
  const both = await Promise.all([
    decide({ outcome: 'never_happened', ...note }),
    decide({ outcome: 'completed', ...note }),
  ])
  t.same(both.map(({ status }) => `${status}`).sort(), ['200', '409'])
  t.match(both.find(({ status }) => status === 409)?.body, { error: 'invalid_state' })
  shownRuns = (await figures<{ runs: unknown[] }>('lost-runs')).runs
  t.match(shownRuns, [{ run: `other.acc_1.${lost.beganAt}` }])
  t.equal(shownRuns.length, 1)
})

await t.test('responds to retries of a completed run with the data that the operator gave', async t => {
  const headers = { ...bearer(user.token), 'idempotency-key': randomUUID() }
  const path = '/user/v1/subscriptions/payin'
  const first = await host.send(path, { body: { amountCents: 1 }, headers })
  // The host has the response in its memory, so another one on the same database is asked.
  await db.query(
    `update gw_idempotency set state = 'running', response = null, until = 0 where response is not null`,
  )
  shownJobs = (await figures<{ jobs: unknown[] }>('jobs')).jobs
  shownAliases = (await figures<{ aliases: unknown[] }>('aliases')).aliases
  await host.close()
  const next = await startOperatedHost(env)
  const lostNow = await next.send(path, { body: { amountCents: 1 }, headers })
  t.match(lostNow, { status: 503, body: { error: 'outcome_unknown', operationId: String } })
  const { body } = await next.ask('/operator/api/lost-runs')
  const [found] = (body['runs'] as { run: string; operationId: string }[]).filter(
    ({ operationId }) => operationId === lostNow.body['operationId'],
  )
  const { data } = first.body
  const resolved = await next.ask('/operator/api/lost-runs/resolve', {
    body: { run: found?.run, outcome: 'completed', data, by: 'ops', reason: 'ticket 7' },
  })
  t.equal(resolved.status, 200)
  const retried = await next.send(path, { body: { amountCents: 1 }, headers })
  t.same(next.failures, [])
  t.match(retried, { status: 200, body: { data } })
  t.equal(retried.headers.get('idempotency-replayed'), 'true')
  await next.close()
})

await t.test('shows what the commands print', async t => {
  await close()
  const json = async (...args: string[]): Promise<unknown> =>
    jsonOf(await gatewright([...args, '--json'], { ...env, PORT: '0' }))
  t.same(await json('jobs', 'list'), shownJobs)
  const listed = (await json('lost-runs', 'list')) as { runs: unknown[] }
  t.match(listed.runs, shownRuns)
  const { aliases } = (await json('aliases', 'report')) as {
    aliases: { id: string; count: number; users: unknown }[]
  }
  t.match(
    shownAliases,
    aliases.filter(({ count }) => count > 0).map(({ id, count, users }) => ({ id, count, users })),
  )
  const run = `other.acc_1.${lost.beganAt}`
  const lostRuns = (verb: string, ...args: string[]) =>
    gatewright(['lost-runs', verb, ...args], { ...env, PORT: '0' })
  const note = ['--by', 'Ana', '--reason', 'ticket 8']
  t.match(await lostRuns('release', run, ...note), { code: 2, output: /needs --yes/ })
  t.match(await lostRuns('release', run, '--by', 'Ana', '--yes'), { code: 2, output: /--reason is required/ })
  t.match(await lostRuns('resolve', run, ...note, '--data', '5', '--yes'), {
    code: 2,
    output: /--data must be a JSON object/,
  })
  t.match(await lostRuns('show', run), { code: 0, output: /state +lost[^]*decision +-/ })
  t.match(await lostRuns('resolve', run, ...note, '--data', '{"id":"x"}', '--yes'), {
    code: 0,
    output: /completed/,
  })
  t.match(await lostRuns('release', run, ...note, '--yes'), {
    code: 1,
    output: /is not lost, or somebody has decided/,
  })
  t.match(await lostRuns('show', run), {
    code: 0,
    output: /operation +payments\.create[^]*account +acc_1[^]*state +done[^]*took_effect[^]*Ana[^]*ticket 8/,
  })
  t.match(await lostRuns('show', 'unknown.1'), { code: 1, output: /no record of unknown\.1/ })
  t.match(await json('lost-runs', 'list'), { runs: [] })
})
