import { inspect } from 'node:util'
import { Fault } from '@gatewright/kernel'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { collectTests, failingTests, manualClock, type TestRunner } from '@gatewright/kernel/testing'
import type { KycProvider, KycReport } from '@gatewright/reference-host'
import { kycProviderContract, type KycProviderUnderTest } from '@gatewright/reference-host/testing'
import { sampleApplication } from '#packages/reference-host/dist/testing/kyc-provider.js'
import t from 'tap'
import { startTestHost } from '../../harness/host.ts'
import * as internals from '../../harness/internals.ts'
import { openSqlite } from '../../harness/stores.ts'

const { PORTS, checkedProvider, migrateHost } = internals
const { port, sandbox } = PORTS.kyc
const { signal } = new AbortController()
const clock = manualClock()
const approved: KycReport = {
  version: 1,
  status: 'approved',
  reason: null,
  completionLink: null,
  externalVerificationLink: null,
}

async function openSandbox(): Promise<KycProviderUnderTest & { readonly db: SqlClient }> {
  const { connections, close } = await openSqlite(1, db => migrateHost(db))
  const [db] = connections as [SqlClient]
  const provider = sandbox({ db, clock, origin: 'http://127.0.0.1' })
  const applications = async (): Promise<number> =>
    (await rows(db, 'select id from gw_sandbox_provider_calls')).length
  return { provider, applications, close, db }
}

for (const { name, run } of collectTests(runner => kycProviderContract(runner, 'sandbox', openSandbox)))
  void t.test(`the sandbox provider: ${name}`, run)

/** A provider in memory, with one thing that `change` breaks. */
function inMemory(
  change: Partial<Record<'forgets' | 'deaf' | 'talks' | 'shouts' | 'falls' | 'lies', true>> = {},
) {
  return async (): Promise<KycProviderUnderTest> => {
    const known = new Set<string>()
    let effects = 0
    const provider: KycProvider = {
      name: change.shouts ? 'My Provider!' : 'memory',
      async submit(id, _, within) {
        if (!change.deaf) within.throwIfAborted()
        if (change.forgets || !known.has(id)) effects += 1
        known.add(id)
        const status = change.lies ? ('passed' as 'approved') : 'approved'
        return { ...approved, status, version: change.falls ? 100 - effects - known.size : 1 }
      },
    }
    let version = 9
    const falling: KycProvider = {
      ...provider,
      submit: async (...given) => ({ ...(await provider.submit(...given)), version: version-- }),
    }
    const failing = (code: Fault['code']): KycProvider => ({
      name: 'memory',
      async submit(_, { lastName }) {
        throw change.talks ? new Fault(code, `cannot submit ${lastName}`) : new Fault(code, 'is down')
      },
    })
    return {
      provider: change.falls ? falling : provider,
      applications: async () => effects,
      down: failing('ERR_PROVIDER_UNAVAILABLE'),
      malformed: failing('ERR_PROVIDER_REPLY'),
      close: async () => {},
    }
  }
}

t.test('the contract passes a good provider and catches each broken one', async t => {
  const failures = (open: () => Promise<KycProviderUnderTest>): Promise<string[]> =>
    failingTests((runner: TestRunner) => kycProviderContract(runner, 'memory', open))
  t.same(await failures(inMemory()), [])
  for (const [broken, expected] of [
    ['forgets', /submitted twice.*20 times/],
    ['deaf', /aborted/],
    ['talks', /holds nothing of the application/],
    ['shouts', /fits into a path/],
    ['falls', /submitted twice/],
    ['lies', /submitted twice/],
  ] as const) {
    t.match((await failures(inMemory({ [broken]: true }))).join(), expected, broken)
  }
})

t.test(
  'the sandbox decides by the first call of an id, an outage ends, and what is pending is approved',
  async t => {
    const { provider, close, db } = await openSandbox()
    t.teardown(close)
    const statusOf = async (id: string, lastName: string): Promise<string> =>
      (await provider.submit(id, { ...sampleApplication, lastName }, signal)).status
    t.equal(await statusOf('one', 'O-Denied'), 'denied')
    t.equal(await statusOf('one', 'Approved'), 'denied', 'the same application')
    t.equal(await statusOf('two', 'Smith'), 'pending')
    await t.rejects(statusOf('three', 'Outage'), { code: 'ERR_PROVIDER_UNAVAILABLE' })
    clock.advance(9999)
    await t.rejects(statusOf('three', 'Outage'), { code: 'ERR_PROVIDER_UNAVAILABLE' })
    clock.advance(1)
    t.equal(await statusOf('three', 'Outage'), 'approved')
    clock.advance(50_000)
    t.equal(await statusOf('two', 'Smith'), 'approved')
    const stored = JSON.stringify(await rows(db, 'select * from gw_sandbox_provider_calls'))
    t.notMatch(stored, /Sample|6789/, 'it keeps no personal data')
  },
)

t.test('a call ends in time, a reply has the right form, and a failure reveals nothing', async t => {
  // The time limit holds no process, and nothing else of this test would.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const counted: string[] = []
  const limits = { count: (outcome: string) => counted.push(outcome), limitMs: 20 }
  const submit = (response: (within: AbortSignal) => Promise<unknown>, by = signal): Promise<KycReport> => {
    const provider: KycProvider = {
      name: 'slow',
      submit: (_, __, within) => response(within) as Promise<KycReport>,
    }
    return checkedProvider(port, provider, limits).submit('kyc_1', sampleApplication, by)
  }
  t.same(await submit(async () => approved), approved)
  await t.rejects(
    submit(() => new Promise(() => {})),
    { code: 'ERR_PROVIDER_UNAVAILABLE', message: /did not answer in time/ },
  )
  await t.rejects(
    submit(() => new Promise(() => {}), AbortSignal.abort()),
    { code: 'ERR_PROVIDER_UNAVAILABLE' },
  )
  const revealing = (): Promise<never> => Promise.reject(new TypeError('Ada Sample 123-45-6789'))
  await t.rejects(submit(revealing), {
    code: 'ERR_PROVIDER_UNAVAILABLE',
    message: 'provider slow failed: TypeError',
  })
  const cause = new TypeError('Ada Sample 123-45-6789')
  const fault = new Fault('ERR_PROVIDER_UNAVAILABLE', 'is down', { cause, retryAfterSeconds: 7 })
  const thrown = await submit(() => Promise.reject(fault)).catch((error: unknown) => error)
  t.match(thrown, { code: 'ERR_PROVIDER_UNAVAILABLE', message: 'is down', retryAfterSeconds: 7 })
  t.notMatch(inspect(thrown), /Sample/, 'a cause is logged, so it goes')
  for (const wrong of [
    undefined,
    {},
    { ...approved, status: 'not_submitted' },
    { ...approved, version: -1 },
    { ...approved, version: 2 ** 53 },
    { ...approved, externalVerificationLink: { url: 'https://[', params: {} } },
    { ...approved, completionLink: { url: 'javascript:alert(1)', params: {} } },
  ])
    await t.rejects(
      submit(async () => wrong),
      { code: 'ERR_PROVIDER_REPLY' },
      JSON.stringify(wrong),
    )
  t.same(new Set(counted), new Set(['answered', 'unavailable', 'malformed']))
})

t.test('keeps name and verify of a provider that is an instance of a class', async t => {
  class Checks implements KycProvider {
    readonly #report = approved
    get name(): string {
      return 'checks'
    }
    async submit(): Promise<KycReport> {
      return this.#report
    }
    async verify(): Promise<string> {
      return `msg_${this.#report.status}`
    }
  }
  const { name, submit, verify } = checkedProvider(port, new Checks(), { count: () => {} })
  t.equal(name, 'checks')
  t.same(await submit('kyc_1', sampleApplication, signal), approved)
  t.equal(await verify?.({ header: () => undefined, body: new Uint8Array() }), 'msg_approved')
})

t.test('a host refuses a provider whose name is the built-in one or fits into no path', async t => {
  for (const name of ['sandbox', 'My Provider', ''])
    await t.rejects(
      startTestHost({}, undefined, { kyc: { name, submit: async () => approved } }),
      TypeError,
      name,
    )
})
