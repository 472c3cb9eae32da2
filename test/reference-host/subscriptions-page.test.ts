import { readFileSync } from 'node:fs'
import { manualClock } from '@gatewright/kernel/testing'
import { PAYIN_MOVES } from '#packages/reference-host/dist/modules/subscriptions/payins/states.js'
import t from 'tap'
import { toHex } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { mine, newestBlockTime, startEvm } from '../harness/chain/evm.ts'
import { DEVELOPMENT_MNEMONIC } from '../harness/chain/evm.ts'
import { openTestHost } from '../harness/host.ts'
import { runShell, shellLines } from './harness/pages/pages.ts'
import { payinChain } from './harness/paid-host.ts'

t.test('every line of docs/subscriptions.md works as printed, on a chain too', async t => {
  const chain = await startEvm()
  t.teardown(() => chain.stop())
  const clock = manualClock()
  const { env } = await payinChain(chain, clock)
  const host = await openTestHost(t, env)
  // The page's wallet pays by itself, so its block time must not be before the pay-in.
  const ahead = Math.ceil((Date.now() - (await newestBlockTime(chain.url))) / 1000) + 60
  await mine(chain.url, Math.max(1, ahead))
  const wallet = mnemonicToAccount(DEVELOPMENT_MNEMONIC, { addressIndex: 1 })
  const WALLET_PRIVATE_KEY = toHex(wallet.getHdKey().privateKey as Uint8Array)
  const { code, output } = await runShell(shellLines('docs/subscriptions.md'), {
    HOST: host.url,
    RPC_URL: chain.url,
    WALLET_PRIVATE_KEY,
  })
  t.equal(code, 0, output.slice(-800))
  t.match(
    output,
    /"availableCents":1500[^]*"cause":"paid_from_balance"[^]*"status":"confirming"[^]*"submitted"/,
  )
})

t.test('docs/subscriptions.md shows and explains every move', async t => {
  const page = readFileSync('docs/subscriptions.md', 'utf8')
  for (const [cause, { from, to }] of Object.entries(PAYIN_MOVES)) {
    t.match(page, new RegExp(`^\\| \`${cause}\` \\|`, 'm'), `${cause} is in the table`)
    for (const status of from) {
      const arrow = new RegExp(`^ +${status} --> ${to}: .*\\b${cause}\\b`, 'm')
      t.match(page, arrow, `${status} to ${to} is drawn for ${cause}`)
    }
  }
})
