import { listOf, type Parser } from '@gatewright/host/config'
import { configuredChainId } from '../chain/chain-id.ts'

/** `chain id=URL`. */
const parseChainUrl: Parser<{ readonly chainId: number; readonly url: string }> = text => {
  const [, chain = '', url = ''] = /^([^=]+)=(https?:\/\/.+)$/.exec(text) ?? []
  const chainId = configuredChainId(chain)
  return chainId !== undefined && URL.canParse(url)
    ? { value: { chainId, url } }
    : { expected: 'must be chain id=URL pairs, such as 1=https://rpc.example.com' }
}

/** `chain id=URL` entries joined by commas, each chain once. */
export const chainUrls: Parser<readonly { readonly chainId: number; readonly url: string }[]> = text => {
  const result = listOf(parseChainUrl)(text)
  if ('expected' in result) return result
  const ids = result.value.map(({ chainId }) => chainId)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  return twice === undefined ? result : { expected: `must name each chain once, got chain ${twice} twice` }
}
