import type { Surface } from '@gatewright/kernel/internal'
import { readHostConfig, type HostConfig, parseVariables } from '@gatewright/host/config'
import type { ConfigResult, Env } from '@gatewright/host'
import type { PayinReceiver } from '../chain/receivers.ts'
import type { ChainUrl } from '../chain/rpc-clients.ts'
import { SANDBOX_PLANS, type Plan } from '../product/plans.ts'
import { EMPTY_PRODUCT, SANDBOX_PRODUCT, type Product } from '../product/product.ts'
import { unencryptedNodes } from './unencrypted-nodes.ts'
import { UNSUPPORTED, variables, type Values } from './variables.ts'

/**
 * The whole configuration of a host of this product, read from the environment once. `variables.ts` documents each variable that other
 * hosts do not have.
 */
export interface Config extends HostConfig {
  /** The surfaces on which accounts must meet the onboarding requirements. */
  readonly onboardingSurfaces: readonly Surface[]
  readonly product: Product
  readonly rpcUrls: readonly ChainUrl[]
  /** The plans that users can subscribe to. */
  readonly plans: readonly Plan[]
  readonly payinReceivers: readonly PayinReceiver[]
  readonly chainPollSeconds: number
  /** How many days an unpaid pay-in is kept after its deadline. */
  readonly unpaidPayinDays: number
  /** How many days a declined card authorization is kept. */
  readonly declinedAuthorizationDays: number
  /** Whether `/helper` is served. */
  readonly helperPage: boolean
  /** Whether `/docs` is served. */
  readonly docsPage: boolean
}

/** Reads the configuration from environment variables. An empty variable counts as unset. */
export function readConfig(env: Env): ConfigResult<Config> {
  const host = readHostConfig(env)
  const { values, problems: unparsed } = parseVariables(variables, env)
  const problems = [...(host.ok ? [] : host.problems), ...unparsed, ...conflicts(env, values)]
  return host.ok && problems.length === 0
    ? { ok: true, value: { ...host.value, ...toConfig(values as Values, host.value) } }
    : { ok: false, problems }
}

function toConfig(values: Values, { environment }: HostConfig): Omit<Config, keyof HostConfig> {
  const live = environment === 'live'
  return {
    onboardingSurfaces:
      (values.ONBOARDING_GATES ?? (live ? 'on' : 'partner')) === 'on' ? ['user', 'partner'] : ['partner'],
    product: values.PRODUCT_FILE ?? (live ? EMPTY_PRODUCT : SANDBOX_PRODUCT),
    rpcUrls: values.RPC_URLS,
    plans: values.PLANS_FILE ?? (live ? [] : SANDBOX_PLANS),
    payinReceivers: values.PAYIN_RECEIVERS,
    chainPollSeconds: values.CHAIN_POLL_SECONDS,
    unpaidPayinDays: values.UNPAID_PAYIN_DAYS,
    declinedAuthorizationDays: values.DECLINED_AUTHORIZATION_DAYS,
    helperPage: values.HELPER_PAGE,
    docsPage: values.DOCS_PAGE,
  }
}

/** Problems between variables, and settings that a sandbox allows and a live host refuses. */
function conflicts(env: Env, values: Partial<Values>): string[] {
  const problems = UNSUPPORTED.filter(name => env[name]).map(
    name => `${name} has no effect in this version: unset it`,
  )
  problems.push(...unreachableChains(values))
  if (env['GATEWRIGHT_ENV'] !== 'live') return problems
  if (env['ONBOARDING_GATES'] === 'partner')
    problems.push('ONBOARDING_GATES must be on: live requires an identity check before money moves')
  return [...problems, ...unencryptedNodes(values)]
}

/** Lists chains that have a pay-in receiver and no node; none if one of the two variables could not be parsed. */
function unreachableChains({ RPC_URLS: urls, PAYIN_RECEIVERS: receivers }: Partial<Values>): string[] {
  const chains = new Set(urls && receivers?.map(({ chainId }) => chainId))
  for (const { chainId } of urls ?? []) chains.delete(chainId)
  return [...chains].map(
    chainId =>
      `PAYIN_RECEIVERS names chain ${chainId}, which RPC_URLS does not: add ${chainId}=https://... to RPC_URLS`,
  )
}
