// Every call that the host, the packages and the commands make to another machine, against servers that never respond properly.
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@gatewright/client'
import { authStartCli } from '@gatewright/client/user'
import { discoverKeys, remoteKeys } from '@gatewright/scope-guard'
import { sampleApplication } from '#packages/reference-host/dist/testing/kyc-provider.js'
import { viemReader } from '#packages/reference-host/dist/chain/viem-reader.js'
import t from 'tap'
import { hostileBehaviours, hostileServer } from './harness/hostile-servers.ts'
import * as internals from '../harness/internals.ts'

const { call: callHost, checkedProvider, PORTS, rpcClients, webhookSender } = internals

/** The time limit that each caller is given, and how much later it may settle on a busy machine, in ms. */
const LIMIT_MS = 200
const GRACE_MS = 2000

type Caller = (url: string, limitMs: number) => Promise<unknown>
const never = new AbortController().signal

/** Callers by name. Each rejects, or resolves to what it has decided. */
const callers: Readonly<Record<string, Caller>> = {
  webhook: async (url, timeoutMs) => {
    const send = webhookSender({ isAllowed: () => true, timeoutMs })
    const { ok, result } = await send({ url, headers: {}, body: '{}' }, never)
    // Its status line is the response of a receiver.
    if (!ok || result === '200') throw new Error(result)
  },
  provider: async (url, limitMs) => {
    // A provider that pays no attention to its signal.
    const submit = async (): Promise<never> => {
      await (await fetch(url, { method: 'POST', body: '{}' })).json()
      throw new Error('no application')
    }
    const provider = checkedProvider(
      PORTS.kyc.port,
      { name: 'hostile', submit },
      { count: () => {}, limitMs },
    )
    await provider.submit('kyc_1', sampleApplication, never)
  },
  JWKS: async (url, timeoutMs) => remoteKeys(new URL(url), { timeoutMs })('kid'),
  discovery: async (url, timeoutMs) => discoverKeys(url, { timeoutMs })('kid'),
  'node of a chain': (url, timeoutMs) => viemReader({ chainId: 1, url, timeoutMs }).head(),
  'transaction on a chain': (url, timeoutMs) =>
    viemReader({ chainId: 1, url, timeoutMs }).ofTransaction(`0x${'1'.repeat(64)}`),
  'contract wallet': (url, timeoutMs) =>
    rpcClients([{ chainId: 1, url }], timeoutMs)[1]!.request({
      method: 'eth_call',
      params: [{ data: '0x', gas: '0x1' }, 'latest'],
    }),
  client: (url, timeoutMs) => createClient({ url, timeoutMs, retries: 0 }).call(authStartCli),
  'command of an account': (url, timeoutMs) => callHost(url, '/', { method: 'GET', timeoutMs }),
}

/** Discovery asks two addresses, one after the other. */
const limitOf = (caller: string): number => (caller === 'discovery' ? 2 * LIMIT_MS : LIMIT_MS) + GRACE_MS

for (const [behaviour, behave] of Object.entries(hostileBehaviours))
  t.test(`a server that ${behaviour} ends no call later than its deadline`, { timeout: 20_000 }, async t => {
    const settled = Object.entries(callers).map(async ([caller, call]) => {
      const server = await hostileServer(behave)
      t.teardown(() => server.close())
      const startedAt = performance.now()
      const outcome = await Promise.race([
        call(server.url, LIMIT_MS).then(
          () => 'succeeded',
          () => 'failed',
        ),
        sleep(limitOf(caller), 'has not ended', { ref: false }),
      ])
      t.equal(outcome, 'failed', `${caller} after ${Math.round(performance.now() - startedAt)} ms`)
      // The connections of the others are those of `fetch`, which keeps some for later.
      if (caller !== 'webhook' || outcome !== 'failed') return
      const closed = server.closedAll().then(() => true)
      t.ok(
        await Promise.race([closed, sleep(GRACE_MS, false, { ref: false })]),
        `${caller} closes its connection`,
      )
    })
    await Promise.all(settled)
  })
