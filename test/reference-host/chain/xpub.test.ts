import assert from 'node:assert/strict'
import { readConfig } from '@gatewright/reference-host'
import { branchOfXpub } from '#packages/reference-host/dist/chain/xpub.js'

import fc from 'fast-check'
import t from 'tap'
import { HDKey, privateKeyToAddress } from 'viem/accounts'

import { randomCases } from '../../harness/random-cases.ts'
import { holds } from '../../harness/holds.ts'

const a = (digit: string): string => `0x${digit.repeat(40)}`
const USDC = { chainId: 1, asset: 'USDC', token: a('1'), decimals: 6, receiver: a('2') }
const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 })
const account = (seed: Uint8Array): HDKey => HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'")
const SEED = new Uint8Array(32).fill(7)
const ACCOUNT = account(SEED)

/** The problem of a configuration entry with this xpub, if there is one. */
function problemOf(xpub: unknown, more: object = {}): string | undefined {
  const PAYIN_RECEIVERS = JSON.stringify([{ ...USDC, xpub, ...more }])
  const config = readConfig({ PAYIN_RECEIVERS, RPC_URLS: '1=https://one.example.com' })
  return config.ok ? undefined : config.problems.join('\n')
}

t.test('derives the same addresses as a wallet with the private key', async t => {
  await holds(
    t,
    fc.property(seeds, fc.integer({ min: 0, max: 2 ** 31 - 1 }), (seed, index) => {
      const key = account(seed)
      const spends = key.derive(`m/0/${index}`).privateKey as Uint8Array
      const address = privateKeyToAddress(`0x${Buffer.from(spends).toString('hex')}`).toLowerCase()
      const atAccount = branchOfXpub(key.publicExtendedKey)
      const atBranch = branchOfXpub(key.deriveChild(0).publicExtendedKey)
      assert.equal(atAccount.addressAt(index), address)
      assert.equal(atBranch.addressAt(index), address)
      assert.equal(atAccount.id, atBranch.id, 'both spellings share a sequence')
    }),
    { numRuns: randomCases(30) },
  )
})

t.test('accepts an xpub of an account or of its branch', async t => {
  t.equal(problemOf(ACCOUNT.publicExtendedKey), undefined)
  t.equal(problemOf(ACCOUNT.deriveChild(0).publicExtendedKey), undefined)
})

t.test('rejects a private key without showing it', async t => {
  const xprv = ACCOUNT.privateExtendedKey
  const wrongChecksum = `${xprv.slice(0, -1)}${xprv.endsWith('a') ? 'b' : 'a'}`
  for (const secret of [xprv, wrongChecksum, xprv.replace('xprv', 'zprv'), xprv.toUpperCase()]) {
    const problem = problemOf(secret)
    t.match(
      problem,
      /^PAYIN_RECEIVERS \[0\]\.xpub holds an extended private key, which must never reach a host/,
    )
    t.notOk(problem?.includes(secret.slice(4, 20)))
  }
  const hidden = problemOf(Buffer.from(ACCOUNT.privateKey as Uint8Array).toString('hex'))
  t.match(hidden, / must be an extended public key \(BIP-32\): "xpub" and 107 base58 characters$/)
})

t.test('rejects other depths, other versions, and a list besides it', async t => {
  const depths = "must be at depth 3 \\(m/44'/60'/account', whose addresses are 0/index\\) or 4"
  for (const [path, depth] of [
    ['m', 0],
    ["m/44'/60'", 2],
    ["m/44'/60'/0'/0/0", 5],
  ] as const) {
    const { publicExtendedKey } = HDKey.fromMasterSeed(SEED).derive(path)
    t.match(problemOf(publicExtendedKey), new RegExp(`${depths} .*got depth ${depth}$`))
  }
  const testnet = HDKey.fromMasterSeed(SEED, { private: 0x04358394, public: 0x043587cf }).derive(
    "m/44'/60'/0'",
  )
  t.match(problemOf(testnet.publicExtendedKey), /must be an extended public key/)
  for (const value of [5, null, '', {}, ['xpub']]) t.match(problemOf(value), /must be an extended public key/)
  t.match(
    problemOf(ACCOUNT.publicExtendedKey, { depositAddresses: [a('3')] }),
    /^PAYIN_RECEIVERS \[0\] has both depositAddresses and xpub: give one of them$/,
  )
})

t.test('rejects an xpub with any one character changed', async t => {
  const letters = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
  const xpub = ACCOUNT.publicExtendedKey
  await holds(
    t,
    fc.property(fc.nat(xpub.length - 1), fc.constantFrom(...letters), (at, letter) => {
      fc.pre(xpub[at] !== letter)
      const problem = problemOf(xpub.slice(0, at) + letter + xpub.slice(at + 1))
      assert.match(String(problem), /^PAYIN_RECEIVERS \[0\]\.xpub /)
    }),
  )
})
