import { allow, type Verdict } from '@gatewright/kernel'
import Type, { type Static } from 'typebox'
import { deny, type HostDenial } from '../../server/codes.ts'

/** How a partner names a user, with the field names of older clients beside the current ones (contract section 4). */
export const partnerUserFields = {
  userId: Type.Optional(Type.String({ minLength: 1, maxLength: 120 })),
  externalUserId: Type.Optional(Type.String({ minLength: 1, maxLength: 120 })),
  walletAddress: Type.Optional(Type.Union([Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }), Type.Null()])),
  wallet: Type.Optional(
    Type.Object({ chain: Type.Enum(['evm']), address: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }) }),
  ),
} as const

type Fields = Static<Type.TObject<typeof partnerUserFields>>

/** Reads the twins as one. Denial: `invalid_request` when two spellings differ, or no user id came. */
export function partnerUser(
  body: Fields,
): Verdict<{ externalId: string; walletAddress: string | undefined }, HostDenial> {
  const { userId, externalUserId, wallet } = body
  if (userId !== undefined && externalUserId !== undefined && userId !== externalUserId) {
    return deny('invalid_request', 'userId and externalUserId differ: send one', { field: 'userId' })
  }
  const externalId = userId ?? externalUserId
  if (externalId === undefined) return deny('invalid_request', 'userId is required', { field: 'userId' })
  const named = body.walletAddress?.toLowerCase()
  const twin = wallet?.address.toLowerCase()
  if (named !== undefined && twin !== undefined && named !== twin) {
    return deny('invalid_request', 'walletAddress and wallet.address differ: send one', {
      field: 'walletAddress',
    })
  }
  return allow({ externalId, walletAddress: named ?? twin })
}
