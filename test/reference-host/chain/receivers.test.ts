import assert from 'node:assert/strict'
import { readConfig } from '@gatewright/reference-host'
import { unitsOf, type PayinReceiver } from '#packages/reference-host/dist/chain/receivers.js'
import fc from 'fast-check'
import t from 'tap'
import { getAddress } from 'viem'
import { holds } from '../../harness/holds.ts'

const a = (digit: string): string => `0x${digit.repeat(40)}`
const USDC = { chainId: 1, asset: 'USDC', token: a('1'), decimals: 6, receiver: a('2') }

/** Parses the variable: the receivers, or the problem. */
function read(given: unknown): readonly PayinReceiver[] | string | undefined {
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  const urls = '1=https://one.example.com,2=https://two.example.com'
  const config = readConfig({ PAYIN_RECEIVERS: text, RPC_URLS: urls })
  return config.ok ? config.value.payinReceivers : config.problems.join('\n')
}

t.test('fills in defaults and converts addresses to lower case', async t => {
  t.same(read([]), [])
  t.same(read([USDC]), [{ ...USDC, depositAddresses: [], confirmations: 12 }])
  const mixed = getAddress('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913')
  const upper = mixed.toUpperCase().replace('0X', '0x')
  const full = { ...USDC, token: mixed, confirmations: 1, depositAddresses: [a('3'), a('4')] }
  t.same(read([full]), [{ ...full, token: mixed.toLowerCase() }])
  t.same(read([{ ...full, token: upper }]), [{ ...full, token: mixed.toLowerCase() }])
})

t.test('accepts a chain as a CAIP-2 id, in the nodes too', async t => {
  const config = readConfig({
    PAYIN_RECEIVERS: JSON.stringify([{ ...USDC, chainId: 'eip155:1' }]),
    RPC_URLS: 'eip155:1=https://one.example.com?a=b',
  })
  t.match(config, {
    ok: true,
    value: {
      payinReceivers: [{ chainId: 1 }],
      rpcUrls: [{ chainId: 1, url: 'https://one.example.com?a=b' }],
    },
  })
  for (const RPC_URLS of ['1=https://a.example,eip155:1=https://b.example', 'eip155:=https://a.example'])
    t.equal(readConfig({ RPC_URLS }).ok, false, RPC_URLS)
})

t.test('accepts one asset on two chains, and two assets with one receiver', async t => {
  const elsewhere = { ...USDC, chainId: 2 }
  const other = { ...USDC, asset: 'DAI', token: a('5'), decimals: 18 }
  t.equal(read([USDC, elsewhere, other])?.length, 3)
})

const ADDRESS = 'must be an address: 0x and 40 hex digits, not all zero'
const WRONG_CASE = '0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913'
const REFUSED: Record<string, [given: unknown, problem: string]> = {
  'text that is not JSON': [
    '[{',
    'must be a JSON array of objects with chainId, asset, token, decimals, receiver, depositAddresses, xpub, confirmations',
  ],
  'one object': [
    '{}',
    'must be a JSON array of objects with chainId, asset, token, decimals, receiver, depositAddresses, xpub, confirmations',
  ],
  'an entry that is not an object': [[USDC, 'USDC'], '[1] must be an object'],
  'an entry that is null': [[null], '[0] must be an object'],
  'an unknown field': [
    [{ ...USDC, confirmation: 3 }],
    '[0] has no field "confirmation": known are chainId, asset, token, decimals, receiver, depositAddresses, xpub, confirmations',
  ],
  'a field that every object inherits': [
    '[{"__proto__":{"chainId":1}}]',
    '[0] has no field "__proto__": known are chainId, asset, token, decimals, receiver, depositAddresses, xpub, confirmations',
  ],
  'a missing field': [
    [USDC, { ...USDC, chainId: undefined }],
    '[1].chainId must be an integer from 1 to 9007199254740991',
  ],
  'a chain as text': [
    [{ ...USDC, chainId: '1' }],
    '[0].chainId must be an integer from 1 to 9007199254740991',
  ],
  'a chain of another namespace': [
    [{ ...USDC, chainId: 'solana:1' }],
    '[0].chainId must be an integer from 1 to 9007199254740991',
  ],
  'a chain id without a number': [
    [{ ...USDC, chainId: 'eip155:x' }],
    '[0].chainId must be an integer from 1 to 9007199254740991',
  ],
  'an asset with a space': [
    [{ ...USDC, asset: 'US DC' }],
    '[0].asset must be 1 to 16 letters, digits, dots, hyphens or underscores',
  ],
  'a short address': [[{ ...USDC, token: '0x12' }], `[0].token ${ADDRESS}`],
  'an address of zeros': [[{ ...USDC, receiver: a('0') }], `[0].receiver ${ADDRESS}`],
  'an address as a number': [[{ ...USDC, receiver: 5 }], `[0].receiver ${ADDRESS}`],
  'a wrong checksum': [[{ ...USDC, token: WRONG_CASE }], '[0].token has a wrong checksum (EIP-55)'],
  '1 decimal': [[{ ...USDC, decimals: 1 }], '[0].decimals must be an integer from 2 to 36'],
  '37 decimals': [[{ ...USDC, decimals: 37 }], '[0].decimals must be an integer from 2 to 36'],
  'no confirmations': [
    [{ ...USDC, confirmations: 0 }],
    '[0].confirmations must be an integer from 1 to 10000',
  ],
  'half a confirmation': [
    [{ ...USDC, confirmations: 1.5 }],
    '[0].confirmations must be an integer from 1 to 10000',
  ],
  'a deposit address alone': [
    [{ ...USDC, depositAddresses: a('3') }],
    '[0].depositAddresses must be an array of addresses',
  ],
  'a wrong deposit address': [
    [{ ...USDC, depositAddresses: [a('3'), WRONG_CASE] }],
    '[0].depositAddresses[1] has a wrong checksum (EIP-55)',
  ],
  'a receiver from which nobody can spend': [
    [{ ...USDC, receiver: `0x${'0'.repeat(36)}dEaD` }],
    '[0].receiver must not be a burn address or a contract of the network',
  ],
  'a deposit address from which nobody can spend': [
    [{ ...USDC, depositAddresses: [`0x${'0'.repeat(39)}1`] }],
    '[0].depositAddresses[0] must not be a burn address or a contract of the network',
  ],
  'an asset twice on a chain': [
    [USDC, { ...USDC, asset: 'usdc', token: a('5') }],
    '[1].asset repeats [0].asset on chain 1',
  ],
  'a token twice on a chain': [[USDC, { ...USDC, asset: 'DAI' }], '[1].token repeats [0].token on chain 1'],
  'a receiver that is a token': [[{ ...USDC, receiver: a('1') }], '[0].token is also [0].receiver'],
  'a deposit address twice': [
    [{ ...USDC, depositAddresses: [a('3'), a('3')] }],
    '[0].depositAddresses[1] is also [0].depositAddresses[0]',
  ],
  'a deposit address on two chains': [
    [
      { ...USDC, depositAddresses: [a('a')] },
      { ...USDC, chainId: 2, depositAddresses: [`0x${'A'.repeat(40)}`] },
    ],
    '[1].depositAddresses[0] is also [0].depositAddresses[0]',
  ],
  'a deposit address that is a receiver of another entry': [
    [
      { ...USDC, depositAddresses: [a('6')] },
      { ...USDC, chainId: 2, receiver: a('6') },
    ],
    '[0].depositAddresses[0] is also [1].receiver',
  ],
  'a deposit address that is a token of another entry': [
    [
      { ...USDC, depositAddresses: [a('7')] },
      { ...USDC, chainId: 2, token: a('7') },
    ],
    '[0].depositAddresses[0] is also [1].token',
  ],
}
for (const [title, [given, problem]] of Object.entries(REFUSED)) {
  t.test(`rejects ${title}, and names the place`, async t => {
    t.equal(read(given), `PAYIN_RECEIVERS ${problem}`)
  })
}

t.test('accepts an address in mixed case only with its checksum', async t => {
  const digits = fc.stringMatching(/^[0-9a-f]{40}$/)
  await holds(
    t,
    fc.property(digits, fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }), (text, raised) => {
      fc.pre(!/^0*$/.test(text) && text !== '1'.repeat(40))
      const spelled = `0x${[...text].map((digit, at) => (raised[at] ? digit.toUpperCase() : digit)).join('')}`
      const hasChecksum = /[a-f]/.test(spelled.slice(2)) && /[A-F]/.test(spelled)
      const right = !hasChecksum || getAddress(spelled.toLowerCase()) === spelled
      assert.equal(typeof read([{ ...USDC, receiver: spelled }]) !== 'string', right, spelled)
    }),
  )
})

t.test('a cent is 10^(decimals - 2) units, exactly, up to the largest amount', async t => {
  t.equal(unitsOf(1, 2), 1n)
  t.equal(unitsOf(1999, 6), 19_990_000n)
  t.equal(unitsOf(100_000_000, 36), 10n ** 42n)
  const cents = fc.integer({ min: 1, max: 100_000_000 })
  await holds(
    t,
    fc.property(cents, fc.integer({ min: 2, max: 36 }), (amount, decimals) => {
      assert.equal(unitsOf(amount, decimals).toString(), `${amount}${'0'.repeat(decimals - 2)}`)
    }),
  )
})
