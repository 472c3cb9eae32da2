import { allow, type Verdict } from '@gatewright/kernel'
import { isChecksumAddress } from '@gatewright/signature-verifier/internal'
import * as Type from 'typebox/type'
import { component, idText } from '@gatewright/host/schemas'
import type { HostDenial } from '@gatewright/host/internal'
import { deny } from '../../product/denials.ts'
import type { Asset } from '../../providers/catalogue.ts'
import type { Destination } from '../../providers/withdrawals/port.ts'
import { assetMembers, findAsset, type AssetOnNetwork } from '../assets.ts'
import { canonical } from '../deposits/records.ts'

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

/** The syntax of addresses on networks without an EIP-155 chain id. On other such networks only the length is checked. */
const ADDRESSES: Readonly<Record<string, RegExp>> = {
  bitcoin: /^(?:bc1[02-9ac-hj-np-z]{8,87}|[13][1-9A-HJ-NP-Za-km-z]{25,34})$/,
  ripple: /^r[1-9A-HJ-NP-Za-km-z]{24,34}$/,
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
  return { ...asset, address: canonical(address), extraId }
}

/** Converts the old form to the current one. Denial: `invalid_request` for a token that is not in the catalogue. */
export function fromOldForm(
  assets: readonly Asset[],
  { tokenAddress, recipientAddress, chainId }: OldDestination,
): Verdict<Destination, HostDenial> {
  const token = tokenAddress.toLowerCase()
  const found = findAsset(
    assets,
    ({ network }) =>
      String(network.chainId) === String(chainId) && network.tokenContract?.toLowerCase() === token,
  )
  if (!found)
    return deny('invalid_request', 'tokenAddress and chainId must be of an asset of withdrawals/assets', {
      field: 'tokenAddress',
    })
  const { ticker, network } = found
  return allow(readDestination({ currency: ticker, network: network.id, address: recipientAddress }))
}

/** Finds the asset of a destination, and checks the syntax of its address. Denials: `invalid_request` with the member. */
export function checkDestination(
  assets: readonly Asset[],
  { currency, network: on, address, extraId }: Destination,
  given: string = address,
): Verdict<AssetOnNetwork, HostDenial> {
  const asset = findAsset(assets, ({ ticker, network }) => ticker === currency && network.id === on)
  if (!asset) return unknownAsset(assets, currency)
  const { network } = asset
  if (network.chainId === null) {
    if (ADDRESSES[network.id]?.test(address) === false)
      return badField('address', `must be an address of ${network.label}`)
  } else if (!isEthereumAddress(given)) {
    return badField(
      'address',
      'must be 0x and 40 hex digits, not all zero, with a valid checksum if in mixed case',
    )
  }
  if (extraId !== null && !network.supportsExtraId)
    return badField('extraId', `must be left out: ${network.label} has none`)
  return allow(asset)
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

/** Whether a text is an Ethereum address. In mixed case its checksum (EIP-55) must be valid. */
function isEthereumAddress(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text) || /^0x0{40}$/.test(text)) return false
  return /^0x(?:[0-9A-F]{40}|[0-9a-f]{40})$/.test(text) || isChecksumAddress(text)
}

/** The denial of an address at which this host itself receives money: a withdrawal to it would come back as a deposit. */
export const denyOwnAddress: HostDenial = badField('address', 'must not be a deposit address of this service')
