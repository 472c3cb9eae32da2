import { createDecipheriv, randomUUID } from 'node:crypto'
import {
  bearer,
  bootstrapUser,
  type HttpResponse,
  type RequestOptions,
  type TestHost,
} from '../../harness/host.ts'
import { kycBody } from './kyc.ts'
import { partnerUser } from './partner.ts'

/** Somebody with cards, on one surface. */
export interface CardOwner {
  readonly surface: 'user' | 'partner'
  /** Sends a request below the prefix of the surface, with a fresh idempotency key unless it has one. */
  call(path: string, options?: RequestOptions): Promise<HttpResponse>
  /** Makes a card and returns it as the surface shows it. */
  make(body?: object): Promise<Record<string, unknown>>
  /** The card of a response, however the surface wraps it. */
  cardOf(response: HttpResponse): Record<string, unknown>
  /** The id of a card, however the surface calls it. */
  idOf(card: Record<string, unknown>): string
}

function cardOwner(
  surface: CardOwner['surface'],
  send: (path: string, options?: RequestOptions) => Promise<HttpResponse>,
): CardOwner {
  const call: CardOwner['call'] = (path, options = {}) =>
    send(`/${surface}/v1${path}`, {
      ...options,
      headers: { 'idempotency-key': randomUUID(), ...options.headers },
    })
  const cardOf = ({ body }: HttpResponse): Record<string, unknown> =>
    (surface === 'user' ? body.data['card'] : body.data) as Record<string, unknown>
  return {
    surface,
    call,
    cardOf,
    async make(body = {}) {
      const response = await call('/cards', { body })
      if (response.status !== 200) throw new Error(JSON.stringify(response.body))
      return cardOf(response)
    },
    idOf: card => card[surface === 'user' ? 'id' : 'cardId'] as string,
  }
}

/** Sends as the holder of a session. */
export function sessionOwner(host: Pick<TestHost, 'send'>, token: string): CardOwner {
  return cardOwner('user', (path, options = {}) =>
    host.send(path, { ...options, headers: { ...bearer(token), ...options.headers } }),
  )
}

/** A new wallet user. `sessionPolicy` and the like go into the bootstrap. */
export async function userOwner(
  host: Pick<TestHost, 'send'>,
  extra: Record<string, unknown> = {},
  now?: number,
): Promise<CardOwner & { readonly key: string; readonly token: string }> {
  const { key, token } = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400, ...extra }, now)
  return { ...sessionOwner(host, token), key, token }
}

/** A new user of the sandbox partner that meets the onboarding requirements. */
export async function partnerOwner(host: TestHost, userId: string = randomUUID()): Promise<CardOwner> {
  const scopes = ['kyc.read', 'kyc.write', 'cards.read', 'cards.write', 'cards.secrets.read']
  const send = await partnerUser(host, userId, scopes)
  await send('/partner/v1/kyc/applications', { body: kycBody('Approved') })
  await send('/partner/v1/agreements', { body: { accepted: true } })
  return cardOwner('partner', send)
}

/** Decrypts what a reveal returns, from nothing but the responses. */
export function decrypted(secretKey: string, { iv, data }: { iv: string; data: string }): string {
  const bytes = Buffer.from(data, 'base64')
  const decipher = createDecipheriv('aes-128-gcm', Buffer.from(secretKey, 'hex'), Buffer.from(iv, 'base64'))
  decipher.setAuthTag(bytes.subarray(-16))
  return decipher.update(bytes.subarray(0, -16), undefined, 'utf8') + decipher.final('utf8')
}

/** Opens a secrets session, reveals a card and decrypts its number and code. */
export async function revealed(
  owner: CardOwner,
  cardId: string,
): Promise<{ pan: string; cvc: string; secretKey: string; response: HttpResponse }> {
  const opened = await owner.call('/cards/secrets/session', { method: 'POST' })
  const unwrap = ({ body }: HttpResponse) =>
    (owner.surface === 'user' ? body.data['secrets'] : body.data) as Record<string, unknown>
  const { sessionId, secretKey } = unwrap(opened) as { sessionId: string; secretKey: string }
  const response = await owner.call(`/cards/${cardId}/secrets`, { body: { sessionId } })
  if (response.status !== 200) return { pan: '', cvc: '', secretKey, response }
  const { encryptedPan, encryptedCvc } = unwrap(response) as Record<string, { iv: string; data: string }>
  const open = (text: unknown): string => decrypted(secretKey, text as { iv: string; data: string })
  return { pan: open(encryptedPan), cvc: open(encryptedCvc), secretKey, response }
}
