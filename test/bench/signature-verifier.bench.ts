// What a wallet proof costs beside viem's verifyMessage and siwe, what junk costs, and how long the event loop waits
// under a flood of bad signatures, with and without the cap on recoveries.
import { spawnSync } from 'node:child_process'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import {
  createVerifier,
  fastestRecover,
  type FastestRecover,
  type Verifier,
  type VerifierOptions,
  type WalletProof,
} from '@gatewright/signature-verifier'
import { memoryStorage } from '@gatewright/signature-verifier/memory'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { verifyMessage } from 'viem/utils'
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
    ...{ address: wallet.address, nonce: `nonce-${index}-${now}` },
    ...{ issuedAt: issuedAt.toISOString(), expiresAt: expiresAt.toISOString() },
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
    ...{
      address: wallet.address,
      domain: 'app.example.com',
      uri: 'https://app.example.com/login',
      version: '1',
    },
    ...{ chainId: 1, nonce: 'abcdefgh12345678', issuedAt, expirationTime: expiresAt, statement: 'Sign in.' },
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
  verifier = createVerifier({ service: 'Gatewright', nonces: memoryStorage(), clock, ...options })
}

/** Verifies and insists on the outcome: a bench of the wrong path would be fast and worthless. */
async function expect(proof: WalletProof, reason: string | undefined): Promise<void> {
  const verdict = await verifier.verify(proof)
  const got = verdict.ok ? undefined : verdict.reason
  if (got !== reason) throw new Error(`expected ${reason}, got ${got}`)
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
  ours: { name: 'verify', before: () => open(), run: index => expect(at(index).proof, undefined) },
  peers: [{ ...viem, atLeast: 1 / 1.05 }, siwe],
  operations: OPERATIONS,
})

const WRONG_SIGNER = 'not signed by this key'
await compare('signature-verifier: a refused signature, pure JS (two recoveries)', {
  ours: {
    name: 'verify',
    before: () => open(),
    run: index => expect({ ...at(index).proof, signature: at(index + 1).signature }, WRONG_SIGNER),
  },
  peers: [{ ...viem, atLeast: 1 / 2.1 }],
  operations: OPERATIONS,
})

/** Junk is so cheap that one operation of ours is `count` proofs; the bar is divided by as many. */
async function compareJunk(
  title: string,
  count: number,
  atLeast: number,
  junk: (proof: WalletProof, index: number) => WalletProof,
  reason: string,
): Promise<void> {
  const proofs = Array.from({ length: count }, (_, index) => junk(at(index).proof, index))
  await compare(`signature-verifier: ${title}, ${count} proofs beside one of viem`, {
    ours: {
      name: `verify x ${count}`,
      before: () => open(),
      run: async () => {
        for (const proof of proofs) await expect(proof, reason)
      },
    },
    peers: [{ ...viem, atLeast: atLeast / count }],
    operations: OPERATIONS,
  })
}

await compareJunk(
  'junk by shape (1/500)',
  250,
  500,
  proof => ({ ...proof, signature: '0xzz' }),
  'signature: must be 0x and whole bytes of hex, at most 16 KiB',
)
await compareJunk(
  'junk by nonce shape (1/500)',
  250,
  500,
  proof => ({ ...proof, nonce: 'a b' }),
  'nonce: must be 8 to 128 visible ASCII characters',
)
const past = { issuedAt: new Date(now - 2000).toISOString(), expiresAt: new Date(now - 1000).toISOString() }
await compareJunk('expired (1/100)', 50, 100, proof => ({ ...proof, ...past }), 'expired')
await compareJunk(
  'wrong checksum (1/100)',
  50,
  100,
  (proof, index) => ({ ...proof, address: `0xABCDEFabcdef${String(index).padStart(28, '0')}` }),
  'address: has a wrong checksum (EIP-55)',
)

/** Verifications per CPU second with another recovery: ten of ours beside one of viem. */
async function compareRecipe({ name, ...recovery }: FastestRecover, atLeast: number): Promise<void> {
  const spread = 10
  await compare(`signature-verifier: accepted proofs, ${name}, ${spread} beside one of viem`, {
    ours: {
      name: `verify x ${spread}`,
      before: () => open(recovery),
      run: async index => {
        if (index % 15 === 0) open(recovery)
        for (let one = 0; one < spread; one++) await expect(at((index % 15) * spread + one).proof, undefined)
      },
    },
    peers: [{ ...viem, atLeast: atLeast / spread }],
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

/** Event-loop delay while 400 bad signatures arrive at once, from one address class. */
async function flood(title: string, verify: (proof: WalletProof) => Promise<unknown>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const proofs = Array.from({ length: 400 }, (_, index) => ({
    ...at(index).proof,
    signature: at(index + 1).signature,
  }))
  delay.enable()
  for (let burst = 0; burst < 5; burst++) {
    await Promise.all(proofs.map(verify))
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  delay.disable()
  const ms = (nanos: number): string => (nanos / 1e6).toFixed(1)
  const line = `p50 ${ms(delay.percentile(50))} p99 ${ms(delay.percentile(99))} max ${ms(delay.max)} ms`
  console.log(`event-loop delay, 5 x 400 bad signatures at once, ${title}: ${line}`)
}

open()
await flood('with the cap (default)', proof => verifier.verify(proof, { addressBucket: '192.0.2.1' }))
open({ recoveries: { waiting: 65_536 } })
await flood('cap raised so that all are checked', proof => verifier.verify(proof))
await flood('no cap: viem verifyMessage', async proof => {
  const { address, signature } = proof as unknown as { address: `0x${string}`; signature: `0x${string}` }
  for (const message of [at(0).message, at(1).message]) await verifyMessage({ address, message, signature })
})

/** CPU of importing a module in a fresh process: median of 5. */
function importCost(specifier: string, cwd = '.'): string {
  const script = `const t = process.cpuUsage(); await import('${specifier}'); const d = process.cpuUsage(t)
    console.log((d.user + d.system) / 1000)`
  const runs = Array.from({ length: 5 }, () =>
    Number(
      spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd, encoding: 'utf8' }).stdout,
    ),
  )
  return `${runs.sort((a, b) => a - b)[2]?.toFixed(0)} ms`
}
for (const specifier of ['@gatewright/signature-verifier', 'viem/utils', 'viem']) {
  console.log(`import of ${specifier}: ${importCost(specifier)} of CPU`)
}
console.log(`import of siwe: ${importCost('siwe', 'test/tools')} of CPU`)
