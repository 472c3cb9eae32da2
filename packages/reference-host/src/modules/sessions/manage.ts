import { allow } from '@gatewright/kernel'
import Type from 'typebox'
import { operation, type Operation } from '../../server/operation.ts'
import type { ModuleServices } from '../services.ts'

const Item = Type.Object({
  sessionId: Type.String(),
  keyId: Type.String(),
  scopes: Type.Array(Type.String()),
  label: Type.Union([Type.String(), Type.Null()]),
  createdAt: Type.String({ format: 'date-time' }),
  expiresAt: Type.String({ format: 'date-time' }),
  current: Type.Boolean(),
})
const common = { surface: 'user', credential: 'session', topLevel: true, scopes: ['sessions.write'] } as const

/** `GET` and `DELETE /user/v1/sessions`: the caller's live sessions, and ending one (contract section 4). */
export function sessionOperations({ issuer }: ModuleServices): Operation[] {
  const list = operation({
    ...common,
    id: 'sessions.list',
    title: 'List the live sessions of the keys that the caller may see',
    method: 'GET',
    paths: ['/user/v1/sessions'],
    answer: Type.Object({ sessions: Type.Array(Item) }),
    async handle({ caller }) {
      const found = await issuer.listSessions(caller.session)
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
    title: 'End a session and those minted from it; "current" is the calling one',
    method: 'DELETE',
    paths: ['/user/v1/sessions/{sessionId}'],
    answer: Type.Object({ ended: Type.Integer({ minimum: 0 }) }),
    refuses: [404],
    async handle({ caller, params }) {
      const ended = await issuer.endSession(caller.session, params['sessionId'] as string)
      if (!ended.ok) return ended
      return allow({ data: { ended: ended.value }, summary: 'The session has ended.' })
    },
  })
  return [list, end]
}
