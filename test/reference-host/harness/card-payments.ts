import { randomUUID } from 'node:crypto'
import { bearer, type HttpResponse, type TestHost } from '../../harness/host.ts'
import { signedFields } from './kyc.ts'
import { moneyUser, type MoneyUser } from './money.ts'

/** An authorization as responses hold it. */
export interface WireAuthorization {
  readonly id: string
  readonly cardId: string
  readonly status: string
  readonly amountCents: number
  readonly clearedCents: number
  readonly refundedCents: number
  readonly declineReason: string | null
  readonly declineRule: string | null
  readonly merchant: { readonly name: string }
  readonly history: readonly { from: string | null; to: string; cause: string; amountCents: number }[]
}

/** A user with cards, who also plays the merchant. */
export interface CardUser extends MoneyUser {
  /** Makes a card and returns its id. */
  card(body?: object): Promise<string>
  /** Asks for a payment of 100 cents or of `amountCents`. */
  pay(cardId: string, more?: object, key?: string): Promise<WireAuthorization>
  /** Clears, reverses or refunds. */
  later(id: string, verb: 'clear' | 'reverse' | 'refund', body?: object, key?: string): Promise<HttpResponse>
}

/** The card operations of a user session at a host. */
export function cardUser(send: TestHost['send'], token: string): CardUser {
  const money = moneyUser(send, { token })
  return {
    ...money,
    async card(body = {}) {
      const { id } = okay(await money.write('/cards', body))['card'] as { id: string }
      return id
    },
    pay: async (cardId, more = {}, key = randomUUID()) =>
      authorizationOf(
        await money.write('/sandbox/authorizations', { cardId, amountCents: 100, ...more }, key),
      ),
    later: (id, verb, body = {}, key = randomUUID()) =>
      money.write(`/sandbox/authorizations/${id}/${verb}`, body, key),
  }
}

/** The authorization of a response; throws on a denial. */
export function authorizationOf(response: HttpResponse): WireAuthorization {
  return okay(response)['authorization'] as WireAuthorization
}

function okay({ status, body }: HttpResponse): Record<string, unknown> {
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body.data
}

/** Creates a key below the session's with a policy, and opens a session of that key. */
export async function keyBelow(
  send: TestHost['send'],
  token: string,
  policy: object,
  session: object = {},
): Promise<{ readonly keyId: string; readonly token: string; readonly sessionId: string }> {
  const made = await send('/user/v1/keys', { body: { policy }, headers: bearer(token) })
  const key = made.body as unknown as { userKeyId: string; userApiKey: string }
  const opened = await send('/user/v1/sessions', { body: session, headers: { 'x-user-key': key.userApiKey } })
  const { sessionToken, sessionId } = opened.body as unknown as { sessionToken: string; sessionId: string }
  if (made.status !== 200 || opened.status !== 200) throw new Error(JSON.stringify([made.body, opened.body]))
  return { keyId: key.userKeyId, token: sessionToken, sessionId }
}

/**
 * Sends an event of the built-in issuer. A message without an `id` that the host could not decide about in time is sent again, up to
 * `repeats` times, as a card network does: a busy machine may need more than the 1.8 seconds.
 */
export async function networkEvent(
  send: TestHost['send'],
  event: { readonly type: string; readonly data: object },
  {
    now = Date.now(),
    id,
    name = 'sandbox',
    repeats = id === undefined ? 3 : 0,
  }: { now?: number; id?: string; name?: string; repeats?: number } = {},
): Promise<HttpResponse> {
  const body = JSON.stringify(event)
  const headers = signedFields(body, { now, id: id ?? randomUUID() })
  const response = await send(`/providers/${name}/events`, { body, headers })
  if (repeats === 0 || response.body.data?.['outcome'] !== 'unavailable') return response
  return networkEvent(send, event, { now, name, repeats: repeats - 1 })
}

/** The data of an `authorization.request` with a network id of its own. */
export function networkRequest(
  cardId: string,
  more: object = {},
): Record<string, unknown> & { readonly id: string } {
  const merchant = { name: 'Corner Shop', mcc: '5411', country: 'US' }
  return { id: randomUUID(), cardId, amountCents: 100, currency: 'USD', merchant, ...more }
}
