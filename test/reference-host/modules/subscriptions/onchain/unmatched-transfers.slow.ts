import t from 'tap'
import { accountOf } from '../../../../harness/chain/erc20.ts'
import { mine, snapshot, stampNextBlock } from '../../../../harness/chain/evm.ts'
import { ask, startPaidHost, unitsOf } from '../../../harness/paid-host.ts'

const list = Array.from({ length: 12 }, (_, n) => `0x${(0xe00000 + n).toString(16).padStart(40, '0')}`)
const paid = await startPaidHost({ depositAddresses: list }, { CHAIN_POLL_SECONDS: '300' })
t.teardown(() => paid.close())
const { chain, clock, eurc, usdc, front, host, receiver, pay, watch, expire, newUser } = paid
const { url, chainId } = chain
/** Beyond the confirmations and the blocks that the watcher reads twice. */
const FINAL = 30

/** The counts of the metrics by reason. */
async function counted(): Promise<Record<string, number>> {
  const text = await (await fetch(`${host.url}/metrics`)).text()
  const found = text.matchAll(/^gatewright_unmatched_transfers_total\{chain="\d+",reason="(\w+)"\} (\d+)$/gm)
  return Object.fromEntries([...found].map(([, reason, count]) => [reason, Number(count)]))
}

/** A round of the watcher, then one of the search for unmatched transfers, which runs every five minutes. */
async function search(): Promise<void> {
  await watch()
  clock.advance(300_000)
  await host.chore(`record unmatched transfers of chain ${chainId}`)
}

const anywhere = { amountCents: 10, asset: 'EURC', payFrom: 'anywhere' }

t.test(
  'counts payments that were late, wrong, repeated or to unused addresses, once they are final',
  async t => {
    const user = await newUser()
    const [right, wrong, late] = [
      await ask(user, anywhere),
      await ask(user, anywhere),
      await ask(user, anywhere),
    ]
    const to = (payin: typeof right): string => payin.payTo?.address as string
    await pay(16, to(right), unitsOf(right), eurc)
    await pay(16, to(right), unitsOf(right), eurc)
    await pay(16, to(wrong), unitsOf(wrong) - 1n, eurc)
    await pay(16, to(wrong), unitsOf(wrong), usdc)
    await pay(16, to(wrong), 0n, eurc)
    await pay(16, list.at(-1) as string, 5n, eurc)
    await mine(url, 5)
    await search()
    t.same(await counted(), {}, 'nothing before it is final')
    await mine(url, FINAL)
    await search()
    const first = { paid_already: 1, wrong_amount: 1, wrong_token: 1, never_given_out: 1 }
    t.same(await counted(), first)
    await search()
    t.same(await counted(), first, 'each once')
    clock.set(Date.parse(late.expiresAt) + 120_000)
    await stampNextBlock(url, clock.now())
    await mine(url)
    await watch()
    await expire()
    const later = await user.renewed()
    t.match(await later.payin(late.id), { status: 'expired' })
    await pay(16, to(late), unitsOf(late), eurc)
    await mine(url, FINAL)
    await search()
    t.same(await counted(), { ...first, late: 1 }, 'an address is watched for ever')
    t.match(await later.payin(right.id), { status: 'settled' })
    t.equal(await later.balance(), 10)
  },
)

t.test(
  'counts payments to a shared address from wallets of accounts, and not those of strangers',
  async t => {
    const before = await counted()
    const user = await newUser()
    const payin = await ask(user, { amountCents: 21 })
    await pay(user.account, receiver, unitsOf(payin) + 1n)
    await pay(16, receiver, unitsOf(payin))
    const txHash = await pay(user.account, receiver, unitsOf(payin))
    await mine(url, FINAL)
    await search()
    t.match(await user.payin(payin.id), { status: 'settled', txHash })
    t.same(await counted(), { ...before, no_payin: 1 })
  },
)

t.test('never counts a transfer that a reorganisation removes', async t => {
  const before = await counted()
  const user = await newUser()
  await ask(user, { amountCents: 22 })
  const revert = await snapshot(url)
  await pay(user.account, receiver, 1n)
  await search()
  await revert()
  await mine(url, FINAL + 5)
  await search()
  t.same(await counted(), before)
})

t.test('continues a search where it stopped after the node failed', async t => {
  const before = await counted()
  const user = await newUser()
  await pay(user.account, receiver, 7n)
  await mine(url, FINAL)
  await watch()
  clock.advance(300_000)
  front.raw = response => response.socket?.destroy()
  await t.rejects(host.chore(`record unmatched transfers of chain ${chainId}`), {
    code: 'ERR_RPC_UNAVAILABLE',
  })
  front.raw = undefined
  await search()
  t.same(await counted(), { ...before, no_payin: (before['no_payin'] ?? 0) + 1 })
  t.equal(await accountOf(url, user.account), user.address)
})

t.test(
  'finds transfers on a node that takes 10 blocks in a call, and shows how many blocks are left',
  async t => {
    const before = await counted()
    const user = await newUser()
    await pay(user.account, receiver, 9n)
    await mine(url, 4 * FINAL)
    const shown = async (): Promise<number> => {
      await host.chore('measure searches of chains')
      // Metrics are rendered at most once a second.
      clock.advance(1000)
      const text = await (await fetch(`${host.url}/metrics`)).text()
      t.match(text, /^gatewright_chain_read_age_seconds\{chain="\d+"\} \d/m)
      return Number(/^gatewright_unmatched_search_blocks\{chain="\d+"\} (\d+)$/m.exec(text)?.[1])
    }
    front.response = async (call, real) => {
      const [filter] = call.params as [{ fromBlock: string; toBlock: string }]
      const isWide = call.method === 'eth_getLogs' && Number(filter.toBlock) - Number(filter.fromBlock) >= 10
      return isWide ? { error: { code: -32005, message: 'at most 10 blocks' } } : real()
    }
    t.teardown(() => (front.response = (_, real) => real()))
    await watch()
    t.ok((await shown()) >= 3 * FINAL, 'the blocks are final and not searched')
    await search()
    t.same(await counted(), { ...before, no_payin: (before['no_payin'] ?? 0) + 1 })
    t.equal(await shown(), 0)
    const failed = front.requests.length
    await mine(url, 5)
    await watch()
    t.ok(front.requests.length - failed < 10, 'the next round fails at no limit')
  },
)

t.test('shows how many addresses of a list are free, and warns when few are', async t => {
  await host.chore('measure deposit addresses')
  // Metrics are rendered at most once a second.
  clock.advance(1000)
  const text = await (await fetch(`${host.url}/metrics`)).text()
  t.match(text, `gatewright_deposit_addresses_free{chain="${chainId}",asset="EURC"} 9`)
  const user = await newUser()
  for (let n = 0; n < 8; n += 1) await ask(user, anywhere)
  await host.chore('measure deposit addresses')
  await host.chore('measure deposit addresses')
  const warnings = host.failures.filter(each => /deposit addresses of EURC/.test(String(each)))
  t.match(warnings, [
    {
      message: `1 of 12 deposit addresses of EURC on chain ${chainId} are free: add more to PAYIN_RECEIVERS, or give an xpub in their place`,
    },
  ])
})
