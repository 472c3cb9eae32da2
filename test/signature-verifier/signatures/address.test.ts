import assert from 'node:assert/strict'
import { isChecksumAddress } from '#packages/signature-verifier/dist/signatures/address.js'
import fc from 'fast-check'
import t from 'tap'
import { getAddress, toHex } from 'viem/utils'
import { randomCases } from '../../harness/random-cases.ts'
import { holds } from '../../harness/holds.ts'

t.test('accepts the examples of EIP-55', async t => {
  for (const address of [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0xde709f2102306220921060314715629080e2fb77',
  ])
    t.ok(isChecksumAddress(address), address)
})

t.test('rejects texts that are not addresses', async t => {
  const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  for (const text of [
    '',
    '0x',
    address.slice(2),
    address.slice(0, -1),
    `${address}0`,
    `${address}\n`,
    ` ${address}`,
  ])
    t.notOk(isChecksumAddress(text), JSON.stringify(text))
})

t.test('law: accepts only the spelling that viem gives an address', async t => {
  const bytes = fc.uint8Array({ minLength: 20, maxLength: 20 })
  await holds(
    t,
    fc.property(bytes, fc.nat(), (given, at) => {
      const address = getAddress(toHex(given))
      assert.ok(isChecksumAddress(address))
      const index = 2 + (at % 40)
      const digit = address[index] as string
      const turned = digit === digit.toLowerCase() ? digit.toUpperCase() : digit.toLowerCase()
      if (turned === digit) return
      assert.ok(!isChecksumAddress(address.slice(0, index) + turned + address.slice(index + 1)))
    }),
    { numRuns: randomCases(500) },
  )
})
