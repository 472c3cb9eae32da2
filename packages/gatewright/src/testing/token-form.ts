import type { PresetName } from '@gatewright/scope-guard/internal'
import type { TestSession } from './session.ts'

/** A payload of a token, without its dates and its issuer. */
type Claims = Readonly<Record<string, unknown>>

/** The form of a provider's access tokens. */
interface TokenForm {
  /** The `typ` of the header. */
  readonly typ: string
  claims(session: TestSession, audience: string): Claims
}

const scopeText = ({ scopes }: TestSession): string => scopes.join(' ')

/** The role of a Supabase session, which has one role and no scopes. */
function supabaseRole({ scopes }: TestSession): Claims {
  const [scope = '', ...more] = scopes
  const role = scope.startsWith('role:') ? scope.slice('role:'.length) : ''
  if (role === '' || more.length > 0)
    throw new TypeError(
      `testSession: a session of supabase has one scope, role:NAME such as role:authenticated, got ${JSON.stringify(scopes)}`,
    )
  return role === 'anonymous' ? { role: 'authenticated', is_anonymous: true } : { role }
}

/** The forms by provider, as the presets of scope-guard read them. */
const FORMS: Readonly<Record<PresetName, TokenForm>> = {
  rfc9068: {
    typ: 'at+jwt',
    claims: (session, aud) => ({ aud, client_id: session.clientId, scope: scopeText(session) }),
  },
  auth0: {
    typ: 'JWT',
    claims: (session, aud) => ({ aud, azp: session.clientId, scope: scopeText(session) }),
  },
  keycloak: {
    typ: 'JWT',
    claims: (session, aud) => ({ aud, typ: 'Bearer', azp: session.clientId, scope: scopeText(session) }),
  },
  entra: {
    typ: 'JWT',
    claims: (session, aud) => ({ aud, azp: session.clientId, scp: scopeText(session) }),
  },
  cognito: {
    typ: 'JWT',
    // Its access tokens have no aud: the client is the audience.
    claims: (session, client_id) => ({ token_use: 'access', client_id, scope: scopeText(session) }),
  },
  clerk: {
    typ: 'JWT',
    // Its session tokens have no aud: the origin of the page is the audience.
    claims: (session, azp) => ({ azp, sid: crypto.randomUUID(), org_permissions: session.scopes }),
  },
  supabase: {
    typ: 'JWT',
    claims: (session, aud) => ({ aud, session_id: crypto.randomUUID(), ...supabaseRole(session) }),
  },
}

/** Returns the form of a provider's tokens; without a provider, that of RFC 9068. */
export function tokenForm(provider: PresetName = 'rfc9068'): TokenForm {
  return FORMS[provider]
}
