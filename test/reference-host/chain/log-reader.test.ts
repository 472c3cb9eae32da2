// Reading ranges of blocks from nodes with limits of their own.
import { Fault } from '@gatewright/kernel'
import type { TransferQuery } from '#packages/reference-host/dist/chain/reader.js'
import t from 'tap'
import * as internals from '../../harness/internals.ts'

const fault = (): Fault => new Fault('ERR_RPC_UNAVAILABLE', 'rpc of chain 1 failed')

/** A node that takes so many blocks in a call, and knows blocks up to its newest one. */
function limitedNode(limits: { blocks: number; newest: number }) {
  const calls: [from: number, to: number, taken: boolean][] = []
  const reader = {
    async transfers({ fromBlock, toBlock }: TransferQuery) {
      const taken = toBlock - fromBlock + 1 <= limits.blocks && toBlock <= limits.newest
      calls.push([fromBlock, toBlock, taken])
      if (!taken) throw fault()
      return []
    },
  }
  return { limits, calls, logs: internals.logReader(reader) }
}
const range = (fromBlock: number, toBlock: number): TransferQuery => ({
  tokens: ['t'],
  receivers: ['r'],
  fromBlock,
  toBlock,
})
async function readAll(
  logs: ReturnType<typeof limitedNode>['logs'],
  query: TransferQuery,
): Promise<number[]> {
  const ends: number[] = []
  for await (const { toBlock } of logs.steps(query)) ends.push(toBlock)
  return ends
}

for (const limit of [1, 2, 9, 10, 20, 99, 500, 1999, 2000, Infinity]) {
  t.test(`reads all blocks of a node that takes ${limit} in a call, and fails seldom`, async t => {
    const { calls, logs } = limitedNode({ blocks: limit, newest: Infinity })
    const ends = await readAll(logs, range(1, 10_000))
    t.equal(ends.at(-1), 10_000)
    const read = calls.filter(([from, to, taken]) => taken && to - from >= 0)
    const covered = new Set(
      read.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, n) => from + n)),
    )
    t.equal(covered.size, 10_000, 'none is left out')
    const half = Math.min(limit, 2000) / 2
    t.ok(logs.span() > half || logs.span() === 1, `${logs.span()} blocks a step`)
    const failed = calls.filter(([, , taken]) => !taken).length
    t.ok(failed <= 11 + ends.length / 50, `${failed} of ${calls.length} calls failed`)
    const before = calls.length
    await readAll(logs, range(20_001, 20_000 + logs.span()))
    t.equal(calls.length, before + 1, 'the span is remembered')
  })
}

t.test('finds a smaller limit, and tries a larger span again after 50 steps', async t => {
  const { limits, calls, logs } = limitedNode({ blocks: Infinity, newest: Infinity })
  await readAll(logs, range(1, 4000))
  t.equal(logs.span(), 2000)
  limits.blocks = 10
  await readAll(logs, range(4001, 4300))
  t.equal(logs.span(), 9)
  limits.blocks = Infinity
  const start = calls.length
  await readAll(logs, range(5001, 5000 + 9 * 10))
  t.equal(calls.length - start, 10, 'the smaller span is remembered')
  await readAll(logs, range(6001, 7000))
  t.ok(logs.span() > 9)
  await readAll(logs, range(10_001, 200_000))
  t.equal(logs.span(), 2000)
})

t.test('learns nothing from a node that is down or does not know the newest block yet', async t => {
  for (const limits of [
    { blocks: 0, newest: Infinity },
    { blocks: Infinity, newest: 4999 },
  ]) {
    const node = limitedNode(limits)
    await t.rejects(node.logs.step(range(4000, 5000)), {
      code: 'ERR_RPC_UNAVAILABLE',
    })
    t.equal(node.calls.length, 2, 'the range, and its last block')
    t.equal(node.logs.span(), 2000)
  }
})

t.test('rejects with errors that are not of the node at once', async t => {
  let calls = 0
  const logs = internals.logReader({
    async transfers() {
      calls += 1
      throw new TypeError('broken')
    },
  })
  await t.rejects(logs.step(range(1, 100)), { message: 'broken' })
  t.equal(calls, 1)
})
