import { Fault } from '@gatewright/kernel'
import t from 'tap'
import { startTestHost } from '../harness/host.ts'
import * as internals from '../harness/internals.ts'
import { newMoneyUser } from './harness/money.ts'

type TokenUse = ReturnType<typeof internals.mergeTokens>[number]
const { listTokens, mergeTokens } = internals
const USDC = `0x${'A1'.repeat(20)}`
const usdc = {
  symbol: 'USDC',
  name: 'USDC',
  chainId: 8453,
  network: 'base',
  address: USDC,
  decimals: 6,
  uses: ['payin' as const],
}
const receiver = {
  chainId: 8453,
  asset: 'USDC',
  token: USDC,
  decimals: 6,
  confirmations: 12,
  receiver: `0x${'b2'.repeat(20)}`,
}

t.test('lists the receivers of pay-ins and the assets of the providers', async t => {
  const host = await startTestHost({
    RPC_URLS: '8453=http://127.0.0.1:9,4242=http://127.0.0.1:9',
    PAYIN_RECEIVERS: JSON.stringify([receiver, { ...receiver, chainId: 4242, asset: 'TEST' }]),
  })
  t.teardown(() => host.close().catch(() => {}))
  const user = await newMoneyUser(host.send)
  const found = { ...usdc, address: USDC.toLowerCase() }
  const { tokens } = (await user.read('/tokens')).body.data as { tokens: TokenUse[] }
  t.same(
    tokens.filter(({ uses }) => uses.includes('payin')),
    [found, { ...found, symbol: 'TEST', name: 'TEST', chainId: 4242, network: 'eip155:4242' }],
  )
  const others = tokens.filter(({ uses }) => !uses.includes('payin'))
  t.same(
    others.map(({ symbol, network, uses }) => [symbol, network, ...uses].join(' ')),
    ['USDC base', 'BTC bitcoin', 'USDC ethereum', 'USDT ethereum', 'XRP ripple'].map(
      name => `${name} deposit withdrawal`,
    ),
    'what the providers of deposits and withdrawals take and send',
  )
})

t.test('merges uses by network, contract and symbol, and sorts', async t => {
  const btc = {
    symbol: 'BTC',
    name: 'Bitcoin',
    chainId: null,
    network: 'bitcoin',
    address: null,
    decimals: 8,
    uses: ['withdrawal' as const],
  }
  const provided = { ...usdc, symbol: 'usdc', name: 'USD Coin', uses: ['withdrawal', 'deposit'] as const }
  const elsewhere = { ...usdc, network: 'ethereum', chainId: 1 }
  const merged = { ...usdc, address: USDC.toLowerCase(), name: 'USD Coin' }
  t.same(mergeTokens([elsewhere, btc, usdc, { ...provided, address: USDC.toLowerCase() }, btc]), [
    { ...merged, uses: ['payin', 'deposit', 'withdrawal'] },
    btc,
    { ...elsewhere, address: USDC.toLowerCase() },
  ])
})

const caller = { session: { accountId: 'acc_1' } }

t.test('fails while a provider is down', async t => {
  const fault = new Fault('ERR_PROVIDER_UNAVAILABLE', 'down')
  const operation = listTokens({
    receivers: [],
    providerTokens: async () => {
      throw fault
    },
  }) as unknown as { handle(call: object): Promise<unknown> }
  await t.rejects(operation.handle({ caller, query: { limit: 100 } }), fault)
})

t.test('pages the tokens of a host with more than 100', async t => {
  const networks = Array.from({ length: 101 }, (_, n) => ({ ...usdc, network: `net-${1000 + n}` }))
  const operation = listTokens({
    receivers: [],
    providerTokens: async () => networks,
  }) as unknown as {
    handle(call: object): Promise<{ value: { data: { tokens: typeof networks; nextCursor: string | null } } }>
  }
  const page = async (query: object) =>
    (await operation.handle({ caller, query: { limit: 100, ...query } })).value.data
  const first = await page({})
  const last = await page({ cursor: first.nextCursor })
  t.same([first.tokens.length, last.tokens.length, last.nextCursor], [100, 1, null])
  t.same(
    [...first.tokens, ...last.tokens].map(({ network }) => network),
    networks.map(({ network }) => network),
  )
})
