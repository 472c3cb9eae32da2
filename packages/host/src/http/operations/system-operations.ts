import type { CanonicalFacts } from '@gatewright/http/internal'
import { allow, type Clock } from '@gatewright/kernel'
import type { Issuer } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'
import type { TObject } from 'typebox/type'
import { operation, type Document, type Operation, type PlainOperation } from './operation.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { component, text } from '../../schemas/fields.ts'
import type { Readiness, ReadinessState } from '../../storage/readiness.ts'
import { conditionalGet, type CachedDocument } from './cached-document.ts'
import { shareResult } from '../../storage/share-result.ts'

/** The services of the host's own documents. */
export interface SystemServices {
  readonly clock: Clock
  readonly issuer: Issuer
  readonly metrics: Metrics
  readonly readiness: Readiness
  /** Whether the host is shutting down. It then reports "not ready", whatever its dependencies report. */
  readonly draining: () => boolean
  /** The API description of the whole table, this module included. */
  readonly description: () => CachedDocument
  /** The same for generators of clients: see `sdkDocument`. */
  readonly sdkDescription: () => CachedDocument
}

/** How long rendered metrics are reused, in ms. */
const SHARED_MS = 1000

/**
 * Public operations about the host: keys, API description, health, metrics. Their cost does not grow with the
 * number of requests. Each is limited by client address, except the liveness check.
 */
export function systemOperations({
  clock,
  issuer,
  metrics,
  readiness,
  draining,
  description,
  sdkDescription,
}: SystemServices): Operation[] {
  const rendered = shareResult(() => metrics.text(), clock, SHARED_MS)
  const ready = async (): Promise<Document> => {
    const { ready: works, dependencies } = await readiness.check()
    return readinessDocument(works && !draining(), dependencies)
  }
  return [
    document({
      id: 'system.jwks',
      title: 'The keys that verify session tokens',
      path: '/.well-known/jwks.json',
      response: Jwks,
      example: { response: { keys: [exampleJwk] } },
      // As in the issuer's header fields (RFC 7517 section 8.5).
      mediaType: 'application/jwk-set+json',
      async make() {
        const { keys, headers } = await issuer.jwks()
        return { document: { keys }, headers }
      },
    }),
    document({
      id: 'system.openapi',
      title: 'This API description',
      path: '/openapi.json',
      details:
        'With `for=sdk`: for generators of clients. It has one path of each operation, no old names, no Open Responses objects, and one object for each success.',
      response: Description,
      example: { response: { openapi: '3.1.0' } },
      documentStatuses: [304],
      query: Type.Object({
        for: Type.Optional(
          Type.Enum(['sdk'], {
            description: 'Who reads it: `sdk`, a generator of clients',
            expected: 'must be sdk',
          }),
        ),
      }),
      make: async ({ header }, query) =>
        conditionalGet('for' in query ? sdkDescription() : description(), header('if-none-match')),
    }),
    document({
      id: 'system.healthz',
      title: 'Liveness check',
      path: '/healthz',
      response: Health,
      example: { response: { status: 'ok' } },
      // Liveness probes must never be denied, and the response costs nothing.
      limit: 'none',
      make: async () => ({ document: { status: 'ok' }, headers: [] }),
    }),
    document({
      id: 'system.readyz',
      title: 'Readiness check',
      path: '/readyz',
      response: ReadinessReport,
      example: { response: { status: 'ready', dependencies: { database: 'ok' } } },
      documentStatuses: [503],
      make: ready,
    }),
    document({
      id: 'system.metrics',
      title: 'Prometheus metrics',
      path: '/metrics',
      response: Type.Object({}),
      // The API description has no example for a text document.
      example: { response: {} },
      mediaType: 'text/plain',
      async make() {
        const { contentType, body } = await rendered()
        return { document: body, headers: [['Content-Type', contentType]] }
      },
    }),
  ]
}

const Jwk = Type.Object(
  { kid: text('The id of the key in the header of a token'), kty: text('The family of its algorithm') },
  component('Jwk', 'A public key (RFC 7517), with the members of its family'),
)
// A separate constant, because TypeScript would reject members of an inline object that the schema does not list.
const exampleJwk = { kid: 'k1', kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA', x: '...' }
const Jwks = Type.Object(
  { keys: Type.Array(Jwk) },
  component('JwkSet', 'The keys that verify session tokens'),
)
const Description = Type.Object({ openapi: text('3.1.0') }, component('Description', 'An OpenAPI document'))
const Health = Type.Object({ status: Type.Enum(['ok']) }, component('Health', 'The process answers'))
const ReadinessReport = Type.Object(
  {
    status: Type.Enum(['ready', 'not_ready']),
    dependencies: Type.Record(Type.String(), Type.Enum(['ok', 'down'])),
  },
  component(
    'Readiness',
    'Whether a write would succeed now, and which dependencies work. A host is ready without Redis',
  ),
)

interface DocumentRule<D extends TObject>
  extends Pick<
    PlainOperation<'none', TObject, D>,
    'id' | 'title' | 'details' | 'response' | 'example' | 'mediaType' | 'documentStatuses' | 'limit' | 'query'
  > {
  readonly path: string
  make(facts: CanonicalFacts, query: object): Promise<Document>
}

function document<D extends TObject>({ path, make, ...rule }: DocumentRule<D>): Operation {
  return operation({
    surface: 'public',
    method: 'GET',
    paths: [path],
    credential: 'none',
    document: true,
    limit: 'document',
    ...rule,
    handle: async ({ facts, query }) => allow(await make(facts, query)),
  })
}

/** A host that is not ready responds with 503, so that load balancers take it out of rotation. Causes are logged, not published. */
function readinessDocument(ready: boolean, dependencies: ReadinessState['dependencies']): Document {
  const body = { status: ready ? 'ready' : 'not_ready', dependencies }
  return { document: body, headers: [], ...(ready ? {} : { status: 503 }) }
}
