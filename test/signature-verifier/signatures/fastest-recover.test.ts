import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { instantiateSecp256k1Wasm } from '@bitauth/libauth'
import {
  fromHashWasm,
  fromLibauth,
  fromSecp256k1Addon,
  fastestRecover,
  type Secp256k1Addon,
  type Recover,
} from '@gatewright/signature-verifier'
import { keccakWithJsSha3, recoverWithJs } from '@gatewright/signature-verifier/internal'
import fc from 'fast-check'
import { createKeccak } from 'hash-wasm'
import t from 'tap'
import { keccak256 } from 'viem/utils'
import { randomCases } from '../../harness/random-cases.ts'
import { fieldsFor, newWallet, openVerifier, signed } from '../wallets.ts'

const require = createRequire(import.meta.url)
const only =
  (wanted: string) =>
  async (specifier: string): Promise<unknown> => {
    if (!specifier.startsWith(wanted)) throw new Error('not installed')
    return import(specifier)
  }
const native = await fastestRecover()
const wasm = await fastestRecover(only('@bitauth'))

t.test('picks the native addon, then wasm, then viem, by what is installed', async t => {
  t.equal(native.name, 'native')
  t.equal(wasm.name, 'wasm')
  t.not(native.keccak256, keccakWithJsSha3)
  t.equal(wasm.keccak256, keccakWithJsSha3, 'hash-wasm was not given')
  t.same(await fastestRecover(only('nothing')), {
    name: 'js',
    recover: recoverWithJs,
    keccak256: keccakWithJsSha3,
  })
})

t.test('loads the addon itself and never the entry that falls back to elliptic', async t => {
  const asked: string[] = []
  await fastestRecover(async specifier => {
    asked.push(specifier)
    throw new Error('not installed')
  })
  t.same(asked, ['hash-wasm', 'secp256k1/bindings.js', '@bitauth/libauth'])
  const loaded = Object.keys(require.cache)
  t.ok(loaded.some(path => path.includes('secp256k1/bindings.js')))
  t.notOk(
    loaded.some(path =>
      /secp256k1\/(?:elliptic|lib\/elliptic|index)\.js|node_modules\/elliptic\//.test(path),
    ),
  )
})

t.test('skips a module that recovers a known key wrongly or has another interface', async t => {
  const liar = {
    default: { ecdsaRecover: () => new Uint8Array(65) },
    createKeccak: () => ({ init() {}, update() {}, digest: () => new Uint8Array(32) }),
  }
  for (const module of [liar, {}, null, { default: null }, { instantiateSecp256k1Wasm: () => ({}) }]) {
    const picked = await fastestRecover(async () => module)
    t.equal(picked.name, 'js')
    t.equal(picked.keccak256, keccakWithJsSha3)
  }
})

t.test('verifies wallets through each of them', async t => {
  for (const { name, recover } of [native, wasm]) {
    const { verify, clock } = openVerifier({ recover })
    const wallet = newWallet()
    const proof = await signed(wallet, fieldsFor(wallet, clock))
    const stranger = await signed(newWallet(), proof)
    t.match(await verify({ ...proof, signature: stranger.signature }), { code: 'invalid_signature' }, name)
    t.match(await verify(proof), { ok: true }, name)
  }
})

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const scalar = (most: bigint): fc.Arbitrary<bigint> =>
  fc.oneof(
    fc.bigInt({ min: 1n, max: most }),
    fc.bigInt({ min: 1n, max: 300n }),
    fc.bigInt({ min: most - 300n, max: most }),
  )

t.test(
  'law: native, wasm and viem agree on every signature in range, including r without a point',
  async t => {
    const word = (value: bigint): string => value.toString(16).padStart(64, '0')
    const outcome = async (recover: Recover, hash: Uint8Array, compact: Uint8Array, yParity: 0 | 1) => {
      const key = await recover(hash, compact, yParity)
      return key && Buffer.from(key).toString('hex')
    }
    const seen = { keys: 0, none: 0 }
    const hashes = fc.oneof(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.constantFrom(new Uint8Array(32), new Uint8Array(32).fill(255), Buffer.from(word(ORDER), 'hex')),
    )
    await fc.assert(
      fc.asyncProperty(
        hashes,
        scalar(ORDER - 1n),
        scalar(ORDER / 2n),
        fc.constantFrom<0 | 1>(0, 1),
        async (hash, r, s, y) => {
          const compact = Buffer.from(word(r) + word(s), 'hex')
          const yParity = y
          const [a, b, c] = await Promise.all(
            [native.recover, wasm.recover, recoverWithJs].map(recover =>
              outcome(recover, hash, compact, yParity),
            ),
          )
          if (a === undefined) seen.none++
          else seen.keys++
          return a === b && b === c
        },
      ),
      { numRuns: randomCases(400) },
    )
    t.ok(seen.keys > 0 && seen.none > 0, `${seen.keys} keys, ${seen.none} without`)
  },
)

t.test('accepts the modules themselves', async t => {
  const addon = require('secp256k1/bindings.js') as Secp256k1Addon
  const wallet = newWallet()
  for (const recover of [fromSecp256k1Addon(addon), fromLibauth(await instantiateSecp256k1Wasm())]) {
    const { verify, clock } = openVerifier({ recover })
    t.match(await verify(await signed(wallet, fieldsFor(wallet, clock))), { ok: true })
  }
})

t.test(
  'law: the default hash, the wasm one and viem agree on every length around the block size',
  async t => {
    const wasm = fromHashWasm(await createKeccak(256))
    const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
    for (let length = 0; length < 300; length++) {
      const bytes = randomBytes(length)
      const expected = hex(keccak256(bytes, 'bytes'))
      if (hex(wasm(bytes)) !== expected || hex(keccakWithJsSha3(bytes)) !== expected) t.fail(hex(bytes))
    }
    t.equal(hex(wasm(new Uint8Array())), 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470')
  },
)

t.test('treats an error of the addon as no key', async t => {
  const recover = fromSecp256k1Addon({
    ecdsaRecover: () => {
      throw new Error('Public key could not be recover')
    },
  })
  t.equal(await recover(new Uint8Array(32), new Uint8Array(64), 0), undefined)
})

t.test('rejects a recovery whose result has another length or another first byte', async t => {
  const wallet = newWallet()
  for (const publicKey of [
    new Uint8Array(33).fill(2),
    new Uint8Array(65).fill(2),
    new Uint8Array(64).fill(4),
  ]) {
    const { verify, clock } = openVerifier({ recover: () => publicKey })
    await t.rejects(verify(await signed(wallet, fieldsFor(wallet, clock))), /65 bytes that start with 4/)
  }
})

t.test('the wasm adapter accepts inputs of the right length only', async t => {
  const recover = fromLibauth(await instantiateSecp256k1Wasm())
  for (const [hash, compact] of [
    [33, 64],
    [31, 64],
    [32, 65],
    [32, 63],
  ] as const) {
    t.throws(() => recover(new Uint8Array(hash), new Uint8Array(compact), 0), { name: 'TypeError' })
  }
})

t.test('denies a signature of which no key is recovered, at once or later', async t => {
  const wallet = newWallet()
  for (const recover of [() => undefined, async () => undefined]) {
    const { verify, clock } = openVerifier({ recover })
    t.match(await verify(await signed(wallet, fieldsFor(wallet, clock))), { code: 'invalid_signature' })
  }
})

t.test('denies the signature of a key whose address differs in one digit', async t => {
  const wallet = newWallet()
  const address = wallet.address.toLowerCase()
  const { verify, clock } = openVerifier({ recover: native.recover })
  for (let at = 2; at < 42; at++) {
    const digit = (Number.parseInt(address[at] as string, 16) ^ (1 << (at % 4))).toString(16)
    const other = address.slice(0, at) + digit + address.slice(at + 1)
    const proof = await signed(wallet, fieldsFor(wallet, clock, { address: other }))
    t.match(await verify(proof), { code: 'invalid_signature' }, `digit ${at}`)
  }
})
