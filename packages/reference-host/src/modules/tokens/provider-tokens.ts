import type { Asset } from '../../providers/catalogue.ts'
import type { Providers } from '../../providers/ports.ts'
import type { TokenUse } from './token.ts'

/**
 * Reads the tokens that the providers of deposits accept and those of withdrawals send. Rejects with the fault of a provider
 * that is down.
 */
export async function providerTokens({
  deposits,
  withdrawals,
}: Pick<Providers, 'deposits' | 'withdrawals'>): Promise<readonly TokenUse[]> {
  const signal = new AbortController().signal
  const [taken = [], sent = []] = await Promise.all([deposits?.assets(signal), withdrawals?.assets(signal)])
  return [
    ...taken.flatMap(asset => tokensOf(asset, 'deposit')),
    ...sent.flatMap(asset => tokensOf(asset, 'withdrawal')),
  ]
}

function tokensOf({ ticker, name, networks }: Asset, use: TokenUse['uses'][number]): TokenUse[] {
  return networks.map(({ id, chainId, tokenContract, decimals }) => ({
    symbol: ticker.toUpperCase(),
    name,
    network: id,
    chainId,
    decimals,
    uses: [use],
    address: tokenContract === null || chainId === null ? tokenContract : tokenContract.toLowerCase(),
  }))
}
