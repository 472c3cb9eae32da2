import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { component } from '@gatewright/host/schemas'
import { PolicySchema } from '../credential-schemas.ts'
import { type HostServices, type Operation, operation } from '@gatewright/host'
import { callerOf } from '@gatewright/host/internal'
import {
  checkPolicy,
  newSessionData,
  newSessionFields,
  parseRequestedScopes,
  requestedScopes,
  ttlSeconds,
} from '../credential-fields.ts'
import * as examples from '../examples.ts'

const Body = Type.Object(
  {
    scopes: Type.Optional(requestedScopes),
    policy: Type.Optional(PolicySchema),
    ttlSeconds: Type.Optional(ttlSeconds),
  },
  component('CreateSessionRequest', 'What the session may do. Default: what its parent may do'),
)
const NewSession = Type.Object(newSessionFields, component('NewSession', 'A new session with its token'))

/**
 * `POST /user/v1/sessions`: creates a session from a user key or a session, with at most the same rights. Names of retired scopes
 * are left out and returned as `ignoredScopes`.
 */
export function createUserSession({
  issuer,
  aliases,
  operationRules,
}: Pick<HostServices, 'issuer' | 'aliases' | 'operationRules'>): Operation {
  return operation({
    id: 'sessions.create',
    title: 'Create a session',
    details: 'From a user key, or from a session.',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/sessions'],
    credential: 'user-key-or-session',
    scopes: ['sessions.write'],
    limit: 'mint',
    topLevel: true,
    unknownMembers: 'deny',
    body: Body,
    response: NewSession,
    example: { body: { scopes: ['subscriptions.write'], ttlSeconds: 900 }, response: examples.session },
    async handle({ caller: credential, body, facts }) {
      const caller = callerOf(credential)
      // The caller's own scopes are parsed, too, which removes scopes that were retired since the caller was created.
      const scopes = parseRequestedScopes('user', body.scopes ?? caller.scopes, 'scopes', { aliases, facts })
      if (!scopes.ok) return scopes
      const policy = checkPolicy(body.policy, 'policy', operationRules)
      if (!policy.ok) return policy
      const session = await issuer.issueSession(caller, {
        scopes: scopes.value.scopes,
        ...(body.ttlSeconds === undefined ? {} : { ttlSeconds: body.ttlSeconds }),
        ...policy.value,
      })
      if (!session.ok) return session
      const { ignored } = scopes.value
      return allow({
        data: { ...newSessionData(session.value), ...(ignored.length > 0 ? { ignoredScopes: ignored } : {}) },
        summary: 'The session is created.',
      })
    },
  })
}
