import t from 'tap'
import { concatHex, encodeAbiParameters, type Hex } from 'viem'
import { serializeErc6492Signature } from 'viem/utils'
import { contractsOf } from '../harness/chain/contracts.ts'
import { delegate } from '../harness/chain/delegate.ts'
import { startEvm, transact } from '../harness/chain/evm.ts'
import { signedLogin, signIn } from './harness/web-sign-in.ts'
import {
  bearer,
  newWallet,
  openTestHost,
  statementOf,
  templateA,
  type HttpResponse,
} from '../harness/host.ts'

const chain = await startEvm()
const host = await openTestHost(t, { RPC_URLS: `${chain.chainId}=${chain.url}` })
t.teardown(() => chain.stop())
const owner = newWallet()
const code = contractsOf('test/signature-verifier/contracts/Wallets.sol')
const data = concatHex([
  code['OwnedWallet'] as Hex,
  encodeAbiParameters([{ type: 'address' }], [owner.address]),
])
const { contractAddress } = await transact(chain.url, { data })

/** A statement of template B, which names the chain, and its text. */
function statementB(address: string) {
  const statement = { ...statementOf(address), connector: 'safe', chainId: String(chain.chainId) }
  const lines = templateA(statement).replace(' Bootstrap', ' Consumer Agent Bootstrap')
  const message = `${lines}\nConnector: safe\nChain ID: ${chain.chainId}\nWallet Label: unknown`
  return { statement, message }
}

/** Bootstraps the contract wallet. */
async function bootstrap(signer = owner): Promise<HttpResponse> {
  const { statement, message } = statementB(contractAddress)
  return host.send('/user/v1/bootstrap', {
    body: { ...statement, signature: await signer.signMessage({ message }) },
  })
}

t.test(
  'creates one key for one statement of an account with code, in whatever encoding (EIP-7702)',
  async t => {
    const account = newWallet()
    const deployed = await transact(chain.url, { data: code['DelegatedWallet'] as Hex })
    await delegate(chain, account, deployed.contractAddress)
    const users = new Set<unknown>()
    for (const wrappedFirst of [false, true]) {
      const { statement, message } = statementB(account.address)
      const plain = await account.signMessage({ message })
      const factory = { address: deployed.contractAddress, data: '0x' } as const
      const wrapped = serializeErc6492Signature({ ...factory, signature: plain })
      const encodings = wrappedFirst ? [wrapped, plain] : [plain, wrapped]
      const responses = await Promise.all(
        [...encodings, `${plain}00`].map(signature =>
          host.send('/user/v1/bootstrap', { body: { ...statement, signature } }),
        ),
      )
      const given = responses.filter(({ status }) => status === 200)
      t.equal(given.length, 1)
      t.equal(responses.filter(({ status }) => status === 401).length, 2)
      users.add(given[0]?.body['userId'])
    }
    t.equal(users.size, 1, 'and one user')
  },
)

t.test(
  'gives a contract wallet of a configured chain one user, and responds with 503 while the chain is unreachable',
  async t => {
    const first = await bootstrap()
    t.match(first, { status: 200, body: { walletAddress: contractAddress.toLowerCase() } })
    t.equal((await bootstrap()).body['userId'], first.body['userId'])
    t.match(await bootstrap(newWallet()), { status: 401, body: { error: 'invalid_signature' } })
    const { body } = await host.send('/user/v1/identity', {
      headers: bearer(first.body['sessionToken'] as string),
    })
    t.match(body['identity'], { principal: 'contract', chainId: chain.chainId })

    // The wallet signs in on the web as the same user, where the challenge names its chain.
    const wallet = { address: contractAddress, signMessage: owner.signMessage }
    const signedIn = await signIn(host.send, wallet, { chainId: chain.chainId })
    const session = { userId: first.body['userId'], chainId: chain.chainId }
    t.match(signedIn, { status: 200, body: { session } })
    t.match(await signIn(host.send, wallet), { status: 401, body: { error: 'invalid_signature' } })
    const other = { ...wallet, signMessage: newWallet().signMessage }
    t.match(await signIn(host.send, other, { chainId: chain.chainId }), { status: 401 })
    const late = await signedLogin(host.send, wallet, { chainId: chain.chainId })
    await chain.stop()
    t.match(await bootstrap(), { status: 503, body: { error: 'service_unavailable' } })
    t.match(await host.send('/auth/login', { body: late }), { status: 503 })
  },
)
