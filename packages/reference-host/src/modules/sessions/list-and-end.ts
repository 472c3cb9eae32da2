import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, operation } from '@gatewright/host'
import { callerOf, positionCursor, readPositionCursor, counted } from '@gatewright/host/internal'
import { pageParameters, component, instant, nextCursor, text, textOrNull } from '@gatewright/host/schemas'
import { grantedScopes } from '../credential-schemas.ts'
import { deny } from '../../product/denials.ts'
import { cardChoice, cardWords, denyCancel, endCardsOfKeys, endedCards } from '../cards/ended-keys.ts'
import * as examples from '../examples.ts'

const SessionSchema = Type.Object(
  {
    sessionId: text('The id of the session'),
    keyId: text('The key that it was minted from'),
    scopes: grantedScopes,
    label: textOrNull('The label that its creator gave it'),
    createdAt: instant('When it was minted'),
    expiresAt: instant('When its token stops working'),
    current: Type.Boolean({ description: 'Whether it is the calling one' }),
  },
  component('Session', 'A live session, without its token'),
)
const SessionList = Type.Object(
  { sessions: Type.Array(SessionSchema), nextCursor },
  component(
    'SessionList',
    'A page of live sessions, latest end first. It can be short, or empty, before the last one',
  ),
)
const count = (description: string): Type.TInteger => Type.Integer({ minimum: 0, description })
const EndedSessions = Type.Object(
  {
    ended: count('How many sessions have ended'),
    revokedKeys: Type.Optional(count('How many keys were revoked because of `keys=revoke`')),
    lockedCards: Type.Optional(count('How many cards were locked because of `cards=lock`')),
    canceledCards: Type.Optional(count('How many cards were canceled because of `cards=cancel`')),
  },
  component('EndedSessions', 'How many sessions and keys have ended'),
)
const common = { surface: 'user', credential: 'session', topLevel: true, scopes: ['sessions.write'] } as const

type SessionServices = Pick<HostServices, 'issuer' | 'db' | 'backend' | 'clock'>

/**
 * `GET` and `DELETE /user/v1/sessions`: lists the caller's live sessions, and ends one.
 */
export function sessionOperations(services: SessionServices): Operation[] {
  return [listSessions(services), endSession(services)]
}

function listSessions({ issuer }: Pick<HostServices, 'issuer'>): Operation {
  return operation({
    ...common,
    id: 'sessions.list',
    title: 'List sessions',
    details: 'The live sessions of the keys that the caller may see.',
    method: 'GET',
    paths: ['/user/v1/sessions'],
    query: Type.Object(pageParameters(100, 50)),
    response: SessionList,
    example: {
      response: {
        sessions: [
          {
            sessionId: examples.session.sessionId,
            keyId: examples.key.userKeyId,
            scopes: examples.session.scopes,
            label: null,
            createdAt: examples.AT,
            expiresAt: examples.LATER,
            current: true,
          },
        ],
        nextCursor: null,
      },
    },
    async handle({ caller, query: { limit, cursor } }) {
      const start = readPositionCursor(cursor)
      if (!start.ok) return start
      const found = await issuer.listSessions(callerOf(caller), { ...start.value, limit })
      if (!found.ok) return found
      const { next } = found.value
      const sessions = found.value.sessions.map(
        ({ sessionId, keyId, scopes, label, issuedAt, expiresAt }) => ({
          sessionId,
          keyId,
          scopes,
          label,
          createdAt: new Date(issuedAt).toISOString(),
          expiresAt: new Date(expiresAt).toISOString(),
          current: sessionId === caller.session.sessionId,
        }),
      )
      return allow({
        data: { sessions, nextCursor: next && positionCursor(next) },
        summary: `${counted(sessions.length, 'live sessions')}.`,
      })
    },
  })
}

function endSession(services: SessionServices): Operation {
  const { issuer } = services
  return operation({
    ...common,
    id: 'sessions.end',
    title: 'End a session',
    details:
      'Ends it with the sessions that were created from it. `current` is the calling one. With `keys=revoke` the keys that they made are revoked, and `cards` says what happens to the cards that these keys made or revealed.',
    method: 'DELETE',
    limit: 'ending',
    paths: ['/user/v1/sessions/{sessionId}'],
    unknownMembers: 'deny',
    query: Type.Object({
      keys: Type.Optional(
        Type.Literal('revoke', {
          description: 'Also revokes the keys that the ended sessions created',
          expected: 'must be "revoke", once, or absent',
        }),
      ),
      cards: cardChoice('Only with `keys=revoke`. Default: `lock`'),
    }),
    response: EndedSessions,
    example: { response: { ended: 1, revokedKeys: 2, lockedCards: 1 } },
    denies: [404],
    async handle({ caller: authenticated, params, query }) {
      const [caller, sessionId] = [callerOf(authenticated), params['sessionId'] as string]
      if (query.keys === undefined) {
        if (query.cards !== undefined)
          return deny('invalid_request', 'cards needs keys=revoke', { field: 'cards' })
        const ended = await issuer.endSession(caller, sessionId)
        if (!ended.ok) return ended
        return allow({ data: { ended: ended.value }, summary: 'The session has ended.' })
      }
      const choice = query.cards ?? 'lock'
      const denied = denyCancel(authenticated, query.cards)
      if (denied) return denied
      const ended = await issuer.endSessionWithKeys(caller, sessionId)
      if (!ended.ok) return ended
      const { sessions, keys } = ended.value
      const cards = await endCardsOfKeys(services, ended.value, { choice, reason: 'user' })
      return allow({
        data: { ended: sessions, revokedKeys: keys, ...endedCards(choice, cards) },
        summary: `The session has ended, and the keys that it made are revoked. ${cardWords(choice, cards)}`,
      })
    },
  })
}
