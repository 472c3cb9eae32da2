/** An identity provider whose tokens differ from RFC 9068, and what a caller of its tokens may be required to have. */
interface Provider {
  readonly name: string
  readonly scope: string
}

const DEFAULT_SCOPE = 'payments.write'

/** The addresses of the providers that `gatewright` knows. */
const ADDRESSES: readonly (readonly [RegExp, Provider])[] = [
  [/\.auth0\.com$/, { name: 'auth0', scope: DEFAULT_SCOPE }],
  [/^(login\.microsoftonline\.com|sts\.windows\.net)$/, { name: 'entra', scope: DEFAULT_SCOPE }],
  [/^cognito-idp\..*\.amazonaws\.com$/, { name: 'cognito', scope: DEFAULT_SCOPE }],
  // Clerk has permissions of organizations, Supabase has roles: neither has scopes of an API.
  [/\.clerk\.accounts\.dev$/, { name: 'clerk', scope: 'org:payments:write' }],
  [/\.supabase\.co$/, { name: 'supabase', scope: 'role:authenticated' }],
]

/** Finds the identity provider by the address of the issuer. A provider whose tokens follow RFC 9068 has no name, because `gatewright` needs none. */
export function providerOf(issuer: string): { readonly name?: string; readonly scope: string } {
  const { hostname, pathname } = new URL(issuer)
  const [, found] = ADDRESSES.find(([address]) => address.test(hostname)) ?? []
  if (found) return found
  return pathname.includes('/realms/') ? { name: 'keycloak', scope: DEFAULT_SCOPE } : { scope: DEFAULT_SCOPE }
}
