import { allow, type Clock } from '@gatewright/kernel'
import type { Issuer } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'
import type { TObject } from 'typebox/type'
import type { Metrics } from '../../observability/metrics.ts'
import type { CanonicalFacts } from '@gatewright/http'
import { operation, type Document, type Operation, type PlainOperation } from '../../server/operation.ts'
import type { DependencyCheck } from '../../storage/backend.ts'
import { named, text } from '../shapes.ts'
import { conditional, type Published } from './published.ts'
import { shared } from './shared.ts'

/** What the host says about itself. */
export interface SystemServices {
  readonly clock: Clock
  readonly issuer: Issuer
  readonly metrics: Metrics
  readonly checks: Readonly<Record<string, DependencyCheck>>
  /** Whether the host is being shut down: it is not ready then, whatever its dependencies say. */
  readonly draining: () => boolean
  /** The API description of the whole table, this module included. */
  readonly description: () => Published
}

/** How long one dependency may take to answer a readiness check, in ms. */
const CHECK_TIMEOUT_MS = 2000
/** How long one rendering of the metrics and one round of readiness checks serve everybody, in ms. */
const SHARED_MS = 1000

/**
 * Operations that anyone may call and that speak for the host: keys, description, health, metrics. What one of them costs
 * does not grow with the number of requests, and each is limited by client address, save for the liveness check.
 */
export function systemOperations({
  clock,
  issuer,
  metrics,
  checks,
  draining,
  description,
}: SystemServices): Operation[] {
  const rendered = shared(() => metrics.text(), clock, SHARED_MS)
  const answered = shared(() => readiness(checks), clock, SHARED_MS)
  const ready = async (): Promise<Document> => {
    const state = await answered()
    return draining() ? notReady(state) : state
  }
  return [
    document({
      ...{ id: 'system.jwks', title: 'The keys that verify session tokens', path: '/.well-known/jwks.json' },
      answer: Jwks,
      example: { answer: { keys: [exampleJwk] } },
      // The issuer's header fields say so (RFC 7517 section 8.5).
      mediaType: 'application/jwk-set+json',
      async make() {
        const { keys, headers } = await issuer.jwks()
        return { document: { keys }, headers }
      },
    }),
    document({
      ...{ id: 'system.openapi', title: 'This description', path: '/openapi.json' },
      answer: Description,
      example: { answer: { openapi: '3.1.0' } },
      documentStatuses: [304],
      make: async ({ header }) => conditional(description(), header('if-none-match')),
    }),
    document({
      ...{ id: 'system.healthz', title: 'The process answers', path: '/healthz' },
      answer: Health,
      example: { answer: { status: 'ok' } },
      // Whoever watches the process must never be refused, and the answer costs nothing.
      limit: 'none',
      make: async () => ({ document: { status: 'ok' }, headers: [] }),
    }),
    document({
      ...{ id: 'system.readyz', title: 'Every dependency answers', path: '/readyz' },
      answer: Readiness,
      example: { answer: { status: 'ready', dependencies: { database: 'ok' } } },
      documentStatuses: [503],
      make: ready,
    }),
    document({
      ...{ id: 'system.metrics', title: 'Prometheus metrics', path: '/metrics' },
      answer: Type.Object({}),
      // The description shows no example of a text.
      example: { answer: {} },
      mediaType: 'text/plain',
      async make() {
        const { contentType, body } = await rendered()
        return { document: body, headers: [['Content-Type', contentType]] }
      },
    }),
  ]
}

const Jwk = Type.Object(
  { kid: text('Names the key in the header of a token'), kty: text('The family of its algorithm') },
  named('Jwk', 'A public key (RFC 7517), with the members of its family'),
)
// Apart from the declaration, because TypeScript refuses members that the schema does not list in a literal there.
const exampleJwk = { kid: 'k1', kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA', x: '...' }
const Jwks = Type.Object({ keys: Type.Array(Jwk) }, named('JwkSet', 'The keys that verify session tokens'))
const Description = Type.Object({ openapi: text('3.1.0') }, named('Description', 'An OpenAPI document'))
const Health = Type.Object({ status: Type.Enum(['ok']) }, named('Health', 'The process answers'))
const Readiness = Type.Object(
  {
    status: Type.Enum(['ready', 'not_ready']),
    dependencies: Type.Record(Type.String(), Type.Enum(['ok', 'down'])),
  },
  named('Readiness', 'Whether each dependency answers'),
)

interface DocumentRule<D extends TObject>
  extends Pick<
    PlainOperation<'none', TObject, D>,
    'id' | 'title' | 'answer' | 'example' | 'mediaType' | 'documentStatuses' | 'limit'
  > {
  readonly path: string
  make(facts: CanonicalFacts): Promise<Document>
}

function document<D extends TObject>({ path, make, ...rule }: DocumentRule<D>): Operation {
  return operation({
    ...{ surface: 'public', method: 'GET', paths: [path], credential: 'none' },
    ...{ document: true, limit: 'document', ...rule },
    handle: async ({ facts }) => allow(await make(facts)),
  })
}

/** Balancers take a host out that says so. */
function notReady({ document: body, headers }: Document): Document {
  return { document: { ...(body as object), status: 'not_ready' }, headers, status: 503 }
}

/** Asks every dependency at once. Why one is down is for the operator's log, not for strangers. */
async function readiness(checks: SystemServices['checks']): Promise<Document> {
  const states = await Promise.all(
    Object.entries(checks).map(
      async ([name, check]) => [name, (await answers(check)) ? 'ok' : 'down'] as const,
    ),
  )
  const ready = states.every(([, state]) => state === 'ok')
  const status = ready ? 'ready' : 'not_ready'
  const body = { status, dependencies: Object.fromEntries(states) }
  return { document: body, headers: [], ...(ready ? {} : { status: 503 }) }
}

async function answers(check: DependencyCheck): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>(resolve => {
    timer = setTimeout(resolve, CHECK_TIMEOUT_MS, false)
  })
  const answered = check().then(
    () => true,
    () => false,
  )
  return Promise.race([answered, late]).finally(() => clearTimeout(timer))
}
