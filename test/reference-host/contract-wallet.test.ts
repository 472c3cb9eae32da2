import t from 'tap'
import { concatHex, encodeAbiParameters, type Hex } from 'viem'
import { contractsOf } from '../harness/contracts.ts'
import { startEvm, transact } from '../harness/evm.ts'
import { newWallet, startTestHost, statementOf, templateA, type Answer } from '../harness/host.ts'

const chain = await startEvm()
const host = await startTestHost({ RPC_URLS: `${chain.chainId}=${chain.url}` })
t.teardown(() => host.close())
t.teardown(() => chain.stop())
const owner = newWallet()
const code = contractsOf('test/signature-verifier/contracts/Wallets.sol')['OwnedWallet'] as Hex
const data = concatHex([code, encodeAbiParameters([{ type: 'address' }], [owner.address])])
const { contractAddress } = await transact(chain.url, { data })

/** Bootstraps the contract wallet with template B, which names the chain. */
async function bootstrap(signer = owner): Promise<Answer> {
  const statement = { ...statementOf(contractAddress), connector: 'safe', chainId: String(chain.chainId) }
  const lines = templateA(statement).replace(' Bootstrap', ' Consumer Agent Bootstrap')
  const message = `${lines}\nConnector: safe\nChain ID: ${chain.chainId}\nWallet Label: unknown`
  return host.send('/user/v1/bootstrap', {
    body: { ...statement, signature: await signer.signMessage({ message }) },
  })
}

t.test(
  'gives a contract wallet of a configured chain one user, and answers 503 while the chain is down',
  async t => {
    const first = await bootstrap()
    t.match(first, { status: 200, body: { walletAddress: contractAddress.toLowerCase() } })
    t.equal((await bootstrap()).body['userId'], first.body['userId'])
    t.match(await bootstrap(newWallet()), { status: 401, body: { error: 'invalid_signature' } })
    await chain.stop()
    t.match(await bootstrap(), { status: 503, body: { error: 'service_unavailable' } })
  },
)
