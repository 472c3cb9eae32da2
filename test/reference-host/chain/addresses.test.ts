// The rules of addresses, on the vectors of their specifications.
import { readFile } from 'node:fs/promises'
import t from 'tap'
import * as internals from '../../harness/internals.ts'

const { canonicalAddress, isUnspendable, readAddress } = internals

interface Vectors {
  readonly network: string
  readonly chainId?: number
  readonly source: string
  readonly valid: readonly string[]
  readonly invalid: readonly string[]
}
const file = new URL('../../../../test/vectors/addresses.json', import.meta.url)
const vectors = JSON.parse(await readFile(file, 'utf8')) as readonly Vectors[]
const read = (network: string, text: string, chainId: number | null = null) =>
  readAddress({ id: network, chainId }, text)

for (const { network, chainId = null, source, valid, invalid } of vectors) {
  t.test(`${network}: follows the vectors of ${source}`, async t => {
    for (const address of valid)
      t.match(read(network, address, chainId), { text: canonicalAddress(address) }, address)
    for (const address of invalid) t.equal(read(network, address, chainId), undefined, address)
  })
}

t.test('refuses a valid address with one changed character, where the format has a checksum', async t => {
  const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let tried = 0
  for (const { network, chainId = null, valid } of vectors.filter(each => each.network !== 'solana')) {
    const taken: string[] = []
    for (const address of valid) {
      // In one case only, an Ethereum address has no checksum.
      const rest = address.slice(2)
      if (chainId !== null && [rest.toLowerCase(), rest.toUpperCase()].includes(rest)) continue
      for (let at = 0; at < address.length; at += 1) {
        // Every third letter, another third at each place.
        for (let letterAt = at % 3; letterAt < letters.length; letterAt += 3) {
          const letter = letters[letterAt] as string
          if (letter === address[at]) continue
          const changed = address.slice(0, at) + letter + address.slice(at + 1)
          tried += 1
          if (read(network, changed, chainId)) taken.push(changed)
        }
      }
    }
    t.same(taken, [], network)
  }
  t.comment(`${tried} changed addresses`)
})

t.test('refuses a valid address with a character left out, doubled or swapped with the next', async t => {
  for (const { network, chainId = null, valid } of vectors.filter(each => each.network !== 'solana')) {
    for (const address of valid) {
      const mistakes = [...address].flatMap((letter, at) => [
        address.slice(0, at) + address.slice(at + 1),
        address.slice(0, at) + letter + address.slice(at),
        address.slice(0, at) + (address[at + 1] ?? '') + letter + address.slice(at + 2),
      ])
      const taken = mistakes.filter(each => each !== address && read(network, each, chainId))
      const rest = address.slice(2)
      const hasNoChecksum = chainId !== null && [rest.toLowerCase(), rest.toUpperCase()].includes(rest)
      if (!hasNoChecksum) t.same(taken, [], `${network} ${address}`)
    }
  }
})

t.test('knows the networks under the names that catalogues use', async t => {
  const [xrp, btc] = ['rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2']
  for (const id of ['ripple', 'xrp', 'xrpl']) t.same([!!read(id, xrp), !!read(id, btc)], [true, false], id)
  for (const id of ['bitcoin', 'btc']) t.same([!!read(id, xrp), !!read(id, btc)], [false, true], id)
  for (const id of ['litecoin', 'ltc', 'dogecoin', 'doge', 'tron', 'trx', 'stellar', 'xlm', 'solana', 'sol'])
    t.equal(read(id, 'anything'), undefined, id)
  t.match(read('cardano', 'anything'), { text: 'anything' }, 'of an unknown network every text passes')
})

t.test('spells one address in one way', async t => {
  const upper = 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4'
  t.equal(canonicalAddress(upper), upper.toLowerCase())
  t.equal(canonicalAddress(`0x${'A'.repeat(40)}`), `0x${'a'.repeat(40)}`)
  for (const other of ['rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe', 'DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L'])
    t.equal(canonicalAddress(other), other)
})

const ZEROS = '0'.repeat(36)
const LOST: Readonly<Record<string, readonly string[]>> = {
  base: [
    `0x${'0'.repeat(40)}`,
    ...['0001', '0009', '000a', '0011', '0064', '0100', '1010', 'dead', 'dEaD', 'ffff'].map(
      end => `0x${ZEROS}${end}`,
    ),
    `0x${'f'.repeat(40)}`,
    `0x${'f'.repeat(39)}e`,
    `0x${'e'.repeat(40)}`,
    '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
    `0x${'dead'.repeat(10)}`,
    '0xdEAD000000000000000042069420694206942069',
    '0x4200000000000000000000000000000000000006',
    '0x4200000000000000000000000000000000000016',
    '0x0200000000000000000000000000000000000003',
    '0x00000000219ab540356cBB839Cbe05303d7705Fa',
    '0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02',
  ],
  bitcoin: [
    '1111111111111111111114oLvT2',
    '1BitcoinEaterAddressDontSendf59kuE',
    '1CounterpartyXXXXXXXXXXXXXXXUWLpVr',
    'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq9e75rs',
  ],
  ripple: [
    'rrrrrrrrrrrrrrrrrrrrrhoLvTp',
    'rrrrrrrrrrrrrrrrrrrrBZbvji',
    'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh',
    'rrrrrrrrrrrrrrrrrNAMEtxvNvQ',
    'rrrrrrrrrrrrrrrrrrrn5RM1rHd',
  ],
  tron: ['T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy'],
  stellar: ['GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF'],
  dogecoin: ['DDogepartyxxxxxxxxxxxxxxxxxxw1dfzr'],
  solana: [
    '11111111111111111111111111111111',
    '1nc1nerator11111111111111111111111111111111',
    'SysvarC1ock11111111111111111111111111111111',
    'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  ],
}
t.test('knows the addresses from which nobody can spend, and takes all others', async t => {
  for (const [network, addresses] of Object.entries(LOST)) {
    for (const address of addresses) {
      const found = read(network, address, network === 'base' ? 8453 : null)
      t.ok(found, `${address} is an address of ${network}`)
      t.equal(found && isUnspendable(found), true, address)
    }
  }
  for (const { network, chainId = null, valid } of vectors)
    for (const address of valid) t.equal(isUnspendable(read(network, address, chainId)!), false, address)
  for (const address of [`0x${'1'.repeat(40)}`, `0x${ZEROS.slice(1)}10000`, `0x4200${ZEROS.slice(4)}0800`])
    t.equal(isUnspendable(read('base', address, 8453)!), false, address)
})
