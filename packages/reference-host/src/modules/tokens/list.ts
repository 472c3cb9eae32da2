import * as Type from 'typebox/type'
import { component, text, textOrNull } from '@gatewright/host/schemas'
import { type Operation, listOperation } from '@gatewright/host'
import type { PayinReceiver } from '../../chain/receivers.ts'
import type { TokenUse } from './token.ts'

/** What the list of tokens works with. */
interface TokenServices {
  readonly receivers: readonly PayinReceiver[]
  readonly providerTokens: () => Promise<readonly TokenUse[]>
}

/** Names of networks, as providers spell them. */
const NETWORKS: Readonly<Record<number, string>> = { 1: 'ethereum', 8453: 'base' }
const USES = ['payin', 'deposit', 'withdrawal'] as const

const Token = Type.Object(
  {
    symbol: text('The short name of the token'),
    name: text('The name of the token'),
    chainId: Type.Union([Type.Integer(), Type.Null()], { description: 'The chain, by its EIP-155 number' }),
    network: text('The network; `eip155:<chain id>` for a chain without a name here'),
    address: textOrNull("The token's contract; null for the native coin"),
    decimals: Type.Integer({ minimum: 0, description: 'Digits after the decimal point' }),
    uses: Type.Array(Type.Enum([...USES]), {
      maxItems: USES.length,
      description: 'What it can be used for at this host',
    }),
  },
  component('Token', 'A token that this host takes or pays'),
)

/** `GET /user/v1/tokens`: lists the tokens for pay-ins, deposits and withdrawals. */
export function listTokens({ receivers, providerTokens }: TokenServices): Operation {
  return listOperation({
    id: 'tokens.list',
    title: 'List tokens',
    details: 'Those that this host takes or pays.',
    path: '/user/v1/tokens',
    scopes: ['tokens.read'],
    // Existing clients read one page, which has every token of most hosts.
    defaultLimit: 100,
    name: 'tokens',
    component: component('TokenList', 'A page of the tokens of this host, by network, contract and symbol'),
    item: Token,
    example: {
      symbol: 'USDC',
      name: 'USD Coin',
      chainId: 8453,
      network: 'base',
      decimals: 6,
      address: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      uses: ['payin', 'deposit'],
    },
    async rows(_accountId, { after, limit }) {
      // Receivers first: a pay-in names its asset by exactly this symbol.
      const all = mergeTokens([...receivers.map(receiverToken), ...(await providerTokens())])
      const numbered = all.map((token, index) => ({ token, position: index + 1 }))
      return numbered.slice(after, after + limit)
    },
    write: rows => rows.map(({ token }) => token),
  })
}

function receiverToken({ chainId, asset, token, decimals }: PayinReceiver): TokenUse {
  const network = NETWORKS[chainId] ?? `eip155:${chainId}`
  return { symbol: asset, name: asset, chainId, network, address: token, decimals, uses: ['payin'] }
}

/**
 * Merges tokens with the same network, contract and symbol (in any case), and sorts them by these. The merged token has the
 * symbol of the first, and the first name that differs from the symbol.
 */
export function mergeTokens(given: readonly TokenUse[]): readonly TokenUse[] {
  const merged = new Map<string, TokenUse>()
  for (const token of given.map(inLowerCase)) {
    const key = JSON.stringify([token.network, token.address ?? '', token.symbol.toUpperCase()])
    const known = merged.get(key) ?? token
    const name = known.name === known.symbol ? token.name : known.name
    const uses = USES.filter(use => known.uses.includes(use) || token.uses.includes(use))
    merged.set(key, { ...known, name, uses })
  }
  return [...merged].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, token]) => token)
}

function inLowerCase(token: TokenUse): TokenUse {
  return { ...token, address: token.address?.toLowerCase() ?? null }
}
