import { allow, type Verdict } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import type { Static } from 'typebox/type'
import { nameText } from '@gatewright/host/schemas'
import type { HostDenial } from '@gatewright/host'
import { isEthereumAddress } from '../../chain/addresses.ts'
import { deny } from '../../product/denials.ts'

/**
 * Request members with which a partner names a user. `wallet` holds a legacy name of
 * `walletAddress`, which the alias table translates.
 */
export const partnerUserFields = {
  userId: Type.Optional(nameText(1, 255)),
  walletAddress: Type.Optional(
    Type.Union([Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }), Type.Null()], {
      description: 'The wallet of the user; must be the stored one if there is one',
    }),
  ),
  wallet: Type.Optional(
    // It has no title, so it is not a shared component: only some operations reject unknown members.
    Type.Object(
      { chain: Type.Enum(['evm']), address: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }) },
      { description: 'A wallet as older clients send it: use `walletAddress`', deprecated: true },
    ),
  ),
} as const

type Fields = Static<Type.TObject<typeof partnerUserFields>>

/** Reads which user a body names. Denials: `invalid_request` without a user id, and for a wallet with a wrong checksum. */
export function readPartnerUser(
  body: Fields,
): Verdict<{ externalId: string; walletAddress: string | undefined }, HostDenial> {
  const { userId, walletAddress } = body
  if (userId === undefined) return deny('invalid_request', 'userId is required', { field: 'userId' })
  if (typeof walletAddress === 'string' && !isEthereumAddress(walletAddress))
    return deny('invalid_request', 'walletAddress has a wrong checksum (EIP-55)', { field: 'walletAddress' })
  return allow({ externalId: userId, walletAddress: walletAddress?.toLowerCase() })
}
