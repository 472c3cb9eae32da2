import { keccakWithJsSha3, recoverWithJs, type Keccak256, type Recover } from './recover.ts'

/** The part of `secp256k1/bindings.js` (npm `secp256k1` 5) that is used. */
export interface Secp256k1Addon {
  ecdsaRecover(signature: Uint8Array, recoveryId: number, hash: Uint8Array, compressed: boolean): Uint8Array
}

/**
 * The part of an instantiated libauth `Secp256k1Wasm` (npm `@bitauth/libauth` 3) that is used. Numbers are addresses in
 * its memory.
 */
export interface LibauthWasm {
  /** Its whole memory, of a fixed size. */
  readonly heapU8: Uint8Array
  malloc(bytes: number): number
  mallocSizeT(value: number): number
  contextCreate(capabilities: number): number
  recoverableSignatureParse(context: number, parsed: number, compact: number, recoveryId: 0 | 1): 0 | 1
  recover(context: number, publicKey: number, signature: number, hash: number): 0 | 1
  pubkeySerialize(context: number, bytes: number, length: number, publicKey: number, form: number): 1
}

/**
 * Adapts the native addon, libsecp256k1 in C. Pass `secp256k1/bindings.js`: the package's main entry silently falls
 * back to `elliptic`, which is slow and has accepted forgeries.
 */
export function fromSecp256k1Addon(addon: Secp256k1Addon): Recover {
  return (hash, compact, yParity) => {
    try {
      return addon.ecdsaRecover(compact, yParity, hash, false)
    } catch {
      // r and s are in range, so the one error left is "no such point".
      return undefined
    }
  }
}

/** `SECP256K1_CONTEXT_VERIFY` and `SECP256K1_EC_UNCOMPRESSED` of libsecp256k1. */
const [VERIFY, UNCOMPRESSED] = [0x101, 0x02]

/**
 * Adapts libauth, libsecp256k1 in WebAssembly: `fromLibauth(await instantiateSecp256k1Wasm())`. Memory is allocated
 * once and reused by every call: a call contains no `await`, so two calls never overlap.
 */
export function fromLibauth(wasm: LibauthWasm): Recover {
  const { heapU8 } = wasm
  const context = wasm.contextCreate(VERIFY)
  const [hashAt, compactAt] = [wasm.malloc(32), wasm.malloc(64)]
  const [signatureAt, keyAt] = [wasm.malloc(65), wasm.malloc(64)]
  const [bytesAt, lengthAt] = [wasm.malloc(65), wasm.mallocSizeT(65)]
  return (hash, compact, yParity) => {
    // Longer input would overwrite the memory after it; shorter input would leave bytes of the previous call.
    if (hash.length !== 32 || compact.length !== 64) throw new TypeError('recover takes 32 and 64 bytes')
    heapU8.set(hash, hashAt)
    heapU8.set(compact, compactAt)
    if (wasm.recoverableSignatureParse(context, signatureAt, compactAt, yParity) !== 1) return undefined
    if (wasm.recover(context, keyAt, signatureAt, hashAt) !== 1) return undefined
    wasm.pubkeySerialize(context, bytesAt, lengthAt, keyAt, UNCOMPRESSED)
    return heapU8.slice(bytesAt, bytesAt + 65)
  }
}

/** The part of a hash-wasm hasher (npm `hash-wasm` 4) that is used. */
export interface HashWasmKeccak {
  init(): unknown
  update(bytes: Uint8Array): unknown
  digest(form: 'binary'): Uint8Array
}

/** Adapts hash-wasm: `fromHashWasm(await createKeccak(256))`. */
export function fromHashWasm(hasher: HashWasmKeccak): Keccak256 {
  return bytes => {
    hasher.init()
    hasher.update(bytes)
    return hasher.digest('binary')
  }
}

/** The result of `fastestRecover`: options of `createVerifier`, and their name for the host's log. */
export interface FastestRecover {
  readonly name: 'native' | 'wasm' | 'js'
  readonly recover: Recover
  readonly keccak256: Keccak256
}

/** Imports a module by name. */
export type LoadModule = (specifier: string) => Promise<unknown>

const CANDIDATES: readonly {
  readonly name: 'native' | 'wasm'
  readonly specifier: string
  make(module: unknown): Recover | Promise<Recover>
}[] = [
  {
    name: 'native',
    specifier: 'secp256k1/bindings.js',
    make: module => fromSecp256k1Addon((module as { default: Secp256k1Addon }).default),
  },
  {
    name: 'wasm',
    specifier: '@bitauth/libauth',
    make: async module =>
      fromLibauth(
        await (module as { instantiateSecp256k1Wasm(): Promise<LibauthWasm> }).instantiateSecp256k1Wasm(),
      ),
  },
]

/**
 * Finds the fastest recovery that is installed: `secp256k1` (native), else `@bitauth/libauth` (wasm), else pure JS; and
 * `hash-wasm` for the hash if it is installed. None of them is a dependency. A candidate that does not load, such as an
 * addon without a build for this machine, or that computes a known result wrong, is skipped. `name` is for the host's
 * log. `load` imports a module by name; the default resolves from this package's folder up. Where packages cannot see
 * each other's modules, pass `specifier => import(specifier)` from your own code.
 */
export async function fastestRecover(
  load: LoadModule = async specifier => import(specifier),
): Promise<FastestRecover> {
  const keccak256 = await pickKeccak(load)
  for (const { name, specifier, make } of CANDIDATES) {
    try {
      const recover = await make(await load(specifier))
      if (await recoversKnownKey(recover)) return { name, recover, keccak256 }
    } catch {
      // Not installed, or not built for this machine.
    }
  }
  return { name: 'js', recover: recoverWithJs, keccak256 }
}

async function pickKeccak(load: LoadModule): Promise<Keccak256> {
  try {
    const module = (await load('hash-wasm')) as { createKeccak(bits: 256): Promise<HashWasmKeccak> }
    const keccak256 = fromHashWasm(await module.createKeccak(256))
    if (Buffer.from(keccak256(Buffer.from('gatewright'))).toString('hex') === KNOWN.hash) return keccak256
  } catch {
    // Not installed.
  }
  return keccakWithJsSha3
}

/**
 * A known result: `hash` is Keccak-256 of `gatewright`; the signature is by the private key 1, whose public key is the
 * generator of secp256k1.
 */
const KNOWN = {
  hash: '18c758882e756725c05d985be0645f3e9574470b8f115b4027b77364d9925ecd',
  compact:
    '822dc3833f97cbe30eab6417f9a595fb75ad17c59408f919a57d63e5e56a80103559d5db02d2341849ea7c665531e34183becb2fbd6017b863ec912194f1be50',
  publicKey:
    '0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8',
}

async function recoversKnownKey(recover: Recover): Promise<boolean> {
  const publicKey = await recover(Buffer.from(KNOWN.hash, 'hex'), Buffer.from(KNOWN.compact, 'hex'), 0)
  return publicKey !== undefined && Buffer.from(publicKey).toString('hex') === KNOWN.publicKey
}
