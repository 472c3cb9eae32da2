import { allow, type Clock } from '@gatewright/kernel'
import type { Issuer } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'
import type { TObject } from 'typebox/type'
import type { Metrics } from '../../observability/metrics.ts'
import type { CanonicalFacts } from '@gatewright/http'
import { operation, type Document, type Operation } from '../../server/operation.ts'
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
    document(
      'jwks',
      'The keys that verify session tokens',
      '/.well-known/jwks.json',
      Jwks,
      async () => {
        const { keys, headers } = await issuer.jwks()
        return { document: { keys }, headers }
      },
      // The issuer's header fields say so (RFC 7517 section 8.5).
      { mediaType: 'application/jwk-set+json' },
    ),
    document(
      'openapi',
      'This description',
      '/openapi.json',
      Description,
      async ({ header }) => conditional(description(), header('if-none-match')),
      { documentStatuses: [304] },
    ),
    document(
      'healthz',
      'The process answers',
      '/healthz',
      Health,
      async () => ({ document: { status: 'ok' }, headers: [] }),
      // Whoever watches the process must never be refused, and the answer costs nothing.
      { limit: 'none' },
    ),
    document('readyz', 'Every dependency answers', '/readyz', Readiness, ready, {
      documentStatuses: [503],
    }),
    document(
      'metrics',
      'Prometheus metrics',
      '/metrics',
      Type.Object({}),
      async () => {
        const { contentType, body } = await rendered()
        return { document: body, headers: [['Content-Type', contentType]] }
      },
      { mediaType: 'text/plain' },
    ),
  ]
}

const Jwk = Type.Object(
  { kid: text('Names the key in the header of a token'), kty: text('The family of its algorithm') },
  named('Jwk', 'A public key (RFC 7517), with the members of its family'),
)
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

function document(
  verb: string,
  title: string,
  path: string,
  answer: TObject,
  make: (facts: CanonicalFacts) => Promise<Document>,
  more: Pick<Operation, 'mediaType' | 'documentStatuses' | 'limit'> = {},
): Operation {
  return operation({
    ...{ id: `system.${verb}`, title, surface: 'public', method: 'GET', paths: [path], credential: 'none' },
    ...{ document: true, answer, limit: 'document', ...more },
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
