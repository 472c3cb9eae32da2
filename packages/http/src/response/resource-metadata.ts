import { checkOptions } from '@gatewright/kernel/internal'
import type { HeaderField } from '@gatewright/kernel'
import type { AccessLike, GuardPort } from '../ports.ts'
import { hasField } from './http-response.ts'
import type { DenialWithHeaders } from '../codes.ts'

/** Describes the API to clients, which learn from it where to get tokens (OAuth 2.0 Protected Resource Metadata, RFC 9728). */
export interface ProtectedResource {
  /** The identifier of the API: an `https:` URL without fragment. Usually the `aud` of its tokens. */
  readonly resource: string
  /** The issuers whose tokens the API accepts. Empty: clients get tokens in another way than by OAuth. */
  readonly authorizationServers: readonly string[]
  /** The scopes that clients may request. Default: the catalogue of the gate. */
  readonly scopes?: readonly string[]
}

/** The metadata of an API, and where it is served. */
export interface ResourceMetadata {
  /** The path of the well-known URL, such as `/.well-known/oauth-protected-resource`. */
  readonly path: string
  readonly document: Readonly<Record<string, unknown>>
  /**
   * Adds the URL of the metadata to the challenges of a denial (section 5.1): those of a 401, and that of a missing scope, with which
   * a client gets a token of more scopes. A 401 without a challenge gets one. Other denials are returned as they are.
   */
  pointTo(denial: DenialWithHeaders): DenialWithHeaders
}

/** What a gate knows about its API. */
interface GateFacts {
  readonly scopes: readonly string[] | undefined
  readonly dpop: GuardPort<AccessLike>['dpop']
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Whether clients of an API at a URL can read metadata about it: it is served over HTTPS, or on this machine. */
export const hasMetadata = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))

function resourceUrl(resource: unknown): URL {
  const url = typeof resource === 'string' && URL.canParse(resource) ? new URL(resource) : undefined
  if (url && hasMetadata(url) && url.hash === '' && url.username === '' && url.password === '') return url
  throw new TypeError(
    `protectedResource: resource must be an https: URL without fragment, got ${JSON.stringify(resource)}`,
  )
}

/** Checks the option and makes the metadata. Throws a `TypeError` that names the wrong member. */
export function resourceMetadata(
  options: ProtectedResource,
  { scopes: catalogue, dpop }: GateFacts,
): ResourceMetadata {
  const { resource, authorizationServers, scopes } = checkOptions('gate protectedResource', options, {
    resource: true,
    authorizationServers: true,
    scopes: true,
  })
  const url = resourceUrl(resource)
  if (!Array.isArray(authorizationServers) || !authorizationServers.every(issuer => URL.canParse(issuer)))
    throw new TypeError('protectedResource: authorizationServers must be an array of issuer URLs')
  // Section 3.1: the well-known path comes before the path of the resource.
  const path = `/.well-known/oauth-protected-resource${url.pathname === '/' ? '' : url.pathname}`
  const parameter = `resource_metadata="${url.origin}${path}${url.search}"`
  const named = scopes ?? catalogue
  return {
    path,
    document: {
      resource,
      // Members without elements are left out (section 3.2).
      ...(authorizationServers.length > 0 ? { authorization_servers: authorizationServers } : {}),
      ...(named ? { scopes_supported: named } : {}),
      bearer_methods_supported: ['header'],
      ...(dpop
        ? {
            dpop_signing_alg_values_supported: dpop.algorithms,
            dpop_bound_access_tokens_required: dpop.isRequired,
          }
        : {}),
    },
    pointTo(denial) {
      const { headers = [] } = denial
      if (denial.status !== 401 && !headers.some(isOwnChallenge)) return denial
      const pointed = headers.map(field => (isOwnChallenge(field) ? withParameter(field, parameter) : field))
      if (hasField(headers, 'www-authenticate')) return { ...denial, headers: pointed }
      return { ...denial, headers: [...pointed, ['WWW-Authenticate', `Bearer ${parameter}`]] }
    },
  }
}

/** Whether a header field is a challenge of a scheme for access tokens. */
const isOwnChallenge = ([name, value]: HeaderField): boolean =>
  name.toLowerCase() === 'www-authenticate' && /^(?:Bearer|DPoP)(?: |$)/i.test(value)

const withParameter = ([name, value]: HeaderField, parameter: string): HeaderField => [
  name,
  `${value}${value.includes(' ') ? ', ' : ' '}${parameter}`,
]
