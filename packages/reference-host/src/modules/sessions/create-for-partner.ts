import { allow } from '@gatewright/kernel'
import { missingScopes } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import { component, nameText, text } from '@gatewright/host/schemas'
import { type HostServices, type Operation, operation } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import {
  parseRequestedScopes,
  requestedScopes,
  newSessionData,
  newSessionFields,
  ttlSeconds,
} from '../credential-fields.ts'
import * as examples from '../examples.ts'
import { readPartnerUser, partnerUserFields } from '../users/fields.ts'
import type { UserStore } from '../users/store.ts'

/** What the sign-in of a user by a partner works with. */
interface PartnerSessionServices extends Pick<HostServices, 'issuer' | 'aliases'> {
  readonly users: UserStore
}

const Body = Type.Object(
  {
    ...partnerUserFields,
    scopes: requestedScopes,
    ttlSeconds: Type.Optional(ttlSeconds),
    sessionLabel: Type.Optional(nameText(0, 120)),
  },
  component('CreatePartnerSessionRequest', 'For whom the session is, and what it may do'),
)
const ResponseData = Type.Object(
  { ...newSessionFields, userId: text('The user, as the partner names them') },
  component('NewPartnerSession', "A new session of one of the partner's users, with its token"),
)

/** `POST /partner/v1/sessions`: creates a session for one user of the partner. */
export function createPartnerSession({ issuer, users, aliases }: PartnerSessionServices): Operation {
  return operation({
    id: 'sessions.createForPartner',
    title: 'Create a session for a user',
    details: 'For a user of the partner.',
    surface: 'partner',
    method: 'POST',
    paths: ['/partner/v1/sessions'],
    credential: 'partner-key',
    limit: 'mint',
    unknownMembers: 'deny',
    body: Body,
    response: ResponseData,
    example: {
      body: { userId: 'user-1', scopes: ['cards.read'] },
      response: { ...examples.session, scopes: ['cards.read'], userId: 'user-1' },
    },
    denies: [404, 409],
    async handle({ caller, body, facts }) {
      const scopes = parseRequestedScopes('partner', body.scopes, 'scopes', { aliases, facts })
      if (!scopes.ok) return scopes
      // Checked before the user is read, because reading the user stores the wallet address permanently.
      const scope = missingScopes(scopes.value.scopes, caller.scopes)
      if (scope.length > 0)
        return deny('insufficient_scope', `not held: ${scope.join(' ')}`, { details: { scope } })
      const named = readPartnerUser(body)
      if (!named.ok) return named
      const user = await users.findResolved({ partnerId: caller.accountId, ...named.value })
      if (!user.ok) return user
      const { id, accountId, walletAddress, externalId } = user.value
      const session = await issuer.issueSession(caller, {
        scopes: scopes.value.scopes,
        subject: { accountId, userId: id, walletAddress },
        ...(body.ttlSeconds === undefined ? {} : { ttlSeconds: body.ttlSeconds }),
        ...(body.sessionLabel === undefined ? {} : { label: body.sessionLabel }),
      })
      if (!session.ok) return session
      const { ignored } = scopes.value
      return allow({
        data: {
          ...newSessionData(session.value),
          userId: externalId,
          ...(ignored.length > 0 ? { ignoredScopes: ignored } : {}),
        },
        summary: 'The session is created.',
      })
    },
  })
}
