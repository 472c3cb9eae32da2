import fc from 'fast-check'
import t from 'tap'
import { bytesToHex, hexToBytes, parseErc6492Signature, serializeErc6492Signature } from 'viem/utils'
import { randomCases } from '../../harness/random-cases.ts'

/** Not exported by the package, but every signature from a client goes through it. */
const { unwrapSignature } = (await import(
  `${process.cwd()}/packages/signature-verifier/dist/signatures/erc6492.js`
)) as {
  unwrapSignature(
    signature: Uint8Array,
  ): { signature: Uint8Array; deployment?: { factory: string; data: Uint8Array } } | undefined
}

const hex = (least: number, most: number): fc.Arbitrary<`0x${string}`> =>
  fc.uint8Array({ minLength: least, maxLength: most }).map(bytes => bytesToHex(bytes))
const parts = fc.record({ address: hex(20, 20), data: hex(0, 200), signature: hex(0, 200) })
const MAGIC = '6492'.repeat(16)

t.test('law: removes the wrapper that viem adds', async t => {
  fc.assert(
    fc.property(parts, ({ address, data, signature }) => {
      const unwrapped = unwrapSignature(hexToBytes(serializeErc6492Signature({ address, data, signature })))
      return (
        unwrapped !== undefined &&
        bytesToHex(unwrapped.signature) === signature &&
        unwrapped.deployment?.factory === address &&
        bytesToHex(unwrapped.deployment.data) === data
      )
    }),
    { numRuns: randomCases(500) },
  )
  t.pass('for 500 wrappers')
})

t.test('law: reads an altered wrapper as viem does, or rejects it', async t => {
  let read = 0
  fc.assert(
    fc.property(parts, fc.nat(), fc.integer({ min: 0, max: 255 }), fc.boolean(), (part, at, byte, cut) => {
      const bytes = hexToBytes(serializeErc6492Signature(part))
      const [index, body] = [at % (bytes.length - 32), bytes.subarray(0, -32)]
      bytes[index] = byte
      const bent = cut ? Buffer.concat([body.subarray(0, index), Buffer.from(MAGIC, 'hex')]) : bytes
      const unwrapped = unwrapSignature(bent)
      if (!unwrapped) return true
      read++
      const { address, data, signature } = parseErc6492Signature(bytesToHex(bent))
      const { factory, data: call } = unwrapped.deployment ?? {}
      return (
        bytesToHex(unwrapped.signature) === signature &&
        factory === address?.toLowerCase() &&
        bytesToHex(call as Uint8Array) === data
      )
    }),
    { numRuns: randomCases(2000) },
  )
  t.ok(read > 0, `read ${read}`)
})

t.test('leaves a signature without a wrapper as it is', async t => {
  for (const bytes of ['', '92', '1b', MAGIC.slice(2), `${MAGIC}00`, '11'.repeat(65)]) {
    const signature = Buffer.from(bytes, 'hex')
    t.same(unwrapSignature(signature), { signature })
  }
})

t.test('rejects wrappers that cannot be decoded, and one inside another', async t => {
  const address = `0x${'11'.repeat(20)}` as const
  const wrapped = serializeErc6492Signature({ address, data: '0x', signature: '0x12' })
  const nested = serializeErc6492Signature({ address, data: '0x', signature: wrapped })
  const dirty = [0, 11].map(at => {
    const bytes = hexToBytes(wrapped)
    bytes[at] = 1
    return bytesToHex(bytes)
  })
  const bare = ['', '00', 'ff'.repeat(96), '00'.repeat(64)].map(body => `0x${body}${MAGIC}`)
  for (const one of [nested, ...dirty, ...bare]) {
    t.equal(unwrapSignature(hexToBytes(one as `0x${string}`)), undefined, one.slice(0, 40))
  }
})
