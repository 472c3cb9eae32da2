import { createPublicClient, createWalletClient, http, type Hex, type PrivateKeyAccount } from 'viem'
import { hardhat } from 'viem/chains'
import { rpc, sendTransaction, type Evm } from './evm.ts'

/** Gives an account with a key the code of a deployed contract, by an EIP-7702 authorisation that the key signs. */
export async function delegate(
  { url }: Evm,
  account: PrivateKeyAccount,
  contractAddress: Hex,
): Promise<void> {
  const [funder] = await rpc<Hex[]>(url, 'eth_accounts')
  const funding = { from: funder, to: account.address, value: '0xde0b6b3a7640000' }
  await sendTransaction(url, funding)
  const transport = http(url, { retryCount: 0 })
  const sender = createWalletClient({ account, chain: hardhat, transport })
  const authorization = await sender.signAuthorization({ contractAddress, executor: 'self' })
  const hash = await sender.sendTransaction({ to: funder as Hex, authorizationList: [authorization] })
  const client = createPublicClient({ chain: hardhat, transport })
  await client.waitForTransactionReceipt({ hash })
  const code = await client.getCode({ address: account.address })
  if (!code?.startsWith('0xef0100')) throw new Error(`the account must have delegated code, got ${code}`)
}
