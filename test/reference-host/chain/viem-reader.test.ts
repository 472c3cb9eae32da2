import { randomBytes } from 'node:crypto'
import { viemReader } from '#packages/reference-host/dist/chain/viem-reader.js'
import type { ChainReader } from '#packages/reference-host/dist/chain/reader.js'
import t from 'tap'
import { encodeFunctionData, parseAbi, type Hex } from 'viem'
import { accountOf, deployErc20, TOKENS } from '../../harness/chain/erc20.ts'
import {
  mine,
  newestBlockTime,
  rpc,
  sendTransaction,
  snapshot,
  stampNextBlock,
  startEvm,
  transact,
  withoutMining,
} from '../../harness/chain/evm.ts'
import { rpcFront, type RpcEntry, type RpcFront } from '../../harness/chain/rpc-front.ts'

const chain = await startEvm()
t.teardown(() => chain.stop())
const { url, chainId } = chain
const [usdc, eurc, other] = [await deployErc20(url), await deployErc20(url, 18), await deployErc20(url)]
const tokens = [usdc.address, eurc.address]
const ann = await accountOf(url, 1)
for (const token of [usdc, eurc, other]) await token.mint(ann, 10n ** 30n)
const newAddress = (): string => `0x${randomBytes(20).toString('hex')}`
const newest = async (): Promise<number> => Number(await rpc(url, 'eth_blockNumber'))
const reader = viemReader({ chainId, url })

t.test('returns every transfer of the tokens to the receivers, exactly and in chain order', async t => {
  const [shop, second] = [newAddress(), newAddress()]
  const fromBlock = (await newest()) + 1
  const minedAt = (await newestBlockTime(url)) + 100_000
  await stampNextBlock(url, minedAt)
  const large = 2n ** 80n + 1n
  const hashes = [
    ...(await withoutMining(url, async () => {
      const waiting = [await eurc.transfer(1, shop, large), await usdc.transfer(1, second, 6n)]
      await mine(url)
      return waiting
    })),
    await usdc.transfer(1, second, 0n),
    await usdc.transfer(1, shop, 5n),
  ]
  await other.transfer(1, shop, 7n)
  await usdc.transfer(1, newAddress(), 8n)
  const toBlock = await newest()
  const query = { tokens, receivers: [second, shop], fromBlock, toBlock }
  const found = await reader.transfers(query)
  const [first] = found
  t.match(first?.blockHash, /^0x[0-9a-f]{64}$/)
  t.match(first, {
    chainId,
    token: eurc.address,
    from: ann,
    to: shop,
    units: large,
    txHash: hashes[0],
    logIndex: 0,
    blockNumber: fromBlock,
    minedAt,
  })
  t.same(
    found.map(({ txHash, units, blockNumber, logIndex }) => [
      txHash,
      units,
      blockNumber - fromBlock,
      logIndex,
    ]),
    [
      [hashes[0], large, 0, 0],
      [hashes[1], 6n, 0, 1],
      [hashes[2], 0n, 1, 0],
      [hashes[3], 5n, 2, 0],
    ],
  )
  const front = await rpcFront(url)
  t.teardown(() => front.close())
  front.response = async ({ method }, real) => {
    const entry = (await real()) as { result: unknown[] }
    return method === 'eth_getLogs' ? { result: entry.result.toReversed() } : entry
  }
  t.same(await viemReader({ chainId, url: front.url }).transfers(query), found, 'in any order of the node')
  t.equal(await usdc.balanceOf(shop), 5n)
  t.same(await reader.head(), { number: toBlock, minedAt: await newestBlockTime(url) })
})

/**
 * Makes a front report blocks of the chain under other numbers in the same order, as if many blocks lay
 * between them.
 */
function renumber(front: RpcFront, numbers: ReadonlyMap<number, number>): void {
  const hex = (number: number): string => `0x${number.toString(16)}`
  const shown = <T extends object>(entry: T, key: keyof T): T => ({
    ...entry,
    [key]: hex(numbers.get(Number(entry[key])) as number),
  })
  front.response = async ({ method, params }, real): Promise<RpcEntry> => {
    if (method === 'eth_getBlockByNumber') {
      const [own] = [...numbers].find(([, number]) => number === Number(params[0])) ?? []
      if (own === undefined) return { result: null }
      return { result: shown(await rpc<{ number: string }>(url, method, hex(own), false), 'number') }
    }
    if (method !== 'eth_getLogs') return real()
    const filter = params[0] as { fromBlock: string; toBlock: string }
    const within = [...numbers].flatMap(([own, number]) =>
      number >= Number(filter.fromBlock) && number <= Number(filter.toBlock) ? [own] : [],
    )
    if (within.length === 0) return { result: [] }
    const range = { fromBlock: hex(Math.min(...within)), toBlock: hex(Math.max(...within)) }
    const logs = await rpc<{ blockNumber: string }[]>(url, method, { ...filter, ...range })
    return { result: logs.map(log => shown(log, 'blockNumber')) }
  }
}

t.test('requests at most 2000 blocks and 500 receivers per call, and misses none at the edges', async t => {
  const front = await rpcFront(url)
  t.teardown(() => front.close())
  const shop = newAddress()
  const fromBlock = (await newest()) + 1
  const numbers = new Map<number, number>()
  for (const at of [0, 1999, 2000, 3999, 4000]) {
    await usdc.transfer(1, shop, BigInt(at))
    numbers.set(await newest(), fromBlock + at)
  }
  renumber(front, numbers)
  const expected = [...numbers.values()]
  const fillers = Array.from({ length: 1000 }, newAddress)
  const receivers = [...fillers, shop, ...fillers]
  const query = { tokens, receivers, fromBlock, toBlock: fromBlock + 4000 }
  const found = await viemReader({ chainId, url: front.url }).transfers(query)
  t.same(
    found.map(transfer => transfer.blockNumber),
    expected,
  )
  const asked = front.requests.flat().filter(({ method }) => method === 'eth_getLogs')
  const filters = asked.map(
    ({ params }) => params[0] as { fromBlock: Hex; toBlock: Hex; topics: unknown[][] },
  )
  const ranges = filters.map(each => [Number(each.fromBlock), Number(each.toBlock)].map(at => at - fromBlock))
  t.same(
    ranges,
    [0, 2000, 4000].flatMap(at => Array.from({ length: 3 }, () => [at, Math.min(at + 1999, 4000)])),
  )
  t.same(
    filters.map(({ topics }) => topics[2]?.length),
    Array.from({ length: 3 }, () => [500, 500, 1]).flat(),
  )
  t.ok(front.requests.every(calls => calls.length <= 3))
  const blocks = front.requests.flat().filter(({ method }) => method === 'eth_getBlockByNumber')
  const distinct = new Set(blocks.map(({ params }) => params[0]))
  t.equal(distinct.size, 5, 'the times of 5 blocks, three of which are ends of ranges')
  t.equal(blocks.length, 3 * 3 + 2, 'and no other twice')
})

t.test('sends no call for no tokens, no receivers, or a range that ends before it starts', async t => {
  const nobody = viemReader({ chainId, url: 'http://127.0.0.1:1' })
  const query = { tokens, receivers: [newAddress()], fromBlock: 5, toBlock: 9 }
  t.same(await nobody.transfers({ ...query, tokens: [] }), [])
  t.same(await nobody.transfers({ ...query, receivers: [] }), [])
  t.same(await nobody.transfers({ ...query, toBlock: 4 }), [])
})

t.test('returns the transfers of a transaction, in any case of its hash', async t => {
  const shop = newAddress()
  const hash = await usdc.transfer(1, shop, 5n)
  const [transfer, ...more] = (await reader.ofTransaction(hash.toUpperCase().replace('0X', '0x'))) ?? []
  t.match(transfer, { token: usdc.address, from: ann, to: shop, units: 5n, txHash: hash, logIndex: 0 })
  t.same(more, [])
  const blockNumber = await newest()
  const query = { tokens, receivers: [shop], fromBlock: blockNumber, toBlock: blockNumber }
  t.same(await reader.transfers(query), [transfer], 'and the same as in its block')
})

t.test(
  'returns undefined for an unknown or pending transaction, and no transfers for one that failed or moved nothing',
  async t => {
    t.equal(await reader.ofTransaction(`0x${randomBytes(32).toString('hex')}`), undefined)
    const shop = newAddress()
    const [paid, failed] = await withoutMining(url, async () => {
      const hashes = [await usdc.transfer(1, shop, 5n), await usdc.transfer(2, shop, 5n)] as const
      t.equal(await reader.ofTransaction(hashes[0]), undefined)
      await mine(url)
      return hashes
    })
    t.equal((await reader.ofTransaction(paid))?.length, 1)
    t.same(await reader.ofTransaction(failed), [], 'the sender has no units: the chain took them back')
    const from = ann
    const plain = await sendTransaction(url, { from, to: shop, value: '0x1' })
    t.same(await reader.ofTransaction(plain), [])
  },
)

t.test('skips logs that have the transfer topic and are not transfers', async t => {
  const { contractAddress } = await transact(url, { data: TOKENS['Oddities'] as Hex })
  const shop = newAddress()
  const abi = parseAbi(['function write(address to)'])
  const data = encodeFunctionData({ abi, functionName: 'write', args: [shop as Hex] })
  const hash = await sendTransaction(url, { from: ann, to: contractAddress, data })
  const { logs } = await rpc<{ logs: unknown[] }>(url, 'eth_getTransactionReceipt', hash)
  t.equal(logs.length, 10)
  t.same(await reader.ofTransaction(hash), [])
  const [fromBlock, toBlock] = [await newest(), await newest()]
  const query = { tokens: [contractAddress.toLowerCase()], receivers: [shop], fromBlock, toBlock }
  t.same(await reader.transfers(query), [])
})

t.test('follows transfers that a reorganisation removes and mines elsewhere', async t => {
  const shop = newAddress()
  const query = { tokens, receivers: [shop], fromBlock: (await newest()) + 1, toBlock: (await newest()) + 2 }
  const takeBack = await snapshot(url)
  const hash = await usdc.transfer(1, shop, 5n)
  await mine(url)
  const [before] = await reader.transfers(query)
  t.equal(before?.txHash, hash)
  await takeBack()
  t.equal(await reader.ofTransaction(hash), undefined)
  await mine(url)
  t.equal(await usdc.transfer(1, shop, 5n), hash, 'the same transaction, one block later')
  const [after] = await reader.transfers(query)
  t.match(after, { txHash: hash, blockNumber: Number(before?.blockNumber) + 1 })
  t.same(await reader.ofTransaction(hash), [after])
})

t.test('checks once that the endpoint serves its chain', async t => {
  const front = await rpcFront(url)
  t.teardown(() => front.close())
  const fault = { code: 'ERR_RPC_UNAVAILABLE', cause: { message: 'the node serves another chain' } }
  await t.rejects(viemReader({ chainId: 1, url }).head(), fault)
  const moved: ChainReader = viemReader({ chainId, url: front.url })
  front.response = ({ method }, real) => (method === 'eth_chainId' ? { result: '0x1' } : real())
  const query = { tokens, receivers: [ann], fromBlock: 1, toBlock: 2 }
  await t.rejects(moved.head(), fault)
  await t.rejects(moved.transfers(query), fault)
  await t.rejects(moved.ofTransaction(`0x${'1'.repeat(64)}`), fault)
  front.response = (_, real) => real()
  front.requests.length = 0
  t.match(await moved.head(), { number: await newest() })
  t.match(await moved.head(), { number: await newest() })
  t.same(
    front.requests.map(calls => calls.map(({ method }) => method)),
    [['eth_chainId', 'eth_getBlockByNumber'], ['eth_getBlockByNumber']],
  )
})
