import { mnemonicToAccount } from 'viem/accounts'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import { accountOf, deployErc20, type Erc20 } from '../../harness/chain/erc20.ts'
import {
  DEVELOPMENT_MNEMONIC,
  newestBlockTime,
  stampNextBlock,
  startEvm,
  type Evm,
} from '../../harness/chain/evm.ts'
import { signedBootstrap, startTestHost, type TestHost } from '../../harness/host.ts'
import { moneyUser, payinOf, type MoneyUser, type WirePayin } from './money.ts'
import { rpcFront, type RpcFront } from '../../harness/chain/rpc-front.ts'

/** A user whose wallet is one of the chain's accounts. */
export interface ChainUser extends MoneyUser {
  readonly account: number
  readonly address: string
  readonly key: string
  /** The same user with a new session, after the clock has moved far. */
  renewed(): Promise<ChainUser>
}

/** Bootstraps the wallet of an account of the chain. */
export async function chainUser(
  send: TestHost['send'],
  account: number,
  now: number,
  extra: Record<string, unknown> = {},
): Promise<ChainUser> {
  const wallet = mnemonicToAccount(DEVELOPMENT_MNEMONIC, { addressIndex: account })
  const body = await signedBootstrap(wallet as never, { sessionTtlSeconds: 86_400, ...extra }, now)
  const response = await send('/user/v1/bootstrap', { body })
  if (response.status !== 200) throw new Error(`bootstrap returned ${response.status}`)
  const { userApiKey: key, sessionToken } = response.body as unknown as Record<string, string>
  const of = (token: string): ChainUser => ({
    account,
    address: wallet.address.toLowerCase(),
    key: key as string,
    ...moneyUser(send, { token }),
    async renewed() {
      const headers = { 'x-user-key': key as string }
      const minted = await send('/user/v1/sessions', { body: { ttlSeconds: 86_400 }, headers })
      return of(minted.body['sessionToken'] as string)
    },
  })
  return of(sessionToken as string)
}

/** Tokens and receivers of a host under test. */
export interface PayinChain {
  readonly usdc: Erc20
  readonly eurc: Erc20
  readonly receiver: string
  /** Each serves one pay-in in `EURC`. */
  readonly depositAddresses: readonly string[]
  readonly env: Record<string, string>
  /**
   * Sends exactly this amount, in a block that is stamped at `at` or as soon after it as the chain allows; by default after
   * the host's clock, which then follows.
   */
  pay(from: number, to: string, units: bigint, token?: Erc20, at?: number): Promise<string>
}

/** One entry of `PAYIN_RECEIVERS`. */
export type ReceiverEntry = Readonly<Record<string, unknown>>

/**
 * Deploys two tokens and configures a host to be paid in them: two confirmations, the second by deposit addresses too.
 * `extra` is added to the second one's entry.
 */
export async function payinChain(
  { url, chainId }: Evm,
  clock: ManualClock,
  extra: ReceiverEntry = {},
): Promise<PayinChain> {
  const [usdc, eurc] = [await deployErc20(url), await deployErc20(url, 18)]
  const receiver = await accountOf(url, 19)
  const depositAddresses = [await accountOf(url, 17), await accountOf(url, 18)]
  for (let account = 1; account <= 16; account += 1) {
    const owner = await accountOf(url, account)
    for (const token of [usdc, eurc]) await token.mint(owner, 10n ** 30n)
  }
  const shared = { chainId, receiver, confirmations: 2 }
  const receivers = [
    { ...shared, asset: 'USDC', token: usdc.address, decimals: 6 },
    { ...shared, asset: 'EURC', token: eurc.address, decimals: 18, depositAddresses, ...extra },
  ]
  clock.set((await newestBlockTime(url)) + 1000)
  return {
    usdc,
    eurc,
    receiver,
    depositAddresses,
    env: { RPC_URLS: `${chainId}=${url}`, PAYIN_RECEIVERS: JSON.stringify(receivers) },
    async pay(from, to, units, token = usdc, at) {
      const stamp = Math.max(at ?? clock.now() + 1000, (await newestBlockTime(url)) + 1000)
      await stampNextBlock(url, stamp)
      const hash = await token.transfer(from, to, units)
      if (at === undefined) clock.set(Math.max(clock.now(), stamp))
      return hash
    },
  }
}

/** A host that is paid on a chain of its own, both in this process or started by it. */
export interface PaidHost extends PayinChain {
  readonly chain: Evm
  readonly clock: ManualClock
  readonly host: TestHost
  /** What the host asks of its chain goes through here. */
  readonly front: RpcFront
  /** A round of the host's watcher. */
  watch(): Promise<void>
  expire(): Promise<void>
  /** A user whose wallet is the next account of the chain; 16 at most. */
  newUser(extra?: Record<string, unknown>): Promise<ChainUser>
  close(): Promise<void>
}

/** Starts the chain, the host, and what is between them. `extra` changes the second receiver, `env` the rest. */
export async function startPaidHost(
  extra?: ReceiverEntry,
  env: Record<string, string> = {},
): Promise<PaidHost> {
  const chain = await startEvm()
  const clock = manualClock()
  const tokens = await payinChain(chain, clock, extra)
  const front = await rpcFront(chain.url)
  const host = await startTestHost(
    { ...tokens.env, ...env, RPC_URLS: `${chain.chainId}=${front.url}` },
    clock,
  )
  let accounts = 0
  return {
    ...tokens,
    chain,
    clock,
    front,
    host,
    watch: () => host.chore(`watch chain ${chain.chainId}`),
    expire: () => host.chore('expire pay-ins'),
    newUser(extra) {
      accounts += 1
      return chainUser(host.send, accounts, clock.now(), extra)
    },
    async close() {
      await host.close()
      await front.close()
      await chain.stop()
    },
  }
}

/** Asks for a pay-in. */
export async function ask(user: MoneyUser, body: object): Promise<WirePayin> {
  return payinOf(await user.write('/subscriptions/payin', body))
}

/** Names the transaction that pays. */
export async function confirm(user: MoneyUser, payinId: string, txHash: string): Promise<WirePayin> {
  return payinOf(await user.write('/subscriptions/payin/confirm', { payinId, txHash }))
}

/** What a pay-in costs, in the token's smallest unit. */
export const unitsOf = (payin: WirePayin): bigint => BigInt(payin.payTo?.units as string)
/** What happened to a pay-in. */
export const causesOf = (payin: WirePayin): string[] => (payin.history ?? []).map(({ cause }) => cause)
