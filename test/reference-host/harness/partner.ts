import { bearer, type HttpResponse, type RequestOptions, type TestHost } from '../../harness/host.ts'

/** Asks a host as one user of a partner. */
export type PartnerUser = (path: string, options?: RequestOptions) => Promise<HttpResponse>

/** Resolves a user of the host's first partner and opens a session with the scopes. */
export async function partnerUser(
  host: TestHost,
  userId: string,
  scopes: readonly string[],
): Promise<PartnerUser> {
  const headers = { 'x-partner-key': host.partnerKey }
  await host.send('/partner/v1/users/resolve', { body: { userId }, headers })
  const opened = await host.send('/partner/v1/sessions', { body: { userId, scopes }, headers })
  if (opened.status !== 200) throw new Error(JSON.stringify(opened.body))
  const proof = bearer(opened.body.data['sessionToken'] as string)
  return (path, options = {}) => host.send(path, { ...options, headers: { ...proof, ...options.headers } })
}
