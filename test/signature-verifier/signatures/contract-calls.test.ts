// The calls that check signatures of contract wallets, with replies made by hand.
import { mock } from 'node:test'
import { createVerifier, type VerifierOptions } from '@gatewright/signature-verifier'
import type { RpcClient } from '@gatewright/signature-verifier/internal'
import type { ContractWalletOptions } from '#packages/signature-verifier/dist/signatures/contract-wallet.js'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import t from 'tap'
import { fieldsFor, newWallet, openVerifier, signed, textB } from '../wallets.ts'

const CHAIN_ID = 31_337
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const word = (value: bigint | number): string => value.toString(16).padStart(64, '0')
const YES = `0x${word(1)}${word(CHAIN_ID)}${word(5)}`
const replying = (reply: unknown): RpcClient => ({ request: async () => reply })
const hung: RpcClient = { request: () => new Promise(() => {}) }
const turns = async (): Promise<void> => {
  for (let n = 0; n < 20; n++) await new Promise(resolve => setImmediate(resolve))
}

function open(rpc: RpcClient, options: Partial<ContractWalletOptions> = {}) {
  return openVerifier({ contractWallets: { chains: { [CHAIN_ID]: { rpc } }, ...options } })
}

t.test('denies a key its own signature in other forms, without a call to the chain', async t => {
  const wallet = newWallet()
  let calls = 0
  const { verify, clock } = open({ request: async () => (calls++, YES) })
  const parities = new Set<string>()
  for (let n = 0; n < 40 && parities.size < 2; n++) {
    const fields = fieldsFor(wallet, clock, { chainId: CHAIN_ID })
    const { signature } = await signed(wallet, fields, textB)
    const [r, s, v] = [signature.slice(2, 66), BigInt(`0x${signature.slice(66, 130)}`), signature.slice(130)]
    if (parities.has(v)) continue
    parities.add(v)
    const parityInS = word(s | (v === '1c' ? 1n << 255n : 0n))
    for (const form of [`${r}${word(ORDER - s)}1b`, `${r}${word(ORDER - s)}1c`, `${r}${parityInS}1b00`]) {
      t.match(await verify({ ...fields, signature: `0x${form}` }), {
        code: 'invalid_signature',
        reason: 'signed by this key, in a form that is not accepted',
      })
    }
  }
  t.equal(parities.size, 2)
  t.equal(calls, 0)
})

t.test('accepts the reply yes of the right chain, and leaves no timer behind', async t => {
  const timers = (): number => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = timers()
  const { verify, clock } = open(replying(YES))
  const fields = fieldsFor(newWallet(), clock, { chainId: CHAIN_ID })
  t.match(await verify({ ...fields, signature: '0x12' }), { ok: true })
  t.equal(timers(), before)
})

t.test('throws a fault for a reply whose chain id differs in its first digit', async t => {
  const far = `f${word(CHAIN_ID).slice(1)}`
  const { verify, clock } = open(replying(`0x${word(1)}${far}${word(5)}`))
  const fields = fieldsFor(newWallet(), clock, { chainId: CHAIN_ID })
  await t.rejects(verify({ ...fields, signature: '0x12' }), { message: 'rpc is of another chain' })
})

t.test('by default 16 calls run at once, and none is waited for longer than 5 seconds', async t => {
  let calls = 0
  const { verify, clock } = open({
    request: args => {
      calls++
      return hung.request(args)
    },
  })
  const fields = () => fieldsFor(newWallet(), clock, { chainId: CHAIN_ID })
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const all = Array.from({ length: 18 }, (_, n) =>
    verify({ ...fields(), signature: '0x12' }, { addressBucket: String(n) }).then(
      () => 'a verdict',
      (error: Error) => error.message,
    ),
  )
  await turns()
  t.equal(calls, 16)
  mock.timers.tick(5000)
  t.same(new Set(await Promise.all(all)), new Set(['rpc did not reply within 5000 ms']))
})

t.test('accepts options at their bounds, and no unknown option', t => {
  const create = (contractWallets: unknown): unknown =>
    createVerifier({
      service: 'Gatewright',
      nonces: memoryNonces(),
      contractWallets: contractWallets as NonNullable<VerifierOptions['contractWallets']>,
    })
  const chains = { 1: { rpc: hung } }
  for (const timeoutMs of [100, 30_000]) t.ok(create({ chains, timeoutMs }))
  for (const [message, wrong] of [
    [/timeoutMs/, { chains, timeoutMs: 30_001 }],
    [/timeout/, { chains, timeout: 1 }],
    [/chains must be an object/, { chains: null }],
    [/chains must be an object/, { chains: 'mainnet' }],
    [/factory/, { chains: { 1: { rpc: hung, factory: newWallet().address } } }],
  ] as const) {
    t.throws(() => create(wrong), { name: 'TypeError', message })
  }
  t.end()
})
