import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fastestRecover, type Recover } from '@gatewright/signature-verifier'
import { recoverWithJs } from '@gatewright/signature-verifier/internal'
import fc from 'fast-check'
import t from 'tap'

/** Not exported by the package, but every signature from a client goes through it before any recovery. */
const { readEcdsa, leadingSignatures, parseHex } = (await import(
  `${process.cwd()}/packages/signature-verifier/dist/signatures/ecdsa.js`
)) as {
  readEcdsa(bytes: Uint8Array): { compact: Uint8Array; yParity: 0 | 1 } | undefined
  leadingSignatures(bytes: Uint8Array): readonly Uint8Array[]
  parseHex(text: unknown): Uint8Array | undefined
}

interface Vectors {
  readonly publicKey: string
  readonly msg: string
  readonly r: string
  readonly s: string
  readonly highS: string
  readonly special: readonly string[]
}
const vectors = JSON.parse(readFileSync('test/vectors/wycheproof-secp256k1.json', 'utf8')) as Vectors
const hash = createHash('sha256').update(vectors.msg, 'hex').digest()
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')
const hex = (value: bigint, digits = 64): string => value.toString(16).padStart(digits, '0')
const native = (await fastestRecover()).recover

/** Whether the vectors' key made this signature, for any v, by this recovery. */
async function isOfKey(recover: Recover, signature: Uint8Array): Promise<boolean> {
  for (const v of [0, 1, 27, 28]) {
    const ecdsa = readEcdsa(Buffer.concat([signature, Buffer.of(v)]))
    const key = ecdsa && (await recover(hash, ecdsa.compact, ecdsa.yParity))
    if (key && Buffer.from(key).toString('hex') === vectors.publicKey) return true
  }
  return false
}

t.test('Wycheproof: accepts the valid signature in its low-s form only', async t => {
  const { r, s, highS } = vectors
  for (const recover of [recoverWithJs, native]) {
    t.equal(await isOfKey(recover, bytes(r + s)), true)
    t.equal(await isOfKey(recover, bytes(r + highS)), false)
  }
})

t.test('Wycheproof: rejects every modified r or s and every pair of special values', async t => {
  const [r, s] = [BigInt(`0x${vectors.r}`), BigInt(`0x${vectors.s}`)]
  const wrong: string[] = [hex(ORDER - r) + vectors.s]
  for (const by of [ORDER, 256n * ORDER, 2n ** 256n, 2n ** 320n]) {
    const digits = hex(r + by).length + (hex(r + by).length % 2)
    wrong.push(hex(r + by, digits) + hex(s, digits), hex(r, digits) + hex(s + by, digits))
  }
  for (const one of vectors.special) for (const other of vectors.special) wrong.push(one + other)
  t.equal(wrong.length, 58)
  for (const signature of wrong) {
    for (const recover of [recoverWithJs, native]) {
      if (await isOfKey(recover, bytes(signature))) t.fail(signature)
    }
  }
})

t.test('reads r and s in range, low s, every v, and both lengths; nothing else', async t => {
  const one = hex(1n)
  const [last, half] = [hex(ORDER - 1n), ORDER / 2n]
  const reads = (text: string): unknown => readEcdsa(bytes(text))
  const first = hex(1n << 248n)
  for (const good of [one + one, last + one, one + hex(half), last + hex(half), first + first]) {
    for (const [v, yParity] of [
      ['00', 0],
      ['01', 1],
      ['1b', 0],
      ['1c', 1],
    ] as const) {
      t.match(reads(good + v), { yParity })
    }
    t.match(reads(good), { yParity: 0 }, 'EIP-2098')
    const odd = bytes(good)
    odd[32] = (odd[32] as number) | 0x80
    t.match(readEcdsa(odd), { yParity: 1, compact: bytes(good) }, 'EIP-2098')
  }
  for (const bad of [
    hex(0n) + one,
    one + hex(0n),
    hex(ORDER) + one,
    one + hex(half + 1n),
    one + hex(ORDER),
  ]) {
    t.equal(reads(`${bad}1b`), undefined)
  }
  for (const v of ['02', '03', '1a', '1d', '1e', '25', '7f', '80', 'ff'])
    t.equal(reads(one + one + v), undefined)
  t.equal(reads(`${one}${hex(half + 1n)}`), undefined, 'EIP-2098 with a high s')
  for (const size of [0, 1, 32, 63, 66, 130]) t.equal(readEcdsa(new Uint8Array(size).fill(1)), undefined)
})

t.test('finds the signature at the start of the bytes, in every form and with anything after it', async t => {
  const number = (most: bigint): fc.Arbitrary<bigint> => fc.bigInt({ min: 1n, max: most })
  const forms = fc.constantFrom('as it is', 'mirrored', 'with the parity in s')
  fc.assert(
    fc.property(number(ORDER - 1n), number(ORDER / 2n), forms, fc.uint8Array(), (r, s, form, behind) => {
      const sent = { 'as it is': s, mirrored: ORDER - s, 'with the parity in s': s | (1n << 255n) }[form]
      const found = leadingSignatures(Buffer.concat([bytes(hex(r) + hex(sent)), behind]))
      return found.length <= 2 && found.some(compact => bytes(hex(r) + hex(s)).equals(compact))
    }),
  )
  for (const none of ['', '11'.repeat(63), hex(0n) + hex(1n), hex(ORDER) + hex(1n), hex(1n) + hex(0n)]) {
    t.same(leadingSignatures(bytes(none)), [])
  }
  const half = hex(1n) + hex(ORDER / 2n)
  t.same(leadingSignatures(bytes(half)), [bytes(half)])
  const ofOrder = hex(1n) + hex(ORDER)
  // With the parity in s this is 2^255 less, which is in range.
  t.same(leadingSignatures(bytes(ofOrder)), [bytes(hex(1n) + hex(ORDER - (1n << 255n)))])
})

t.test('parses whole bytes of hex after 0x, up to 16 KiB', async t => {
  t.same(parseHex('0x'), bytes(''))
  t.same(parseHex('0xAbCd'), bytes('abcd'))
  t.equal(parseHex(`0x${'00'.repeat(16_384)}`)?.length, 16_384)
  for (const text of [
    '',
    '0',
    'abcd',
    '0X00',
    '0x0',
    '0x0g',
    '0xg0',
    '0x\u00ff0',
    '0x\u00800',
    '0x00 ',
    '0x00\n',
    `0x${'00'.repeat(16_385)}`,
    7,
    null,
  ]) {
    t.equal(parseHex(text), undefined)
  }
})
