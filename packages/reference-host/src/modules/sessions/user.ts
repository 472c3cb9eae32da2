import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { callerOf, operation, type Operation } from '../../server/operation.ts'
import { checkedPolicy, grantable, requestedScopes } from '../credentials.ts'
import { sessionFields, sessionShape, ttlSeconds } from '../credentials.ts'
import * as examples from '../examples.ts'
import type { ModuleServices } from '../services.ts'
import { named, Policy } from '../shapes.ts'

const Body = Type.Object(
  {
    scopes: Type.Optional(requestedScopes),
    policy: Type.Optional(Policy),
    ttlSeconds: Type.Optional(ttlSeconds),
  },
  named('CreateSessionRequest', 'What the session may do; by default what its parent may'),
)
const NewSession = Type.Object(sessionShape, named('NewSession', 'A new session with its token'))

/** `POST /user/v1/sessions`: a user key, or a session, becomes a session that holds no more (contract section 4). */
export function createUserSession({ issuer, aliases }: ModuleServices): Operation {
  return operation({
    id: 'sessions.create',
    title: 'Mint a session from a user key, or from a session',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/sessions'],
    credential: 'user-key-or-session',
    scopes: ['sessions.write'],
    limit: 'mint',
    topLevel: true,
    body: Body,
    answer: NewSession,
    example: { body: { scopes: ['subscriptions.write'], ttlSeconds: 900 }, answer: examples.session },
    async handle({ caller: proven, body, facts }) {
      const caller = callerOf(proven)
      const scopes = grantable('user', body.scopes ?? caller.scopes, 'scopes', { aliases, facts })
      if (!scopes.ok) return scopes
      const policy = checkedPolicy(body.policy, 'policy')
      if (!policy.ok) return policy
      const session = await issuer.issueSession(caller, {
        scopes: scopes.value.scopes,
        ...(body.ttlSeconds === undefined ? {} : { ttlSeconds: body.ttlSeconds }),
        ...policy.value,
      })
      if (!session.ok) return session
      const { ignored } = scopes.value
      return allow({
        data: { ...sessionFields(session.value), ...(ignored.length > 0 ? { ignoredScopes: ignored } : {}) },
        summary: 'The session is open.',
      })
    },
  })
}
