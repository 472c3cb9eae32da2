import { allow, type Verdict } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { component, idText } from '@gatewright/host/schemas'
import type { HostDenial } from '@gatewright/host'
import { canonicalAddress, readAddress } from '../../chain/addresses.ts'
import { readChainId } from '../../chain/chain-id.ts'
import type { PayinReceiver } from '../../chain/receivers.ts'
import { isUnspendable } from '../../chain/unspendable.ts'
import { deny } from '../../product/denials.ts'
import type { Asset } from '../../providers/catalogue.ts'
import type { Destination } from '../../providers/withdrawals/port.ts'
import { assetMembers, findAsset, type AssetOnNetwork } from '../assets.ts'

const ExtraId = Type.Union([idText(64), Type.Null()], { description: 'A memo or tag beside the address' })

/** Where money goes, in a request. */
export const DestinationBody = Type.Object(
  {
    ...assetMembers,
    address: idText(128, 'The address that receives it'),
    extraId: Type.Optional(ExtraId),
  },
  component('WithdrawalDestination', 'Where the money goes'),
)
type DestinationRequest = Type.Static<typeof DestinationBody>

/** The old form of a destination: a token on a chain. */
export interface OldDestination {
  readonly tokenAddress: string
  readonly recipientAddress: string
  readonly chainId: string | number
}

const badField = (name: string, message: string): HostDenial =>
  deny('invalid_request', `destination.${name} ${message}`, { field: `destination.${name}` })

/** Reads a destination, with names in lower case. */
export function readDestination({
  currency,
  network,
  address,
  extraId = null,
}: DestinationRequest): Destination {
  const asset = { currency: currency.toLowerCase(), network: network.toLowerCase() }
  return { ...asset, address: canonicalAddress(address), extraId }
}

/** Converts the old form to the current one. Denial: `invalid_request` for a token that is not in the catalogue. */
export function fromOldForm(
  assets: readonly Asset[],
  { tokenAddress, recipientAddress, chainId }: OldDestination,
): Verdict<Destination, HostDenial> {
  const token = tokenAddress.toLowerCase()
  const wanted = readChainId(chainId)
  const found = findAsset(
    assets,
    ({ network }) => network.chainId === wanted && network.tokenContract?.toLowerCase() === token,
  )
  if (!found)
    return deny('invalid_request', 'tokenAddress and chainId must be of an asset of withdrawals/assets', {
      field: 'tokenAddress',
    })
  const { ticker, network } = found
  return allow(readDestination({ currency: ticker, network: network.id, address: recipientAddress }))
}

/** What a destination is checked against. */
interface DestinationRules {
  readonly assets: readonly Asset[]
  /** The configured receivers: nothing may be sent to the contracts of their tokens. */
  readonly receivers: readonly Pick<PayinReceiver, 'token'>[]
}

/**
 * Finds the asset of a destination, and checks its address by the rule of the network. `given` is the address as it was sent: its case
 * can contain a checksum. Denials: `invalid_request` with the member, also for an address from which nobody can spend.
 */
export function checkDestination(
  { assets, receivers }: DestinationRules,
  { currency, network: on, address, extraId }: Destination,
  given: string = address,
): Verdict<AssetOnNetwork, HostDenial> {
  const asset = findAsset(assets, ({ ticker, network }) => ticker === currency && network.id === on)
  if (!asset) return unknownAsset(assets, currency)
  const { network } = asset
  const read = readAddress(network, given)
  if (!read) return badField('address', addressProblem(network))
  if (isUnspendable(read))
    return badField('address', 'must not be a burn address or a contract of the network')
  const tokens = [...receivers.map(({ token }) => token), ...tokenContracts(assets)]
  if (tokens.includes(read.text)) return badField('address', 'must not be the contract of a token')
  if (extraId !== null && !network.supportsExtraId)
    return badField('extraId', `must be left out: ${network.label} has none`)
  return allow(asset)
}

function addressProblem({ chainId, label }: AssetOnNetwork['network']): string {
  return chainId === null
    ? `must be an address of ${label}, with its checksum where addresses have one`
    : 'must be 0x and 40 hex digits, with a valid checksum if in mixed case'
}

/**
 * Returns the contracts of all tokens, on any chain: a contract of one chain has no key on another. On some networks a token is named by
 * its contract or issuer and more, such as `USDC:GA5Z...`.
 */
function tokenContracts(assets: readonly Asset[]): readonly string[] {
  return assets
    .flatMap(({ networks }) =>
      networks.flatMap(({ tokenContract }) => tokenContract?.split(/[^0-9A-Za-z]+/) ?? []),
    )
    .map(canonicalAddress)
}

/** How many names of currencies or networks a message lists. */
const MOST_NAMED = 12

/** Denies a currency that no asset has, or else a network that its assets do not have, and lists those that they have. */
function unknownAsset(assets: readonly Asset[], currency: string): HostDenial {
  const networks = assets.find(({ ticker }) => ticker === currency)?.networks
  const names = networks ? networks.map(({ id }) => id) : assets.map(({ ticker }) => ticker)
  const listed = names.slice(0, MOST_NAMED).join(', ')
  const more = names.length > MOST_NAMED ? ' or another one of withdrawals/assets' : ''
  return networks
    ? badField('network', `must be a network of ${currency}: ${listed}${more}`)
    : badField('currency', `must be one of ${listed}${more}`)
}

/** The denial of an address at which this host itself receives money: a withdrawal to it would come back as a deposit. */
export const denyOwnAddress: HostDenial = badField('address', 'must not be a deposit address of this service')
