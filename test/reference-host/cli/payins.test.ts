import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { manualClock } from '@gatewright/kernel/testing'
import { rows } from '@gatewright/kernel/sql'
import { runCommand } from '@gatewright/reference-host'
import { branchOfXpub } from '#packages/reference-host/dist/chain/xpub.js'
import t from 'tap'
import { HDKey } from 'viem/accounts'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { mine, startEvm } from '../../harness/chain/evm.ts'
import { gatewright as runGatewright, type Ran } from '../../harness/gatewright.ts'
import { keptHostStoresEnv } from '../../harness/host-stores.ts'
import { startTestHost, type TestHost } from '../../harness/host.ts'
import { ask, chainUser, payinChain } from '../harness/paid-host.ts'
import { temporaryFolder } from '../../harness/files.ts'

const key = HDKey.fromMasterSeed(new Uint8Array(32).fill(3)).derive("m/44'/60'/0'")
const { addressAt } = branchOfXpub(key.publicExtendedKey)
const chain = await startEvm()
t.teardown(() => chain.stop())
const clock = manualClock()
const { env, pay, eurc } = await payinChain(chain, clock, {
  depositAddresses: [],
  xpub: key.publicExtendedKey,
})
const dataDir = temporaryFolder(t)
const hostEnv = { ...env, DATA_DIR: dataDir, CHAIN_POLL_SECONDS: '300' }
const gatewright = (...args: string[]): Promise<Ran> => runGatewright(args, { PORT: '0', ...hostEnv })

/** Runs a host on the data folder while `work` runs. */
async function withHost<T>(work: (host: TestHost) => Promise<T>): Promise<T> {
  const host = await startTestHost(hostEnv, clock)
  try {
    return await work(host)
  } finally {
    await host.close()
  }
}
const anywhere = { amountCents: 10, asset: 'EURC', payFrom: 'anywhere' }

t.test('lists an unmatched transfer with the account to credit, until it is handled', async t => {
  const { code, output } = await gatewright('payins', 'unmatched')
  t.match({ code, output }, { code: 0, output: /^No unmatched transfers\.$/m })
  const txHash = await withHost(async host => {
    const user = await chainUser(host.send, 1, clock.now())
    const payin = await ask(user, anywhere)
    t.equal(payin.payTo?.address, addressAt(0))
    const hash = await pay(16, addressAt(0), 12n, eurc)
    await mine(chain.url, 30)
    await host.chore(`watch chain ${chain.chainId}`)
    clock.advance(300_000)
    await host.chore(`record unmatched transfers of chain ${chain.chainId}`)
    return hash
  })
  const listed = await gatewright('payins', 'unmatched')
  const reference = `${chain.chainId}:${txHash}:0`
  const line = new RegExp(`wrong_amount +12 +EURC +0x\\w+ +acc_\\w+ +payin_\\w+ +${reference}$`, 'm')
  t.match(listed, { code: 0, output: line })
  const [account] = /acc_\w+/.exec(listed.output) ?? []
  const credit = await gatewright('ledger', 'credit', account as string, '0.10', reference, '--yes')
  t.match(credit, { code: 0, output: /^Credited\./ })
  t.match(await gatewright('payins', 'handled', reference), { code: 0, output: /is handled/ })
  t.match(await gatewright('payins', 'handled', reference), { code: 1, output: /no unmatched transfer/ })
  t.match(await gatewright('payins', 'handled', 'x'), { code: 1, output: /no unmatched transfer x is open/ })
  t.match(await gatewright('payins', 'unmatched'), { code: 0, output: /^No unmatched transfers\.$/m })
})

t.test('skips addresses that a lost database may have given out', async t => {
  t.match(await gatewright('payins', 'skip-addresses', '40'), { code: 2, output: /needs --yes/ })
  t.match(await gatewright('payins', 'skip-addresses', '0', '--yes'), { code: 2, output: /COUNT must be/ })
  t.match(await gatewright('payins', 'skip-addresses', '40', '--yes'), {
    code: 0,
    output: /^xpub \S+: the next index is 41\.$/m,
  })
  const txHash = await withHost(async host => {
    const user = await chainUser(host.send, 2, clock.now())
    t.equal((await ask(user, anywhere)).payTo?.address, addressAt(41))
    const metrics = await (await fetch(`${host.url}/metrics`)).text()
    t.match(metrics, /^gatewright_deposit_next_index\{xpub="[\w-]{43}"\} 41$/m)
    const hash = await pay(16, addressAt(7), 12n, eurc)
    await mine(chain.url, 30)
    clock.advance(1_000_000)
    await host.chore(`watch chain ${chain.chainId}`)
    await host.chore(`record unmatched transfers of chain ${chain.chainId}`)
    return hash
  })
  const listed = await gatewright('payins', 'unmatched')
  t.match(listed, { code: 0, output: new RegExp(`never_given_out +12 +EURC .* ${chain.chainId}:${txHash}:`) })
})

for (const stores of ['embedded', 'postgres'] as const) {
  t.test(`${stores}: watches skipped addresses on every chain of the xpub`, async t => {
    const folder = mkdtempSync(join(tmpdir(), 'gatewright-skipped-'))
    const { env: storesEnv, drop } = await keptHostStoresEnv(stores)
    const [usdc, derived] = JSON.parse(env['PAYIN_RECEIVERS'] as string) as object[]
    const fresh = {
      ...storesEnv,
      PORT: '0',
      DATA_DIR: folder,
      RPC_URLS: `${env['RPC_URLS']},1=https://rpc.example`,
      PAYIN_RECEIVERS: JSON.stringify([usdc, derived, { ...derived, chainId: 1 }]),
    }
    t.match(await runGatewright(['migrate'], fresh), { code: 0 })
    const { db, close } = openDatabaseOf(fresh)
    t.teardown(async () => {
      await close()
      await drop()
      rmSync(folder, { recursive: true, force: true })
    })
    const notes: string[] = []
    const { code, problem } = await runCommand(['payins', 'skip-addresses', '501', '--yes'], {
      env: fresh,
      ask: undefined,
      progress: note => void notes.push(note),
    })
    t.same({ code, problem }, { code: 0, problem: '' })
    t.match(notes, [/: 500 addresses skipped$/])
    const text = `select chain_id, count(*) as n, max(xpub_index) as last from gw_deposit_addresses
      group by chain_id order by chain_id`
    const counted = (await rows(db, text)).map(row => Object.values(row).map(Number))
    t.same(counted, [
      [1, 501, 500],
      [chain.chainId, 501, 500],
    ])
    t.match(await rows(db, 'select next_index from gw_deposit_sources'), [{ next_index: /^501$/ }])
  })
}
