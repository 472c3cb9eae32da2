import type { KycProvider } from '@gatewright/reference-host'
import type { DepositProvider } from '#packages/reference-host/dist/providers/deposits/port.js'
import { sampleApplication } from '#packages/reference-host/dist/testing/kyc-provider.js'
import t from 'tap'
import { collectGarbage } from '../../harness/collect-garbage.ts'
import * as internals from '../../harness/internals.ts'

const { PORTS, checkedProvider } = internals
const unavailable = { name: 'Fault', code: 'ERR_PROVIDER_UNAVAILABLE' }

/** Wraps a provider that never responds. */
function silent(limitMs: number | undefined, submit: KycProvider['submit']): KycProvider {
  const provider = { name: 'silent', submit }
  return checkedProvider(PORTS.kyc.port, provider, {
    count: () => {},
    ...(limitMs === undefined ? {} : { limitMs }),
  })
}

/** Calls a provider that never responds. */
async function callSilent(signal: AbortSignal, limitMs: number): Promise<unknown> {
  const alive = setTimeout(() => {}, 60_000)
  const { submit } = silent(limitMs, () => new Promise(() => {}))
  const call = submit('kyc_1', sampleApplication, signal)
  return call.catch((error: unknown) => error).finally(() => clearTimeout(alive))
}

/** A collection frees what only finished tasks have held. */
const collectDuringCall = (): void => void setImmediate(collectGarbage)

t.test('a call ends at its time limit, also after a garbage collection', async t => {
  const call = callSilent(new AbortController().signal, 100)
  collectDuringCall()
  t.match(await call, unavailable)
})

t.test("a call ends when the caller's signal times out, also after a garbage collection", async t => {
  const call = callSilent(AbortSignal.timeout(100), 60_000)
  collectDuringCall()
  t.match(await call, unavailable)
})

t.test('many calls at once with one signal of the caller cause no warning', async t => {
  const warnings: Error[] = []
  const note = (warning: Error): void => void warnings.push(warning)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const caller = new AbortController()
  const calls = Array.from({ length: 30 }, () => callSilent(caller.signal, 60_000))
  caller.abort()
  await Promise.all(calls)
  // Node.js emits warnings in the next tick.
  await new Promise(setImmediate)
  t.same(warnings, [])
})

t.test('a provider is notified when its call is canceled, before or during the call', async t => {
  for (const early of [true, false]) {
    const caller = new AbortController()
    if (early) caller.abort()
    const notified = new Promise<void>(resolve => {
      const { submit } = silent(undefined, (_id, _application, within) => {
        if (within.aborted) resolve()
        within.addEventListener('abort', () => resolve())
        return new Promise(() => {})
      })
      void t.rejects(submit('kyc_1', sampleApplication, caller.signal), unavailable)
    })
    caller.abort()
    await notified
  }
})

t.test('a provider without a method of its port is down, and has not found nothing', async t => {
  const { find: _, ...rest } = PORTS.deposits.sandbox({ db: {} as never, clock: { now: () => 0 } })
  const counted: string[] = []
  const provider = checkedProvider(PORTS.deposits.port, rest as DepositProvider, {
    count: outcome => counted.push(outcome),
  })
  await t.rejects(provider.find('dep_1', new AbortController().signal), unavailable)
  t.same(counted, ['unavailable'])
})
