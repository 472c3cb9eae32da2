import { randomUUID } from 'node:crypto'
import { bearer, bootstrapUser, type HttpResponse, type TestHost } from '../../harness/host.ts'
import { kycBody } from './kyc.ts'

/** Somebody who moves money in and out, on one surface. */
export interface TransferUser {
  readonly token: string
  /** A write, by default under a new idempotency key. */
  write(path: string, body: object, key?: string): Promise<HttpResponse>
  read(path: string): Promise<HttpResponse>
}

type Host = Pick<TestHost, 'send'>

function transferUser({ send }: Host, surface: 'user' | 'partner', token: string): TransferUser {
  return {
    token,
    read: path => send(`/${surface}/v1${path}`, { headers: bearer(token) }),
    write: (path, body, key = randomUUID()) =>
      send(`/${surface}/v1${path}`, { body, headers: { ...bearer(token), 'idempotency-key': key } }),
  }
}

/** A wallet user with so much play money. */
export async function fundedUser(
  host: Host,
  cents: number,
  { now, ...extra }: { readonly now?: number; readonly policy?: object } = {},
): Promise<TransferUser> {
  const { token } = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400, ...extra }, now)
  const user = transferUser(host, 'user', token)
  if (cents > 0) await user.write('/deposits', { amountCents: cents })
  return user
}

const SCOPES = ['kyc.write', 'deposits.read', 'deposits.write', 'withdrawals.write', 'transactions.read']

/** A partner's user that meets the onboarding requirements, with so much money from a simulated payment. */
export async function fundedPartnerUser(
  host: Host & Pick<TestHost, 'partnerKey'>,
  cents: number,
): Promise<TransferUser> {
  const headers = { 'x-partner-key': host.partnerKey }
  const userId = randomUUID()
  await host.send('/partner/v1/users/resolve', { body: { userId }, headers })
  const body = { userId, scopes: SCOPES, ttlSeconds: 86_400 }
  const opened = await host.send('/partner/v1/sessions', { body, headers })
  const user = transferUser(host, 'partner', opened.body.data['sessionToken'] as string)
  await user.write('/kyc/applications', kycBody('Approved'))
  await user.write('/agreements', { accepted: true })
  if (cents > 0) {
    const made = await user.write('/deposits', { currency: 'usdc', network: 'base' })
    const { id } = made.body.data['deposit'] as { id: string }
    await user.write(`/sandbox/deposits/${id}/pay`, { amount: (cents / 100).toFixed(2) })
  }
  return user
}

/** An address to which nothing else is paid. */
export const OUTSIDE = '0x52908400098527886e0f7030069857d2e4169ee7'

/** The body of a withdrawal in USDC on Base. */
export function withdrawalBody(amountCents: number, extra: object = {}): Record<string, unknown> {
  return { amountCents, destination: { currency: 'usdc', network: 'base', address: OUTSIDE, ...extra } }
}

/** A member of a response's data that is an object; throws on a denial. */
export function memberOf(
  response: HttpResponse,
  name: string,
): Record<string, unknown> & { readonly id: string } {
  if (response.status !== 200) throw new Error(`${response.status}: ${JSON.stringify(response.body)}`)
  return response.body.data[name] as Record<string, unknown> & { readonly id: string }
}
