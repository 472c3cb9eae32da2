// Pays a pay-in on its chain and prints the transaction's hash. The response that asked for the pay-in comes on standard input.
// RPC_URL names a node of the chain, WALLET_PRIVATE_KEY the wallet that signed up: use one that holds play money only.
import { text } from 'node:stream/consumers'
import { createWalletClient, defineChain, http, parseAbi, type Address } from 'viem'
import { walletOf } from './proof.ts'

const rpcUrl = process.env['RPC_URL']
if (!rpcUrl || !process.env['WALLET_PRIVATE_KEY']) {
  console.error('Set RPC_URL to a node of the chain, and WALLET_PRIVATE_KEY to the wallet that pays.')
  process.exit(1)
}
interface PayTo {
  readonly chainId: number
  readonly token: Address
  readonly address: Address
  readonly units: string
}
const response = JSON.parse(await text(process.stdin)) as { data?: { payin?: { payTo?: PayTo } } }
const payTo = response.data?.payin?.payTo
if (!payTo) {
  console.error('This pay-in has no payTo: pay it from the balance.')
  process.exit(1)
}
const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
const chain = defineChain({
  id: payTo.chainId,
  name: 'chain',
  nativeCurrency,
  rpcUrls: { default: { http: [rpcUrl] } },
})
const wallet = createWalletClient({ account: walletOf(process.env), chain, transport: http() })
const hash = await wallet.writeContract({
  address: payTo.token,
  abi: parseAbi(['function transfer(address to, uint256 value) returns (bool)']),
  functionName: 'transfer',
  args: [payTo.address, BigInt(payTo.units)],
})
console.log(hash)
