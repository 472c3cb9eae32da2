// What a wallet proof costs beside viem's verifyMessage and siwe, what junk costs, and how long the event loop waits
// under a flood of bad signatures, with and without the cap on recoveries.
import { spawnSync } from 'node:child_process'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import {
  createVerifier,
  fastestRecover,
  type Verifier,
  type FastestRecover,
  type VerifierOptions,
} from '@gatewright/signature-verifier'
import type { WalletProof } from '@gatewright/signature-verifier/internal'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { verifyMessage } from 'viem/utils'
import { median } from './arithmetic.ts'
import { extent } from './extent.ts'
import { compare } from './harness.ts'
import { tool } from '../harness/tools.ts'

const OPERATIONS = 150
const now = Date.now()
const issuedAt = new Date(now)
const expiresAt = new Date(now + 590_000)
const clock = { now: () => now }

const made = Array.from({ length: OPERATIONS }, async (_, index) => {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const fields = {
    address: wallet.address,
    nonce: `nonce-${index}-${now}`,
    issuedAt: issuedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  }
  const message = [
    'Gatewright Bootstrap',
    `Address: ${fields.address}`,
    `Nonce: ${fields.nonce}`,
    `Issued At: ${fields.issuedAt}`,
    `Expires At: ${fields.expiresAt}`,
  ].join('\n')
  const signature = await wallet.signMessage({ message })
  const siweText = createSiweMessage({
    address: wallet.address,
    domain: 'app.example.com',
    uri: 'https://app.example.com/login',
    version: '1',
    chainId: 1,
    nonce: 'abcdefgh12345678',
    issuedAt,
    expirationTime: expiresAt,
    statement: 'Sign in.',
  })
  const siweSignature = await wallet.signMessage({ message: siweText })
  return {
    message,
    proof: { ...fields, signature },
    address: wallet.address,
    signature,
    siweText,
    siweSignature,
  }
})
const cases = await Promise.all(made)
const at = (index: number): (typeof cases)[number] => cases[index % cases.length] as (typeof cases)[number]

let verifier: Verifier
/** A verifier with empty replay memory, so that every sample may use the same proofs. */
const open = (options: Partial<VerifierOptions> = {}): void => {
  verifier = createVerifier({ service: 'Gatewright', nonces: memoryNonces(), clock, ...options })
}

const ACCEPTED = 'accepted'

/**
 * Verifies and insists on the outcome: a bench of the wrong path would be fast and worthless. A denial is written as its
 * code, then its reason or the field that it names.
 */
async function expect(proof: WalletProof, outcome: string): Promise<void> {
  const verdict = await verifier.verify(proof)
  const got = verdict.ok ? ACCEPTED : `${verdict.code}: ${verdict.reason ?? verdict.field}`
  if (got !== outcome) throw new Error(`expected ${outcome}, got ${got}`)
}

const viem = {
  name: 'viem verifyMessage',
  run: async (index: number) => {
    const { address, message, signature } = at(index)
    if (!(await verifyMessage({ address, message, signature }))) throw new Error('viem refused')
  },
}
interface Siwe {
  readonly SiweMessage: new (text: string) => { verify(proof: object): Promise<unknown> }
}
const { SiweMessage } = await tool<Siwe>('siwe')
const siwe = {
  name: 'siwe verify',
  run: async (index: number) => {
    const { siweText, siweSignature } = at(index)
    await new SiweMessage(siweText).verify({ signature: siweSignature, time: issuedAt.toISOString() })
  },
}

await compare('signature-verifier: an accepted proof of template A, pure JS', {
  ours: { name: 'verify', before: () => open(), run: index => expect(at(index).proof, ACCEPTED) },
  peers: [{ ...viem, minRatio: 1 / 1.05 }, siwe],
  operations: OPERATIONS,
})

const WRONG_SIGNER = 'invalid_signature: not signed by this key'
await compare('signature-verifier: a refused signature, pure JS (two recoveries)', {
  ours: {
    name: 'verify',
    before: () => open(),
    run: index => expect({ ...at(index).proof, signature: at(index + 1).signature }, WRONG_SIGNER),
  },
  peers: [{ ...viem, minRatio: 1 / 2.1 }],
  operations: OPERATIONS,
})

/** Junk is so cheap that one operation of ours is `count` proofs; the bar is divided by as many. */
async function compareJunk(
  title: string,
  count: number,
  minRatio: number,
  junk: (proof: WalletProof, index: number) => WalletProof,
  denial: string,
): Promise<void> {
  const proofs = Array.from({ length: count }, (_, index) => junk(at(index).proof, index))
  await compare(`signature-verifier: ${title}, ${count} proofs beside one of viem`, {
    ours: {
      name: `verify x ${count}`,
      before: () => open(),
      run: async () => {
        for (const proof of proofs) await expect(proof, denial)
      },
    },
    peers: [{ ...viem, minRatio: minRatio / count }],
    operations: OPERATIONS,
  })
}

await compareJunk(
  'junk by shape (1/500)',
  250,
  500,
  proof => ({ ...proof, signature: '0xzz' }),
  'invalid_request: signature',
)
await compareJunk(
  'junk by nonce shape (1/500)',
  250,
  500,
  proof => ({ ...proof, nonce: 'a b' }),
  'invalid_request: nonce',
)
const past = { issuedAt: new Date(now - 2000).toISOString(), expiresAt: new Date(now - 1000).toISOString() }
await compareJunk('expired (1/100)', 50, 100, proof => ({ ...proof, ...past }), 'invalid_signature: expired')
await compareJunk(
  'wrong checksum (1/100)',
  50,
  100,
  (proof, index) => ({ ...proof, address: `0xABCDEFabcdef${String(index).padStart(28, '0')}` }),
  'invalid_request: address',
)

/** Verifications per CPU second with another recovery: ten of ours beside one of viem. */
async function compareRecipe({ name, ...recovery }: FastestRecover, minRatio: number): Promise<void> {
  const spread = 10
  await compare(`signature-verifier: accepted proofs, ${name}, ${spread} beside one of viem`, {
    ours: {
      name: `verify x ${spread}`,
      before: () => open(recovery),
      run: async index => {
        if (index % 15 === 0) open(recovery)
        for (let one = 0; one < spread; one++) await expect(at((index % 15) * spread + one).proof, ACCEPTED)
      },
    },
    peers: [{ ...viem, minRatio: minRatio / spread }],
    operations: OPERATIONS,
  })
}

const native = await fastestRecover()
const wasm = await fastestRecover(async specifier => {
  if (specifier.startsWith('secp256k1')) throw new Error('not this one')
  return import(specifier)
})
if (native.name !== 'native' || wasm.name !== 'wasm') throw new Error(`got ${native.name} and ${wasm.name}`)
await compareRecipe(native, 20)
await compareRecipe(wasm, 10)

const FLOOD = extent(400, 20)
const BURSTS = extent(5, 1)

/** Event-loop delay while many bad signatures arrive at once, from one address class. Rejects if one is accepted. */
async function flood(title: string, denies: (proof: WalletProof) => Promise<boolean>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const proofs = Array.from({ length: FLOOD }, (_, index) => ({
    ...at(index).proof,
    signature: at(index + 1).signature,
  }))
  delay.enable()
  for (let burst = 0; burst < BURSTS; burst++) {
    const denied = await Promise.all(proofs.map(denies))
    if (denied.includes(false)) throw new Error('a bad signature was accepted')
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  delay.disable()
  const ms = (nanos: number): string => (nanos / 1e6).toFixed(1)
  const line = `p50 ${ms(delay.percentile(50))} p99 ${ms(delay.percentile(99))} max ${ms(delay.max)} ms`
  console.log(`event-loop delay, ${BURSTS} x ${FLOOD} bad signatures at once, ${title}: ${line}`)
}

open()
await flood(
  'with the cap (default)',
  async proof => !(await verifier.verify(proof, { addressBucket: '192.0.2.1' })).ok,
)
open({ recoveries: { waiting: 65_536 } })
await flood('cap raised so that all are checked', async proof => !(await verifier.verify(proof)).ok)
await flood('no cap: viem verifyMessage', async proof => {
  const { address, signature } = proof as unknown as { address: `0x${string}`; signature: `0x${string}` }
  const messages = [at(0).message, at(1).message]
  const verified = await Promise.all(messages.map(message => verifyMessage({ address, message, signature })))
  return !verified.includes(true)
})

const IMPORTS = extent(5, 1)

/** CPU of importing a module in a fresh process: the median of some. */
function importCost(specifier: string, cwd = '.'): string {
  const script = `const t = process.cpuUsage(); await import('${specifier}'); const d = process.cpuUsage(t)
    console.log((d.user + d.system) / 1000)`
  const runs = Array.from({ length: IMPORTS }, () => {
    const args = ['--input-type=module', '-e', script]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    return Number(stdout)
  })
  return `${median(runs).toFixed(0)} ms`
}
for (const specifier of ['@gatewright/signature-verifier', 'viem/utils', 'viem']) {
  console.log(`import of ${specifier}: ${importCost(specifier)} of CPU`)
}
console.log(`import of siwe: ${importCost('siwe', 'test/tools')} of CPU`)
