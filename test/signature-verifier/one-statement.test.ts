import { fastestRecover, type NonceStorage } from '@gatewright/signature-verifier'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import { migrateNonces, postgresNonces } from '@gatewright/signature-verifier/postgres'
import { redisNonces } from '@gatewright/signature-verifier/redis'
import { migrateNonces as migrateSqlite, sqliteNonces } from '@gatewright/signature-verifier/sqlite'
import fc from 'fast-check'
import t from 'tap'
import { createPublicClient, http, type Hex } from 'viem'
import { concatHex, encodeAbiParameters, numberToHex, serializeErc6492Signature, size } from 'viem/utils'
import { delegate } from '../harness/chain/delegate.ts'
import { contractsOf } from '../harness/chain/contracts.ts'
import { rpc, startEvm, transact } from '../harness/chain/evm.ts'
import { randomCases } from '../harness/random-cases.ts'
import { openPostgres, openRedis, openSqlite, uniqueName } from '../harness/stores.ts'
import { fieldsFor, newWallet, openVerifier, textB, type Fields } from './wallets.ts'

// An account with a key and with code (EIP-7702). The code accepts signatures of the account's key and of an owner, in
// many encodings.
const chain = await startEvm()
t.teardown(() => chain.stop())
const code = contractsOf('test/signature-verifier/contracts/Wallets.sol')['DelegatedWallet'] as Hex
const { contractAddress } = await transact(chain.url, { data: code })
const [account, owner, factory] = [newWallet(), newWallet(), newWallet().address]
await delegate(chain, account, contractAddress)
const ownerWord = concatHex([`0x${'00'.repeat(12)}`, owner.address])
await rpc(chain.url, 'anvil_setStorageAt', account.address, '0x0', ownerWord)

const { recover, keccak256 } = await fastestRecover()
const recovery = { recover, keccak256 }
const client = createPublicClient({ transport: http(chain.url, { retryCount: 0 }) })
const address = account.address.toLowerCase()
const contractWalletId = `eip155:${chain.chainId}:${address}`

/** A verifier that calls the chain and lets one factory deploy wallets in simulation. */
function openHost(nonces: NonceStorage) {
  const chains = { [chain.chainId]: { rpc: client, factories: [factory] } }
  const bounds = { waiting: 1000, waitingPerClass: 1000 }
  const contractWallets = { chains, ...bounds, timeoutMs: 30_000 }
  return openVerifier({ nonces, ...recovery, recoveries: bounds, contractWallets })
}

type Host = ReturnType<typeof openHost>
const statementFor = ({ clock }: Host): Fields => fieldsFor(account, clock, { chainId: chain.chainId })

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const word = (value: bigint): string => value.toString(16).padStart(64, '0')
const wrap = (signature: Hex, by: Hex = factory, data: Hex = '0x1234'): Hex =>
  serializeErc6492Signature({ address: by, data, signature })

/** One encoding of a signature, and its name. */
type Form = readonly [name: string, signature: Hex]

/** A key's signature (65 bytes, v 27 or 28) in the forms that the verifier accepts from a key. */
function acceptedForms(signature: Hex): readonly Form[] {
  const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), Number(`0x${signature.slice(130)}`)]
  const compact: Hex = `0x${r}${word(BigInt(`0x${s}`) | (BigInt(v - 27) << 255n))}`
  return [
    ['plain', signature],
    ['v 0 or 1', `0x${r}${s}0${v - 27}`],
    ['EIP-2098', compact],
  ]
}

/** The same key's signature in other forms that begin with it, which a wallet contract may accept. */
function otherForms(signature: Hex): readonly Form[] {
  const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)]
  const compact: Hex = `0x${r}${word(BigInt(`0x${s}`) | (v === '1c' ? 1n << 255n : 0n))}`
  const mirrored = word(ORDER - BigInt(`0x${s}`))
  const suffix = encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], [factory, '0x'])
  const length = numberToHex(size(suffix), { size: 32 })
  return [
    ['a byte behind', `${signature}00`],
    ['a word behind', `${signature}${'ab'.repeat(32)}`],
    ['twice', concatHex([signature, signature])],
    ['EIP-2098, a byte behind', `${compact}1b`],
    ['EIP-2098, two bytes behind', `${compact}abcd`],
    ['high s', `0x${r}${mirrored}${v === '1b' ? '1c' : '1b'}`],
    ['high s, the other v', `0x${r}${mirrored}${v}`],
    ['the other v', `0x${r}${s}${v === '1b' ? '1c' : '1b'}`],
    ['v of another chain', `0x${r}${s}26`],
    ['no v', `0x${r}${s}`],
    ['as ERC-8010 wraps', concatHex([signature, suffix, length, `0x${'8010'.repeat(16)}`])],
  ]
}

/** A form inside ERC-6492 wrappers, by an allow-listed factory or by another one, and in malformed wrappers. */
function wrappedForms([name, form]: Form): readonly Form[] {
  const wrapped = wrap(form)
  return [
    [`${name}, wrapped`, wrapped],
    [`${name}, wrapped with no calldata`, wrap(form, factory, '0x')],
    [`${name}, wrapped by an unknown factory`, wrap(form, contractAddress, `0x${'cd'.repeat(100)}`)],
    [`${name}, wrapped by the account`, wrap(form, account.address)],
    [`${name}, wrapped by an address with dirty bytes`, `0x${'ff'.repeat(12)}${wrapped.slice(26)}`],
    [`${name}, wrapped twice`, wrap(wrapped)],
    [`${name}, wrapped three times`, wrap(wrap(wrapped))],
    [`${name}, wrapped, a byte behind`, `${wrapped}00`],
  ]
}

/** Every encoding of one signature that this test knows. */
function encodings(signature: Hex): readonly Form[] {
  const ownFormat: Form = ['the account before', concatHex([account.address, signature])]
  const forms = [...acceptedForms(signature), ...otherForms(signature), ownFormat]
  return [...forms, ...forms.flatMap(wrappedForms)]
}

/** Each encoding of a statement signed by the account's key and by the owner of its code, in a given order. */
async function proofs(host: Host, order: readonly number[]): Promise<(Fields & { signature: Hex })[]> {
  const fields = statementFor(host)
  const message = textB(fields)
  const all = [
    ...encodings(await account.signMessage({ message })),
    ...encodings(await owner.signMessage({ message })),
  ]
  return order.map(index => ({ ...fields, signature: (all[index] as Form)[1] }))
}

/** The wallets of all successes, when the proofs come one after another or all at once. */
async function verifiedWallets(hosts: readonly Host[], order: readonly number[], together: boolean) {
  const all = await proofs(hosts[0] as Host, order)
  const verify = (index: number) => (hosts[index % hosts.length] as Host).verify(all[index]!)
  const verdicts = together ? await Promise.all(all.map((_, index) => verify(index))) : []
  if (!together) for (let index = 0; index < all.length; index++) verdicts.push(await verify(index))
  return verdicts.flatMap(verdict => (verdict.ok ? [verdict.value.wallet] : []))
}

const ENCODINGS = 2 * encodings(`0x${'11'.repeat(64)}1b`).length

/** Checks random orders, each with at least one form that is valid by itself: the plain signature of the key (0). */
async function oneSuccess(storages: readonly NonceStorage[], numRuns: number): Promise<void> {
  const hosts = storages.map(nonces => openHost(nonces))
  const order = fc
    .tuple(fc.array(fc.nat(ENCODINGS - 1), { minLength: 1, maxLength: 12 }), fc.nat(12))
    .map(([indexes, at]) => indexes.toSpliced(at, 0, 0))
  await fc.assert(
    fc.asyncProperty(order, fc.boolean(), async (indexes, together) => {
      const proven = await verifiedWallets(hosts, indexes, together)
      return proven.length === 1
    }),
    { numRuns: randomCases(numRuns) },
  )
}

t.test('law: one statement succeeds once over all encodings and wallets, in memory', async t => {
  await oneSuccess([memoryNonces()], 20)
  t.pass('in 20 orders')
})

const OPENED = {
  Redis: async () => {
    const { connections, close } = await openRedis(2)
    const prefix = uniqueName()
    return { nonces: connections.map(connection => redisNonces(connection, { prefix })), close }
  },
  Postgres: async () => {
    const { connections, close } = await openPostgres(2, migrateNonces)
    return { nonces: connections.map(db => postgresNonces(db)), close }
  },
  SQLite: async () => {
    const { connections, close } = await openSqlite(2, migrateSqlite)
    return { nonces: connections.map(db => sqliteNonces(db)), close }
  },
}
for (const [store, open] of Object.entries(OPENED))
  t.test(`law: one statement succeeds once over all encodings and wallets, on ${store}`, async t => {
    const { nonces, close } = await open()
    t.teardown(close)
    await oneSuccess(nonces, 6)
    t.pass('in 6 orders, on two hosts')
  })

t.test('one statement succeeds once when all its encodings are sent at once', async t => {
  const order = Array.from({ length: ENCODINGS }, (_, index) => index)
  t.equal((await verifiedWallets([openHost(memoryNonces())], order, true)).length, 1)
})

const inWrapper = ([name, form]: Form): Form => [`${name}, wrapped`, wrap(form)]

t.test(
  'a signature by the key of an account with code proves the key, wrapped in ERC-6492 or not',
  async t => {
    for (let round = 0; round < 3; round++) {
      const fields = statementFor(openHost(memoryNonces()))
      const forms = acceptedForms(await account.signMessage({ message: textB(fields) }))
      for (const [name, signature] of [...forms, ...forms.map(inWrapper)]) {
        const verdict = await openHost(memoryNonces()).verify({ ...fields, signature })
        t.match(verdict, { ok: true, value: { wallet: address } }, name)
      }
    }
  },
)

t.test(
  "signatures that begin with the key's signature never count as signatures of the account's code",
  async t => {
    for (let round = 0; round < 3; round++) {
      const fields = statementFor(openHost(memoryNonces()))
      const signed = await account.signMessage({ message: textB(fields) })
      const forms = otherForms(signed)
      const nested = acceptedForms(signed).map(form => inWrapper(inWrapper(form)))
      for (const [name, signature] of [...forms, ...forms.map(inWrapper), ...nested]) {
        const verdict = await openHost(memoryNonces()).verify({ ...fields, signature })
        if (verdict.ok) t.equal(verdict.value.wallet, address, `${name}: if taken, it is the key`)
        else t.match(verdict, { code: 'invalid_signature', status: 401 }, name)
      }
    }
  },
)

t.test('the owner of the code of an account is another wallet than its key', async t => {
  for (const wrapped of [false, true]) {
    const host = openHost(memoryNonces())
    const fields = statementFor(host)
    const signature = await owner.signMessage({ message: textB(fields) })
    const verdict = await host.verify({ ...fields, signature: wrapped ? wrap(signature) : signature })
    t.match(verdict, { ok: true, value: { wallet: contractWalletId, address } })
  }
})

t.test('a denied encoding uses up no nonce', async t => {
  const host = openHost(memoryNonces())
  const fields = statementFor(host)
  const signature = await account.signMessage({ message: textB(fields) })
  const stranger = await newWallet().signMessage({ message: textB(fields) })
  const denied: readonly Form[] = [
    ...acceptedForms(stranger),
    ...otherForms(stranger),
    ['nested', wrap(wrap(signature))],
    ['behind', `${signature}00`],
  ]
  for (const [name, form] of denied) {
    const verdict = await host.verify({ ...fields, signature: form })
    t.match(verdict, { ok: false, code: 'invalid_signature' }, name)
  }
  t.match(await host.verify({ ...fields, signature }), { ok: true })
})

t.test('a wrapped signature of a key needs no chain and no contractWallets option', async t => {
  const { verify, clock } = openVerifier()
  const fields = fieldsFor(account, clock)
  const signature = wrap(await account.signMessage({ message: textB(fields) }))
  t.match(await verify({ ...fields, signature }), { ok: true, value: { wallet: address, template: 'B' } })
})
