import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { Fault } from '@gatewright/kernel'
import { viemReader } from '#packages/reference-host/dist/chain/viem-reader.js'
import type { ChainReader } from '#packages/reference-host/dist/chain/reader.js'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { collectGarbage } from '../../harness/collect-garbage.ts'
import { accountOf, deployErc20 } from '../../harness/chain/erc20.ts'
import { mine, rpc, startEvm } from '../../harness/chain/evm.ts'
import { holds } from '../../harness/holds.ts'
import { rpcFront, type RpcEntry, type RpcFront } from '../../harness/chain/rpc-front.ts'

const chain = await startEvm()
t.teardown(() => chain.stop())
const { chainId } = chain
const token = await deployErc20(chain.url)
const [ann, shop] = [await accountOf(chain.url, 1), await accountOf(chain.url, 2)]
await token.mint(ann, 100n)
const hash = await token.transfer(1, shop, 5n)
const block = Number(await rpc(chain.url, 'eth_blockNumber'))
await mine(chain.url, 2)
const query = { tokens: [token.address], receivers: [shop], fromBlock: block, toBlock: block + 2 }

const SECRET = 'k3y-of-the-endpoint'
const UNAVAILABLE = { name: 'Fault', code: 'ERR_RPC_UNAVAILABLE', retryAfterSeconds: 5 }

/** A reader of an endpoint whose replies can be changed. Its URL contains a secret. */
async function open(t: Test, timeoutMs = 5000): Promise<{ front: RpcFront; reader: ChainReader }> {
  const front = await rpcFront(chain.url)
  t.teardown(() => front.close())
  return {
    front,
    reader: viemReader({ chainId, url: `${front.url}/v2/${SECRET}?also=${SECRET}`, timeoutMs }),
  }
}

/**
 * Expects all three functions to throw a fault that hides the endpoint's secret. Returns the messages of the
 * faults.
 */
async function allFault(t: Test, reader: ChainReader): Promise<string> {
  const asked = [reader.head(), reader.transfers(query), reader.ofTransaction(hash)]
  const faults = await Promise.all(asked.map(each => each.catch((error: unknown) => error)))
  for (const fault of faults) t.match(fault, UNAVAILABLE)
  const shown = inspect(faults, { depth: Infinity, showHidden: true })
  t.notMatch(shown, SECRET)
  return shown
}

t.test('an unreachable endpoint is a fault', async t => {
  await allFault(t, viemReader({ chainId, url: `http://127.0.0.1:1/${SECRET}` }))
})

const RAW: Record<string, [spoil: (response: ServerResponse) => void, says?: RegExp]> = {
  'HTTP 500': [response => response.writeHead(500).end(`no ${SECRET}`), /HTTP status 500/],
  'HTTP 429 with a page': [response => response.writeHead(429).end('<html>'), /HTTP status 429/],
  'HTTP 200 with a page': [response => response.end(`<html>${SECRET}</html>`)],
  'half of JSON': [response => response.end('[{"id":0')],
  nothing: [response => response.end()],
  'JSON null': [response => response.end('null')],
  'an empty batch': [response => response.end('[]'), /no result for/],
  'another id': [response => response.end('[{"jsonrpc":"2.0","id":77,"result":"0x1"}]')],
  'an error for the whole batch': [
    response => response.end(`{"id":null,"error":{"code":-32600,"message":"no batches, ${SECRET}"}}`),
    /error -32600, no batches, \[hidden\]/,
  ],
  'a redirect': [response => response.writeHead(307, { location: chain.url }).end()],
  'a cut connection': [response => response.destroy()],
  'a reply that never starts': [() => {}, /no reply in time/],
  'a reply that never ends': [response => response.write('[{"jsonrpc":'), /no reply in time/],
  'a reply of 11 MB': [response => response.end(JSON.stringify(' '.repeat(11_000_000)))],
}
for (const [title, [spoil, says = /rpc of chain/]] of Object.entries(RAW)) {
  t.test(`${title} is a fault, and the next valid reply is accepted`, async t => {
    const { front, reader } = await open(t, title.includes('never') ? 100 : 5000)
    front.raw = spoil
    t.match(await allFault(t, reader), says)
    front.raw = undefined
    t.match(await viemReader({ chainId, url: front.url }).transfers(query), [{ txHash: hash, units: 5n }])
  })
}

t.test('the timeout bounds a response body also after a garbage collection', async t => {
  const { front, reader } = await open(t, 400)
  front.raw = response => {
    response.write('[{"jsonrpc":')
    // By then the client has read the head, and nothing but its signal can end the request.
    setTimeout(collectGarbage, 200)
  }
  await t.rejects(reader.head(), { ...UNAVAILABLE, cause: { message: 'no reply in time' } })
})

t.test('an error for one call of a batch is a fault that names the call and hides the key', async t => {
  const { front, reader } = await open(t)
  front.response = ({ method }, real) =>
    method === 'eth_getLogs'
      ? { error: { code: -32005, message: `${SECRET}: more than 10000 results` } }
      : real()
  await t.rejects(reader.transfers(query), {
    ...UNAVAILABLE,
    cause: { message: 'eth_getLogs: error -32005, [hidden]: more than 10000 results' },
  })
})

t.test('a node that lags behind is a fault and never "no transfers"', async t => {
  const { front, reader } = await open(t)
  const newest = block - 1
  front.response = async ({ method, params }, real): Promise<RpcEntry> => {
    if (method === 'eth_getBlockByNumber' && params[0] === 'latest') {
      return { result: await rpc(chain.url, method, `0x${newest.toString(16)}`, false) }
    }
    if (method === 'eth_getBlockByNumber') return Number(params[0]) > newest ? { result: null } : real()
    return method === 'eth_getLogs' ? { result: [] } : real()
  }
  await t.rejects(reader.transfers(query), {
    ...UNAVAILABLE,
    cause: { message: `the node does not know block ${block + 2}` },
  })
  t.same(await reader.transfers({ ...query, fromBlock: 1, toBlock: newest }), [])
  t.match(await reader.head(), { number: newest })
})

t.test('a range that the chain has not reached is a fault', async t => {
  const { reader } = await open(t)
  await t.rejects(reader.transfers({ ...query, toBlock: block + 3 }), UNAVAILABLE)
})

t.test('requests the last block before the logs, in one HTTP request', async t => {
  const { front, reader } = await open(t)
  await reader.transfers(query)
  t.same(
    front.requests[0]?.map(({ method }) => method),
    ['eth_chainId', 'eth_getBlockByNumber', 'eth_getLogs'],
  )
})

t.test('one timeout bounds all calls for one transaction', async t => {
  const { front, reader } = await open(t, 200)
  // Each reply arrives in time, both together do not.
  front.response = async (_, real) => {
    const result = await real()
    await new Promise(resolve => setTimeout(resolve, 75))
    return result
  }
  await t.rejects(reader.ofTransaction(hash), { ...UNAVAILABLE, cause: { message: 'no reply in time' } })
})

type Fields = Record<string, unknown>
const OTHER = `0x${'ab'.repeat(32)}`
/** Each changes one field of a real log. */
const LOGS: Record<string, (log: Fields) => unknown> = {
  'another token': log => ({ ...log, address: ann }),
  'another receiver': log => ({ ...log, topics: [...(log['topics'] as string[]).slice(0, 2), OTHER] }),
  'another event': log => ({ ...log, topics: [OTHER, ...(log['topics'] as string[]).slice(1)] }),
  'no topics': log => ({ ...log, topics: [] }),
  'topics that are not a list': log => ({ ...log, topics: null }),
  'a removed log': log => ({ ...log, removed: true }),
  'a block before the range': log => ({ ...log, blockNumber: '0x1' }),
  'a block after the range': log => ({ ...log, blockNumber: '0xffff' }),
  'a pending log': log => ({ ...log, blockNumber: null, blockHash: null }),
  'a block that left the chain': log => ({ ...log, blockHash: OTHER }),
  'half a byte of data': log => ({ ...log, data: '0x1' }),
  'data that is not hex': log => ({ ...log, data: `0x${'zz'.repeat(32)}` }),
  'an amount as a number': log => ({ ...log, data: 5 }),
  'no log index': log => ({ ...log, logIndex: undefined }),
  'a log index beyond exact integers': log => ({ ...log, logIndex: '0x20000000000000' }),
  'an empty number': log => ({ ...log, logIndex: '0x' }),
  'a short hash': log => ({ ...log, transactionHash: '0x12' }),
  'no log': () => null,
}
for (const [title, spoil] of Object.entries(LOGS)) {
  t.test(`a log with ${title} is a fault`, async t => {
    const { front, reader } = await open(t)
    front.response = async ({ method }, real) => {
      const entry = (await real()) as { result: Fields[] }
      return method === 'eth_getLogs' ? { result: entry.result.map(spoil) } : entry
    }
    await t.rejects(reader.transfers(query), { ...UNAVAILABLE, cause: { message: /^malformed reply: / } })
  })
}

const spoilt: Record<string, [method: string, spoil: (result: Fields) => unknown]> = {
  'logs that are not a list': ['eth_getLogs', () => ({})],
  'one log twice': ['eth_getLogs', result => [result, result].flat()],
  'the block before': ['eth_getBlockByNumber', result => ({ ...result, number: '0x1' })],
  'a block of another hash': ['eth_getBlockByNumber', result => ({ ...result, hash: OTHER })],
  'a block without a time': ['eth_getBlockByNumber', result => ({ ...result, timestamp: null })],
  'a block that is text': ['eth_getBlockByNumber', () => 'latest'],
  'a receipt of another transaction': [
    'eth_getTransactionReceipt',
    result => ({ ...result, transactionHash: OTHER }),
  ],
  'a receipt of another block': ['eth_getTransactionReceipt', result => ({ ...result, blockHash: OTHER })],
  'a receipt without logs': ['eth_getTransactionReceipt', result => ({ ...result, logs: undefined })],
  'a receipt of status 2': ['eth_getTransactionReceipt', result => ({ ...result, status: '0x2' })],
  'a log of another transaction': [
    'eth_getTransactionReceipt',
    result => ({
      ...result,
      logs: (result['logs'] as Fields[]).map(log => ({ ...log, transactionHash: OTHER })),
    }),
  ],
  'a log of another block': [
    'eth_getTransactionReceipt',
    result => ({ ...result, logs: (result['logs'] as Fields[]).map(log => ({ ...log, blockHash: OTHER })) }),
  ],
}
for (const [title, [method, spoil]] of Object.entries(spoilt)) {
  t.test(`${title} is a fault`, async t => {
    const { front, reader } = await open(t)
    front.response = async (call, real) => {
      const entry = (await real()) as { result: Fields }
      return call.method === method ? { result: spoil(entry.result) } : entry
    }
    const asked =
      method === 'eth_getTransactionReceipt' ? reader.ofTransaction(hash) : reader.transfers(query)
    await t.rejects(asked, UNAVAILABLE)
  })
}

t.test('ignores the logs of a transaction that failed or may have failed', async t => {
  const { front, reader } = await open(t)
  for (const status of ['0x0', undefined]) {
    front.response = async (call, real): Promise<RpcEntry> => {
      const entry = (await real()) as { result: object }
      return call.method === 'eth_getTransactionReceipt' ? { result: { ...entry.result, status } } : entry
    }
    t.same(await reader.ofTransaction(hash), [])
  }
})

t.test('ignores the receipt of a pending transaction', async t => {
  const { front, reader } = await open(t)
  front.response = async ({ method }, real) => {
    const entry = (await real()) as { result: Fields }
    return method === 'eth_getTransactionReceipt'
      ? { result: { ...entry.result, blockNumber: null, blockHash: null } }
      : entry
  }
  t.equal(await reader.ofTransaction(hash), undefined)
})

t.test('whatever JSON a node sends, the reader returns real transfers or faults', async t => {
  const { front, reader } = await open(t)
  await reader.head()
  const responses = fc.dictionary(
    fc.constantFrom('eth_getLogs', 'eth_getBlockByNumber', 'eth_getTransactionReceipt'),
    fc.jsonValue(),
    { minKeys: 1 },
  )
  await holds(
    t,
    fc.asyncProperty(responses, async given => {
      front.response = ({ method }, real) => (method in given ? { result: given[method] } : real())
      const asked = [reader.head(), reader.transfers(query), reader.ofTransaction(hash)]
      for (const outcome of await Promise.allSettled(asked)) {
        if (outcome.status === 'rejected') assert.ok(outcome.reason instanceof Fault, inspect(outcome.reason))
        else if (Array.isArray(outcome.value)) assert.ok(outcome.value.every(each => each.txHash === hash))
      }
    }),
  )
})

t.test('rejects a timeout out of bounds', async t => {
  for (const timeoutMs of [99, 30_001, 100.5, NaN])
    t.throws(
      () => viemReader({ chainId, url: chain.url, timeoutMs }),
      /timeoutMs must be an integer from 100/,
    )
})
