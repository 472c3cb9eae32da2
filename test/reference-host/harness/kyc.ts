import { createHmac, randomUUID } from 'node:crypto'
import { bearer, bootstrapUser, type HttpResponse, type TestHost } from '../../harness/host.ts'

/** A body of `kyc.submit`. */
export function kycBody(lastName: string, extra: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    firstName: 'Ada',
    lastName,
    birthDate: '1990-01-31',
    countryOfIssue: 'us',
    email: 'ada@example.com',
    address: {
      line1: '1 Main Street',
      city: 'Springfield',
      region: 'IL',
      postalCode: '62701',
      countryCode: 'US',
    },
    occupation: 'employee',
    annualSalary: '<40k',
    accountPurpose: 'testing',
    expectedMonthlyVolume: 'under $1k',
    nationalId: 'SECRET-123-45-6789',
    ...extra,
  }
}

/** Somebody whose identity is to be checked, on one surface. */
export interface Person {
  readonly surface: 'user' | 'partner'
  call(path: string, body?: unknown): Promise<HttpResponse>
  submit(body: Record<string, unknown>): Promise<HttpResponse>
  /** The application, however the surface wraps it. */
  application(response: HttpResponse): Record<string, unknown>
  status(): Promise<unknown>
}

export async function kycUser(host: Pick<TestHost, 'send'>, now?: number): Promise<Person> {
  const { token } = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, now)
  return person(host, 'user', token)
}

/** A user of the sandbox partner. */
export async function kycPartnerUser(host: TestHost, userId: string = randomUUID()): Promise<Person> {
  const headers = { 'x-partner-key': host.partnerKey }
  await host.send('/partner/v1/users/resolve', { body: { userId }, headers })
  const body = { userId, scopes: ['kyc.read', 'kyc.write'], ttlSeconds: 86_400 }
  const session = await host.send('/partner/v1/sessions', { body, headers })
  return person(host, 'partner', session.body.data['sessionToken'] as string)
}

function person(host: Pick<TestHost, 'send'>, surface: Person['surface'], token: string): Person {
  const call: Person['call'] = (path, body) =>
    host.send(`/${surface}/v1${path}`, { headers: bearer(token), ...(body === undefined ? {} : { body }) })
  const application = ({ body: { data } }: HttpResponse): Record<string, unknown> =>
    surface === 'user' ? (data['application'] as Record<string, unknown>) : data
  return {
    surface,
    call,
    application,
    submit: body => call(surface === 'user' ? '/kyc' : '/kyc/applications', body),
    status: async () => application(await call('/kyc/status'))['status'],
  }
}

/** A secret of `PROVIDER_WEBHOOK_SECRETS`. */
export const WEBHOOK_SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

/** Header fields of a message signed by Standard Webhooks. */
export function signedFields(
  body: string,
  { now, id = randomUUID(), secret = WEBHOOK_SECRET }: { now: number; id?: string; secret?: string },
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000))
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` }
}
