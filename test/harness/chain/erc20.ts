import { concatHex, encodeAbiParameters, encodeFunctionData, parseAbi, type Hex } from 'viem'
import { contractsOf } from './contracts.ts'
import { rpc, sendTransaction, transact } from './evm.ts'

/** Creation code of the contracts in `Tokens.sol`. */
export const TOKENS: Record<string, Hex> = contractsOf('test/harness/chain/contracts/Tokens.sol')

const ABI = parseAbi([
  'function mint(address to, uint256 value)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
])

/** Given, so that a transfer which fails is mined as well, and one sent again after a reorganisation is the same. */
const FEES = { gas: '0x186a0', maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0x3b9aca00' }

/** An ERC-20 token on a development chain. Accounts are places in the chain's list of 20. */
export interface Erc20 {
  /** In lower case. */
  readonly address: string
  mint(to: string, units: bigint): Promise<void>
  /** Sends units from an account and returns the transaction's hash; mined at once unless mining is off. */
  transfer(account: number, to: string, units: bigint): Promise<string>
  balanceOf(owner: string): Promise<bigint>
}

/** Deploys a token. Anybody may mint it. */
export async function deployErc20(url: string, decimals = 6): Promise<Erc20> {
  const argument = encodeAbiParameters([{ type: 'uint8' }], [decimals])
  const { contractAddress } = await transact(url, { data: concatHex([TOKENS['Token'] as Hex, argument]) })
  const address = contractAddress.toLowerCase()
  const to = { to: address }
  return {
    address,
    async mint(owner, units) {
      const args = [owner as Hex, units] as const
      await transact(url, { ...to, data: encodeFunctionData({ abi: ABI, functionName: 'mint', args }) })
    },
    async transfer(account, receiver, units) {
      const args = [receiver as Hex, units] as const
      const data = encodeFunctionData({ abi: ABI, functionName: 'transfer', args })
      const from = await accountOf(url, account)
      return sendTransaction(url, { ...to, ...FEES, from, data })
    },
    async balanceOf(owner) {
      const data = encodeFunctionData({ abi: ABI, functionName: 'balanceOf', args: [owner as Hex] })
      return BigInt(await rpc(url, 'eth_call', { ...to, data }, 'latest'))
    },
  }
}

/** The address of one of the chain's accounts, in lower case. */
export async function accountOf(url: string, account: number): Promise<string> {
  const accounts = await rpc<string[]>(url, 'eth_accounts')
  return (accounts[account] as string).toLowerCase()
}
