import { allow, type EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import { component, instant, nameText, text, textOrNull } from '@gatewright/host/schemas'
import { type HostServices, type Operation, operation } from '@gatewright/host'
import * as examples from '../examples.ts'
import { readPartnerUser, partnerUserFields } from './fields.ts'
import type { UserStore } from './store.ts'

/** Gives a new partner user its first cards. */
export type SeedCards = (tx: SqlQueries, accountId: string, now: EpochMs) => Promise<void>

/** What the look-up of a partner's user works with. */
interface ResolveServices extends Pick<HostServices, 'clock'> {
  readonly users: UserStore
  readonly seedCards: SeedCards
}

const Body = Type.Object(
  { ...partnerUserFields, walletLabel: Type.Optional(nameText(0, 120)) },
  component('ResolveUserRequest', "The partner's id of the user to find or create"),
)

const ResponseData = Type.Object(
  {
    userId: text("The partner's id of the user"),
    walletAddress: textOrNull('The wallet of the user'),
    kycStatus: text("The state of the user's identity check"),
    createdAt: instant('When the user was created'),
  },
  component('User', 'A user of the partner'),
)

/** `POST /partner/v1/users/resolve`: finds or creates a user of the partner. */
export function resolveUser({ users, seedCards, clock }: ResolveServices): Operation {
  return operation({
    id: 'users.resolve',
    title: 'Find or create a user of the partner',
    surface: 'partner',
    method: 'POST',
    paths: ['/partner/v1/users/resolve', '/users/resolve'],
    credential: 'partner-key',
    body: Body,
    response: ResponseData,
    example: {
      body: { userId: 'user-1', walletLabel: 'Main' },
      response: { userId: 'user-1', walletAddress: null, kycStatus: 'not_submitted', createdAt: examples.AT },
    },
    denies: [409],
    async handle({ caller, body }) {
      const named = readPartnerUser(body)
      if (!named.ok) return named
      const now = clock.now()
      const request = { partnerId: caller.accountId, ...named.value, label: body.walletLabel }
      const user = await users.resolve(request, now, (tx, { accountId }) => seedCards(tx, accountId, now))
      if (!user.ok) return user
      const { externalId, walletAddress, kycStatus, createdAt } = user.value
      return allow({
        data: { userId: externalId, walletAddress, kycStatus, createdAt: new Date(createdAt).toISOString() },
        summary: 'The user is found or created.',
        next: 'POST /partner/v1/sessions with this userId',
      })
    },
  })
}
