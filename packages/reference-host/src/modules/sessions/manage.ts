import { allow, type Verdict } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { deny } from '../../server/codes.ts'
import { callerOf, operation, type Operation } from '../../server/operation.ts'
import * as examples from '../examples.ts'
import type { ModuleServices } from '../services.ts'
import { grantedScopes, instant, named, text, textOrNull } from '../shapes.ts'

const SessionShape = Type.Object(
  {
    sessionId: text('Names the session in this API'),
    keyId: text('The key that it was minted from'),
    scopes: grantedScopes,
    label: textOrNull('What its maker called it'),
    createdAt: instant('When it was minted'),
    expiresAt: instant('When its token stops working'),
    current: Type.Boolean({ description: 'Whether it is the calling one' }),
  },
  named('Session', 'A live session, without its token'),
)
const SessionList = Type.Object({ sessions: Type.Array(SessionShape) }, named('SessionList', 'Live sessions'))
const count = (description: string): Type.TInteger => Type.Integer({ minimum: 0, description })
const EndedSessions = Type.Object(
  {
    ended: count('How many sessions have ended'),
    revokedKeys: Type.Optional(count('How many keys are revoked, where `keys=revoke` asked for it')),
  },
  named('EndedSessions', 'What the end of a session took along'),
)
const common = { surface: 'user', credential: 'session', topLevel: true, scopes: ['sessions.write'] } as const

/** `GET` and `DELETE /user/v1/sessions`: the caller's live sessions, and ending one (contract section 4). */
export function sessionOperations({ issuer }: ModuleServices): Operation[] {
  const list = operation({
    ...common,
    id: 'sessions.list',
    title: 'List the live sessions of the keys that the caller may see',
    method: 'GET',
    paths: ['/user/v1/sessions'],
    answer: SessionList,
    example: {
      answer: {
        sessions: [
          {
            ...{ sessionId: examples.session.sessionId, keyId: examples.key.userKeyId },
            ...{ scopes: examples.session.scopes, label: null },
            ...{ createdAt: examples.AT, expiresAt: examples.LATER, current: true },
          },
        ],
      },
    },
    async handle({ caller }) {
      const found = await issuer.listSessions(callerOf(caller))
      if (!found.ok) return found
      const sessions = found.value.map(({ sessionId, keyId, scopes, label, issuedAt, expiresAt }) => ({
        ...{ sessionId, keyId, scopes, label },
        createdAt: new Date(issuedAt).toISOString(),
        expiresAt: new Date(expiresAt).toISOString(),
        current: sessionId === caller.session.sessionId,
      }))
      return allow({ data: { sessions }, summary: `${sessions.length} live sessions.` })
    },
  })
  const end = operation({
    ...common,
    id: 'sessions.end',
    title:
      'End a session and those minted from it; "current" is the calling one; keys=revoke ends the keys they made',
    method: 'DELETE',
    paths: ['/user/v1/sessions/{sessionId}'],
    query: Type.Object({
      keys: Type.Optional(
        Type.Literal('revoke', { description: 'Revokes the keys that were made by what ends, too' }),
      ),
    }),
    answer: EndedSessions,
    example: { answer: { ended: 1, revokedKeys: 2 } },
    refuses: [404],
    async handle({ caller: proven, params, facts }) {
      const [caller, sessionId] = [callerOf(proven), params['sessionId'] as string]
      const withKeys = revokesKeys(facts.query)
      if (!withKeys.ok) return withKeys
      if (!withKeys.value) {
        const ended = await issuer.endSession(caller, sessionId)
        if (!ended.ok) return ended
        return allow({ data: { ended: ended.value }, summary: 'The session has ended.' })
      }
      const ended = await issuer.endSessionWithKeys(caller, sessionId)
      if (!ended.ok) return ended
      const { sessions, keys } = ended.value
      const summary = 'The session has ended, and the keys that it made are revoked.'
      return allow({ data: { ended: sessions, revokedKeys: keys }, summary })
    },
  })
  return [list, end]
}

/** Whether the keys that the session made are to end too. Anything but `keys=revoke`, once, is refused. */
function revokesKeys(query: URLSearchParams): Verdict<boolean> {
  const given = query.getAll('keys')
  if (given.length === 0) return allow(false)
  if (given.length === 1 && given[0] === 'revoke') return allow(true)
  return deny('invalid_request', 'keys must be "revoke", once, or absent', { field: 'keys' })
}
