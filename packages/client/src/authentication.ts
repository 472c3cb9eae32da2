import type { Operation, OperationInput } from './operation.ts'
import { isVisible, type ClientSettings } from './options.ts'
import { GatewrightError } from './problem.ts'
import { send } from './send.ts'
import { createSessions, type Sessions } from './sessions.ts'

/** The header fields that prove who calls. */
interface Authentication {
  readonly fields: Readonly<Record<string, string>>
  /** The token in them, if the client can get another one. */
  readonly token?: string
}

/** Makes the authentication of one attempt. `denied`: the token that the host has denied. */
export type Authenticator = (
  needed: Operation<OperationInput, unknown>['credential'],
  signal: AbortSignal | undefined,
  denied: string | undefined,
) => Promise<Authentication>

/** Where a key is exchanged for a session, and the header field of the key. */
interface Exchange {
  readonly path: string
  readonly fields: Readonly<Record<string, string>>
}

/** How long a session lives without `ttlSeconds`, in seconds. */
const TTL_SECONDS = 900

/** Creates the authenticator of a client. It throws a `TypeError` for an operation that needs a credential which the client lacks. */
export function authenticator(settings: ClientSettings): Authenticator {
  const { token, session } = settings.credential
  const exchange = exchangeOf(settings.credential)
  const sessions = exchange && sessionsOf(exchange, settings)
  return async (needed, signal, denied) => {
    if (needed === 'none') return { fields: {} }
    if (needed !== 'session' && exchange) return { fields: exchange.fields }
    if (needed === 'key')
      throw new TypeError('this operation needs credential.userKey or credential.partnerKey')
    if (token !== undefined) return { fields: bearer(token) }
    if (!sessions) throw new TypeError('this operation needs a credential')
    if (settings.credential.partnerKey !== undefined && session === undefined)
      throw new TypeError('this operation needs credential.session, which names the user of the partner')
    const own = await sessions.token(signal, denied)
    return { fields: bearer(own), token: own }
  }
}

const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` })

function exchangeOf({ userKey, partnerKey }: ClientSettings['credential']): Exchange | undefined {
  if (userKey !== undefined) return { path: '/user/v1/sessions', fields: { 'x-user-key': userKey } }
  if (partnerKey === undefined) return undefined
  return { path: '/partner/v1/sessions', fields: { 'x-partner-key': partnerKey } }
}

function sessionsOf({ path, fields }: Exchange, settings: ClientSettings): Sessions {
  const { url, credential, clock } = settings
  const session = { ttlSeconds: TTL_SECONDS, ...credential.session }
  const exchange = async (): Promise<string> => {
    const { body, response } = await send(
      {
        method: 'POST',
        url: url + path,
        body: JSON.stringify(session),
        headers: { 'content-type': 'application/json', ...fields },
        accepts: 'json',
        // A session that nobody received ends by itself.
        repeatable: true,
        idempotencyKey: undefined,
        signal: undefined,
      },
      settings,
    )
    const { data } = body as { readonly data?: { readonly sessionToken?: unknown } }
    if (isVisible(data?.sessionToken)) return data.sessionToken
    const message = 'The host returned no session token'
    throw new GatewrightError({ code: 'unrecognized_response', status: response.status, message, body: {} })
  }
  return createSessions(exchange, session.ttlSeconds, clock)
}
