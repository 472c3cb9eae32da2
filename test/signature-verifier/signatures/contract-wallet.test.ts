import { createServer, type Server } from 'node:http'
import { createConnection, type AddressInfo } from 'node:net'
import { createVerifier, renderEip4361 } from '@gatewright/signature-verifier'
import type { RpcClient } from '@gatewright/signature-verifier/internal'
import type { ContractWalletOptions } from '#packages/signature-verifier/dist/signatures/contract-wallet.js'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import t from 'tap'
import { createPublicClient, createWalletClient, http, type Hex } from 'viem'
import { hardhat } from 'viem/chains'
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  hashMessage,
  parseAbi,
  serializeErc6492Signature,
} from 'viem/utils'
import { contractsOf } from '../../harness/chain/contracts.ts'
import { rpc, sendTransaction, startEvm, transact, type Evm } from '../../harness/chain/evm.ts'
import { fieldsFor, newWallet, openVerifier, textB, type Fields, type Wallet } from '../wallets.ts'

const code = contractsOf('test/signature-verifier/contracts/Wallets.sol')
const chain: Evm = await startEvm()
t.teardown(() => chain.stop())
const client = createPublicClient({ chain: hardhat, transport: http(chain.url, { retryCount: 0 }) })
const factoryAbi = parseAbi([
  'function deploy(address owner, bytes32 salt)',
  'function addressOf(address owner, bytes32 salt) view returns (address)',
])
const multisigAbi = parseAbi([
  'function approve(bytes32 hash)',
  'function messageHash(bytes32 hash) view returns (bytes32)',
])

async function deploy(
  name: string,
  types: readonly { type: string }[],
  values: readonly unknown[],
): Promise<Hex> {
  const data = concatHex([code[name] as Hex, encodeAbiParameters(types, values)])
  return (await transact(chain.url, { data })).contractAddress
}

function contractVerifier(options: Partial<ContractWalletOptions> = {}) {
  const contractWallets = { chains: { [chain.chainId]: { rpc: client } }, ...options }
  return openVerifier({ contractWallets, domain: 'app.example.com' })
}

type TestVerifier = ReturnType<typeof contractVerifier>

/** A statement of template B for a wallet contract, and what signs it. */
function statement({ clock }: TestVerifier, address: Hex, extra: Partial<Fields> = {}): Fields {
  return fieldsFor({ address } as Wallet, clock, { address, chainId: chain.chainId, ...extra })
}

async function sign(owner: Wallet, fields: Fields): Promise<Hex> {
  return owner.signMessage({ message: textB(fields) })
}

const owner = newWallet()

t.test('verifies a deployed ERC-1271 wallet, with its chain in the wallet id', async t => {
  const address = await deploy('OwnedWallet', [{ type: 'address' }], [owner.address])
  const opened = contractVerifier()
  const fields = statement(opened, address)
  const verdict = await opened.verify({ ...fields, signature: await sign(owner, fields) })
  const walletId = `eip155:${chain.chainId}:${address.toLowerCase()}`
  t.match(verdict, { ok: true, value: { wallet: walletId, address: address.toLowerCase(), template: 'B' } })
  const again = await opened.verify({ ...fields, signature: await sign(owner, fields) })
  t.match(again, { ok: false, reason: 'nonce used before' })
})

t.test('verifies a contract wallet by EIP-4361, with the chain named in the message alone', async t => {
  const address = await deploy('OwnedWallet', [{ type: 'address' }], [owner.address])
  const opened = contractVerifier()
  const { getAddress } = await import('viem/utils')
  const { chainId: _, ...fields } = statement(opened, getAddress(address), { nonce: 'abcdefgh1' })
  const message = renderEip4361({
    domain: 'app.example.com',
    uri: 'https://app.example.com',
    address: fields.address,
    nonce: 'abcdefgh1',
    chainId: String(chain.chainId),
    issuedAt: fields.issuedAt,
    expirationTime: fields.expiresAt,
  })
  const signature = await owner.signMessage({ message })
  t.match(await opened.verify({ ...fields, message, signature }), {
    ok: true,
    value: { template: 'eip4361' },
  })
})

t.test('denies a contract wallet whose owner did not sign, with the one 401', async t => {
  const address = await deploy('OwnedWallet', [{ type: 'address' }], [owner.address])
  const opened = contractVerifier()
  const fields = statement(opened, address)
  const signature = await sign(newWallet(), fields)
  t.match(await opened.verify({ ...fields, signature }), {
    ok: false,
    code: 'invalid_signature',
    status: 401,
  })
  t.match(await opened.verify({ ...fields, signature: '0x' }), { code: 'invalid_signature' })
  t.match(await opened.verify({ ...fields, signature: await sign(owner, fields) }), { ok: true })
})

t.test(
  'one address on two chains gives two wallet ids with separate owners, and one use of a nonce',
  async t => {
    // The first contract of account 7 has one address on every chain.
    const [one, two] = [chain, await startEvm(31_338)]
    t.teardown(() => two.stop())
    const owners = [newWallet(), newWallet()] as const
    const chains: ContractWalletOptions['chains'] = Object.fromEntries(
      [one, two].map(({ chainId, url }) => [chainId, { rpc: createPublicClient({ transport: http(url) }) }]),
    )
    const addresses = await Promise.all(
      [one, two].map(async ({ url }, index) => {
        const data = concatHex([
          code['OwnedWallet'] as Hex,
          encodeAbiParameters([{ type: 'address' }], [owners[index]!.address]),
        ])
        return (await transact(url, { data }, 7)).contractAddress
      }),
    )
    const address = addresses[0] as Hex
    t.equal(addresses[1], address)
    const opened = contractVerifier({ chains })
    for (const [index, { chainId }] of [one, two].entries()) {
      const fields = statement(opened, address, { chainId })
      const other = owners[1 - index] as Wallet
      t.match(await opened.verify({ ...fields, signature: await sign(other, fields) }), { status: 401 })
      const verdict = await opened.verify({ ...fields, signature: await sign(owners[index]!, fields) })
      t.match(verdict, { ok: true, value: { wallet: `eip155:${chainId}:${address}` } })
      const elsewhere = statement(opened, address, {
        chainId: [two, one][index]!.chainId,
        nonce: fields.nonce,
      })
      const again = await opened.verify({ ...elsewhere, signature: await sign(other, elsewhere) })
      t.match(again, { ok: false, reason: 'nonce used before' }, 'a nonce is of the address, on all chains')
    }
  },
)

t.test('calls the chain every time: a replaced owner is denied', async t => {
  const address = await deploy('OwnedWallet', [{ type: 'address' }], [owner.address])
  const opened = contractVerifier()
  const before = statement(opened, address)
  t.match(await opened.verify({ ...before, signature: await sign(owner, before) }), { ok: true })
  const next = newWallet()
  await rpc(chain.url, 'anvil_setStorageAt', address, '0x0', `0x${'00'.repeat(12)}${next.address.slice(2)}`)
  const after = statement(opened, address)
  t.match(await opened.verify({ ...after, signature: await sign(owner, after) }), { status: 401 })
  t.match(await opened.verify({ ...after, signature: await sign(next, after) }), { ok: true })
})

t.test('denies contract wallets whose text names no allowed chain', async t => {
  const address = await deploy('OwnedWallet', [{ type: 'address' }], [owner.address])
  const opened = contractVerifier()
  for (const extra of [
    { chainId: undefined },
    { chainId: 1 },
    { chainId: '0x7a69' },
    { chainId: '031337' },
    { template: 'A' },
  ]) {
    const fields = statement(opened, address, extra)
    const verdict = await opened.verify({ ...fields, signature: await sign(owner, fields) })
    t.match(verdict, { ok: false, reason: 'not signed by this key' }, JSON.stringify(extra))
  }
  const without = openVerifier()
  const fields = fieldsFor({ address } as Wallet, without.clock, { address, chainId: chain.chainId })
  t.match(await without.verify({ ...fields, signature: await sign(owner, fields) }), { status: 401 })
})

t.test('verifies a Safe-style multi-signature wallet at its threshold, and not below', async t => {
  const owners = [newWallet(), newWallet(), newWallet()].sort((a, b) =>
    a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1,
  )
  const types = [{ type: 'address[]' }, { type: 'uint256' }]
  const address = await deploy('Multisig', types, [owners.map(one => one.address), 2n])
  const opened = contractVerifier()
  const fields = statement(opened, address)
  const args = [hashMessage(textB(fields))] as const
  const hash = await client.readContract({ address, abi: multisigAbi, functionName: 'messageHash', args })
  const [a, b, c] = (await Promise.all(owners.map(one => one.sign({ hash })))) as [Hex, Hex, Hex]
  const stranger = await newWallet().sign({ hash })
  for (const signatures of [[a], [a, a], [b, a], [a, stranger], []]) {
    const verdict = await opened.verify({ ...fields, signature: concatHex(signatures) })
    t.match(verdict, { ok: false, code: 'invalid_signature' })
  }
  t.match(await opened.verify({ ...fields, signature: concatHex([a, c]) }), { ok: true })
})

t.test(
  'verifies a Safe-style wallet whose owners approved the message on chain, with an empty signature',
  async t => {
    const [first] = await rpc<Hex[]>(chain.url, 'eth_accounts')
    const types = [{ type: 'address[]' }, { type: 'uint256' }]
    const address = await deploy('Multisig', types, [[first], 1n])
    const opened = contractVerifier()
    const fields = statement(opened, address)
    t.match(await opened.verify({ ...fields, signature: '0x' }), { ok: false, code: 'invalid_signature' })
    const args = [hashMessage(textB(fields))] as const
    const data = encodeFunctionData({ abi: multisigAbi, functionName: 'approve', args })
    t.equal((await transact(chain.url, { to: address, data })).status, '0x1')
    t.match(await opened.verify({ ...fields, signature: '0x' }), { ok: true })
  },
)

t.test('verifies a wallet that does not exist yet (ERC-6492), by an allow-listed factory only', async t => {
  const factory = await deploy('OwnedWalletFactory', [], [])
  const args = [owner.address, `0x${'07'.repeat(32)}`] as const
  const address = await client.readContract({
    address: factory,
    abi: factoryAbi,
    functionName: 'addressOf',
    args,
  })
  const data = encodeFunctionData({ abi: factoryAbi, functionName: 'deploy', args })
  const chains = { [chain.chainId]: { rpc: client, factories: [factory.toUpperCase().replace('0X', '0x')] } }
  const opened = contractVerifier({ chains })
  const wrap = async (signer: Wallet, fields: Fields, deployment: Hex = data): Promise<Hex> =>
    serializeErc6492Signature({ address: factory, data: deployment, signature: await sign(signer, fields) })

  const fields = statement(opened, address)
  t.equal(await client.getCode({ address }), undefined)
  t.match(
    await opened.verify({ ...fields, signature: await sign(owner, fields) }),
    { status: 401 },
    'not wrapped',
  )
  t.match(await opened.verify({ ...fields, signature: await wrap(newWallet(), fields) }), { status: 401 })
  t.match(await opened.verify({ ...fields, signature: await wrap(owner, fields, '0x') }), { status: 401 })
  const unlisted = await contractVerifier().verify({ ...fields, signature: await wrap(owner, fields) })
  t.match(unlisted, { ok: false, code: 'invalid_signature' }, 'no factory is trusted unasked')
  t.match(await opened.verify({ ...fields, signature: await wrap(owner, fields) }), {
    ok: true,
    value: { wallet: `eip155:${chain.chainId}:${address.toLowerCase()}` },
  })
  t.equal(await client.getCode({ address }), undefined, 'it was deployed in simulation only')

  await transact(chain.url, { to: factory, data })
  const later = statement(opened, address)
  t.match(
    await opened.verify({ ...later, signature: await wrap(owner, later) }),
    { ok: true },
    'deployed since',
  )
})

t.test('rejects malformed ERC-6492 wrappers without a call to the chain', async t => {
  const opened = contractVerifier({
    chains: {
      [chain.chainId]: { rpc: { request: async () => t.fail('asked') }, factories: [owner.address] },
    },
  })
  const magic = '6492'.repeat(16)
  const fields = statement(opened, owner.address.toLowerCase() as Hex)
  for (const body of ['', '00', 'ff'.repeat(96)]) {
    t.match(await opened.verify({ ...fields, signature: `0x${body}${magic}` }), { status: 401 })
  }
})

t.test('verifies an account with code by its key, without a call to a chain (EIP-7702)', async t => {
  const delegate = await deploy('OwnedWallet', [{ type: 'address' }], [owner.address])
  const account = newWallet()
  const [funder] = await rpc<Hex[]>(chain.url, 'eth_accounts')
  await sendTransaction(chain.url, {
    from: funder,
    to: account.address,
    value: '0xde0b6b3a7640000',
  })
  const sender = createWalletClient({ account, chain: hardhat, transport: http(chain.url) })
  const authorization = await sender.signAuthorization({ contractAddress: delegate, executor: 'self' })
  const hash = await sender.sendTransaction({ to: funder as Hex, authorizationList: [authorization] })
  await client.waitForTransactionReceipt({ hash })
  t.match(await client.getCode({ address: account.address }), /^0xef0100/)

  let asked = 0
  const counting: RpcClient = {
    request: args => {
      asked++
      return client.request(args)
    },
  }
  const opened = contractVerifier({ chains: { [chain.chainId]: { rpc: counting } } })
  const fields = statement(opened, account.address)
  const verdict = await opened.verify({ ...fields, signature: await sign(account, fields) })
  t.match(verdict, { ok: true, value: { wallet: account.address.toLowerCase() } })
  t.equal(asked, 0)

  // A signature that only its code accepts proves another wallet: code can be replaced, the key cannot.
  await rpc(
    chain.url,
    'anvil_setStorageAt',
    account.address,
    '0x0',
    `0x${'00'.repeat(12)}${owner.address.slice(2)}`,
  )
  const byCode = statement(opened, account.address)
  const verdict2 = await opened.verify({ ...byCode, signature: await sign(owner, byCode) })
  const walletId = `eip155:${chain.chainId}:${account.address.toLowerCase()}`
  t.match(verdict2, { ok: true, value: { wallet: walletId } })
  t.equal(asked, 1)
})

t.test('denies the mirrored signature of a key as a signature of a contract wallet', async t => {
  const opened = contractVerifier()
  const fields = statement(opened, owner.address)
  const signature = await sign(owner, fields)
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const s = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
  const mirrored = `${signature.slice(0, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`
  t.match(await opened.verify({ ...fields, signature: mirrored }), { ok: false, code: 'invalid_signature' })
})

t.test('denies hostile wallets, and never throws for them or accepts them', async t => {
  for (let how = 0n; how < 8n; how++) {
    const address = await deploy('HostileWallet', [{ type: 'uint256' }], [how])
    const opened = contractVerifier()
    const fields = statement(opened, address)
    const verdict = await opened.verify({ ...fields, signature: await sign(owner, fields) })
    t.match(verdict, { ok: false, code: 'invalid_signature' }, `wallet ${how}`)
    const factory = { address, data: '0x1234', signature: await sign(owner, fields) } as const
    const chains = { [chain.chainId]: { rpc: client, factories: [address] } }
    const byFactory = contractVerifier({ chains })
    const unborn = statement(byFactory, newWallet().address)
    const denied = await byFactory.verify({ ...unborn, signature: serializeErc6492Signature(factory) })
    t.match(denied, { ok: false, code: 'invalid_signature' }, `factory ${how}`)
  }
})

t.test('passes on signatures of up to 16 KiB', async t => {
  const address = await deploy('OwnedWallet', [{ type: 'address' }], [owner.address])
  const opened = contractVerifier()
  const fields = statement(opened, address)
  const long = `0x${'ab'.repeat(16_384)}`
  t.match(await opened.verify({ ...fields, signature: long }), { ok: false, code: 'invalid_signature' })
  t.match(await opened.verify({ ...fields, signature: `${long}ab` }), {
    code: 'invalid_request',
    field: 'signature',
  })
})

/** An RPC endpoint on loopback that replies `result` to every request, or never replies. */
async function endpoint(reply?: (id: number) => string): Promise<{ rpc: typeof client; server: Server }> {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      if (reply) response.end(reply((JSON.parse(body) as { id: number }).id))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const transport = http(url, { retryCount: 0 })
  return { rpc: createPublicClient({ chain: hardhat, transport }), server }
}

t.test(
  'throws a fault when the endpoint is down, slow, malformed or of another chain, and uses up no nonce',
  async t => {
    const word = (value: number): string => value.toString(16).padStart(64, '0')
    const result = (value: unknown) => (id: number) => JSON.stringify({ jsonrpc: '2.0', id, result: value })
    const yes = `0x${word(1)}${word(chain.chainId)}${word(5)}`
    const endpoints: [string, ((id: number) => string) | undefined][] = [
      ['slow', undefined],
      ['an error', id => JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_603, message: 'no' } })],
      [
        'a revert',
        id => JSON.stringify({ jsonrpc: '2.0', id, error: { code: 3, message: 'execution reverted' } }),
      ],
      ['no JSON', () => '<html>'],
      ['nothing', result(null)],
      ['empty', result('0x')],
      ['one word', result(`0x${word(1)}`)],
      ['a word too many', result(`${yes}${word(0)}`)],
      ['another chain', result(`0x${word(1)}${word(1)}${word(5)}`)],
      ['neither yes nor no', result(`0x${word(2)}${word(chain.chainId)}${word(5)}`)],
      ['an object', result({})],
    ]
    const nonces = memoryNonces()
    const address = await deploy('OwnedWallet', [{ type: 'address' }], [owner.address])
    const opened = openVerifier({ nonces, contractWallets: { chains: { [chain.chainId]: { rpc: client } } } })
    const fields = statement(opened, address)
    const signature = await sign(owner, fields)
    const isFault = { name: 'Fault', code: 'ERR_RPC_UNAVAILABLE', retryAfterSeconds: 5 }
    for (const [name, reply] of endpoints) {
      const { rpc, server } = await endpoint(reply)
      const contractWallets = { chains: { [chain.chainId]: { rpc } }, timeoutMs: 150 }
      const { verify } = openVerifier({ nonces, contractWallets, clock: opened.clock })
      await t.rejects(verify({ ...fields, signature }), isFault, name)
      server.closeAllConnections()
      server.close()
      if (name === 'slow') await t.rejects(verify({ ...fields, signature }), isFault, 'down')
    }
    const { rpc, server } = await endpoint(result(yes))
    t.teardown(() => server.close())
    const honest = openVerifier({
      nonces,
      contractWallets: { chains: { [chain.chainId]: { rpc } } },
      clock: opened.clock,
    })
    t.match(
      await honest.verify({ ...fields, signature }),
      { ok: true },
      'the same endpoint with a valid reply',
    )
    server.closeAllConnections()
  },
)

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

t.test('makes a bounded number of calls at once, and continues when a hung call times out', async t => {
  let asked = 0
  const hung = { request: () => new Promise<unknown>(() => void asked++) }
  const contractWallets = {
    chains: { [chain.chainId]: { rpc: hung } },
    timeoutMs: 150,
    atOnce: 2,
    waiting: 3,
    waitingPerClass: 2,
  }
  const opened = openVerifier({ contractWallets })
  const fields = statement(opened, owner.address)
  const from = (addressBucket: string) =>
    opened.verify({ ...fields, signature: '0x12' }, { addressBucket }).then(
      verdict => (verdict.ok ? 'ok' : verdict.code),
      (error: { code: string }) => error.code,
    )
  const all = [from('a'), from('a'), from('a'), from('a'), from('a'), from('b')]
  await turn()
  t.equal(asked, 2)
  const codes = await Promise.all(all)
  t.same(codes.filter(code => code === 'rate_limited').length, 1)
  t.same(codes.filter(code => code === 'ERR_RPC_UNAVAILABLE').length, 5)
  await turn()
  const before = asked
  const after = from('a')
  await turn()
  t.equal(asked, before + 1, 'a question that hung holds no place after its time')
  t.equal(await after, 'ERR_RPC_UNAVAILABLE')
})

t.test('verifies keys with every socket blocked', async t => {
  const { Socket } = await import('node:net')
  const { connect } = Socket.prototype
  t.teardown(() => {
    Socket.prototype.connect = connect
  })
  Socket.prototype.connect = () => {
    throw new Error('sockets are blocked')
  }
  t.throws(() => createConnection(1), /blocked/)
  const opened = contractVerifier()
  const fields = statement(opened, owner.address)
  t.match(await opened.verify({ ...fields, signature: await sign(owner, fields) }), { ok: true })
})

t.test('rejects options out of bounds by name', async t => {
  const good = { chains: { 1: { rpc: client } } }
  const wrong: [RegExp, object][] = [
    [/timeoutMs/, { ...good, timeoutMs: 99 }],
    [/atOnce/, { ...good, atOnce: 0 }],
    [/waiting/, { ...good, waiting: 0 }],
    [/chains/, { chains: { mainnet: { rpc: client } } }],
    [/chains/, { chains: { 0: { rpc: client } } }],
    [/chains/, {}],
    [/rpc/, { chains: { 1: {} } }],
    [/factories/, { chains: { 1: { rpc: client, factories: ['0x12'] } } }],
  ]
  for (const [message, contractWallets] of wrong) {
    const options = {
      service: 'Gatewright',
      nonces: memoryNonces(),
      contractWallets: contractWallets as never,
    }
    t.throws(() => createVerifier(options), { name: 'TypeError', message })
  }
})
