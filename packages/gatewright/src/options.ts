import type { GateOptions } from '@gatewright/http'
import type { IdempotencyOptions } from '@gatewright/idempotency-store'
import type { Session, Clock } from '@gatewright/kernel'
import { checkOptions, type OptionTable } from '@gatewright/kernel/internal'
import type { Access, LimitOptions, Policy, SpendHold, GuardOptions } from '@gatewright/scope-guard'
import { PRESET_NAMES, type PresetName } from '@gatewright/scope-guard/internal'
import type { Store } from './stores/store.ts'

/** Options of `gatewright`. `S` are the names of your scopes. */
export interface GatewrightOptions<S extends string = string> {
  /** The `iss` of acceptable tokens, compared exactly: the address of your identity provider. */
  readonly issuer: string
  /** The `aud` of acceptable tokens: this API. */
  readonly audience: string
  /**
   * The identity provider, whose access tokens differ from RFC 9068: `auth0`, `keycloak`, `entra`, `cognito`, `clerk` or
   * `supabase`. Default: access tokens of RFC 9068.
   */
  readonly provider?: PresetName
  /** The scopes of your API. With them, an operation that names another scope does not compile, and throws at start-up. */
  readonly scopes?: readonly S[]
  /**
   * One policy for every account: what each may spend, and when. `none` says that nothing is meant to cap what operations spend. Not
   * with `policies`.
   */
  readonly policy?: Policy | 'none'
  /**
   * Returns the policies of a session, all of which must allow a request. The counters of a policy belong to its place in the list,
   * so append new ones. A change takes effect within 60 s. If it throws, the response is a 503. Not with `policy`.
   */
  readonly policies?: (session: Session) => readonly Policy[] | Promise<readonly Policy[]>
  /**
   * Lets the owner of an account approve amounts above `approveAboveCents` of a policy: `url` returns where, and `gw.guard.approvals` decides.
   * Required for a policy with such a threshold.
   */
  readonly approvals?: Omit<NonNullable<GuardOptions['approvals']>, 'store'>
  /** Where the server keeps its state: `memoryStore()`, `redisStore(client)`, `postgresStore(pool)` or `sqliteStore(database)`. */
  readonly store: Store
  /**
   * Rate limits. Default: 600 requests a minute per API key. An empty list: no limit. Without a `store` of its own, a limit counts in
   * that of `store`. Failed credentials are not among them: each process counts those by itself, whatever the `store`, because they
   * only decide the order of its work; `guard: { failedCredentials: { store: store.limits } }` counts them for all processes.
   */
  readonly limits?: readonly LimitOptions[]
  /** Default: the machine's clock. */
  readonly clock?: Clock
  /** More options of `createGuard` of `@gatewright/scope-guard`. */
  readonly guard?: Omit<
    GuardOptions,
    'issuer' | 'audience' | 'limits' | 'clock' | 'spend' | 'approvals' | 'sessionPolicies'
  >
  /** More options of `createIdempotency` of `@gatewright/idempotency-store`. */
  readonly idempotency?: Omit<IdempotencyOptions, 'storage' | 'clock'>
  /** More options of `gate` of `@gatewright/http`: proxies, the shape of errors, decision events. */
  readonly gate?: Omit<GateOptions<string, Access, SpendHold>, 'guard' | 'idempotency' | 'scopes'>
}

/** The options that every framework has. */
const OPTIONS: OptionTable<GatewrightOptions> = {
  issuer: { is: 'text' },
  audience: { is: 'text' },
  provider: { is: PRESET_NAMES, default: undefined },
  scopes: true,
  policy: true,
  policies: { is: 'function', default: undefined },
  approvals: true,
  store: true,
  limits: true,
  clock: true,
  guard: { is: 'object', default: {} },
  idempotency: { is: 'object', default: {} },
  gate: { is: 'object', default: {} },
}

/** The options of the parts that the composition sets, and where to write them instead. */
const SET_HERE: Readonly<Record<'guard' | 'idempotency' | 'gate', Readonly<Record<string, string>>>> = {
  guard: {
    issuer: 'issuer',
    audience: 'audience',
    limits: 'limits',
    clock: 'clock',
    spend: 'store',
    approvals: 'approvals',
    sessionPolicies: 'policies',
  },
  idempotency: { storage: 'store', clock: 'clock' },
  gate: { guard: 'guard', idempotency: 'idempotency', scopes: 'scopes' },
}

function assertParts(options: GatewrightOptions): void {
  for (const part of ['guard', 'idempotency', 'gate'] as const) {
    const name = Object.keys(options[part] ?? {}).find(each => Object.hasOwn(SET_HERE[part], each))
    if (name !== undefined)
      throw new TypeError(
        `gatewright: ${part}: write ${SET_HERE[part][name]} beside ${part}, not ${name} in it`,
      )
  }
}

const hasThreshold = ({ approveAboveCents, limits = [] }: Policy): boolean =>
  approveAboveCents !== undefined || limits.some(limit => limit.approveAboveCents !== undefined)

const hasAlert = ({ alertAtPercent, limits = [] }: Policy): boolean =>
  alertAtPercent !== undefined || limits.some(limit => limit.alertAtPercent !== undefined)

/**
 * Checks the options. `own` declares those of the framework. Throws a `TypeError` that says what to write.
 */
export function checkedOptions<O extends GatewrightOptions>(
  given: O,
  own: OptionTable<Omit<O, keyof GatewrightOptions>>,
): O {
  const options = checkOptions<object, object>('gatewright', given, { ...OPTIONS, ...own }) as O
  assertParts(options)
  const { store, policy, policies, limits, approvals } = options
  if (limits !== undefined && !Array.isArray(limits))
    throw new TypeError(
      `gatewright: limits must be a list of limits, such as [{ name: 'perKey', points: 600, windowSeconds: 60, per: 'key' }], got ${typeof limits}`,
    )
  if (typeof store?.idempotency?.begin !== 'function' || typeof store.migrate !== 'function')
    throw new TypeError(
      `gatewright: store must be memoryStore(), redisStore(client), postgresStore(pool) or sqliteStore(database), got ${store === null ? 'null' : typeof store}`,
    )
  if (approvals && !store.approvals)
    throw new TypeError(
      'gatewright: approvals needs a store with approvals, such as memoryStore() or postgresStore(pool)',
    )
  if (policy !== undefined && policy !== 'none' && hasThreshold(policy) && !approvals)
    throw new TypeError(
      'gatewright: the policy has approveAboveCents, so somebody must be able to approve: give approvals: { url: ({ id }) => `https://example.com/approvals/${id}` }, and decide with gw.guard.approvals',
    )
  if (policy !== undefined && policy !== 'none' && hasAlert(policy) && !options.guard?.onAlert)
    throw new TypeError(
      'gatewright: the policy has alertAtPercent, so somebody must receive the alerts: give guard: { onAlert: ({ rule, used, limit }) => ... }',
    )
  if (policy !== undefined && policies !== undefined)
    throw new TypeError(
      'gatewright: give policy (one for every account) or policies (those of a session), not both',
    )
  return options
}
