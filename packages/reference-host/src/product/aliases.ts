import type { AliasTable, Deprecation } from '@gatewright/legacy-alias-router'
import type { ScopeRename } from '@gatewright/legacy-alias-router/internal'

/** When the legacy names were deprecated. They stay supported, so there is no sunset date. */
const DEPRECATED: Deprecation = { deprecatedSince: Date.UTC(2026, 0, 1) }

const retired = (surface: string, ...names: string[]): ScopeRename[] =>
  names.map(from => ({ surface, from, to: null, mode: DEPRECATED }))

const NAMES_A_USER = ['users.resolve', 'sessions.createForPartner']

/** Every legacy name that the host serves (docs/legacy.md). */
export const aliasTable: AliasTable = {
  prefixes: [
    { from: '/consumer/v1', to: '/user/v1', mode: DEPRECATED },
    { from: '/identity/consumer-api-keys', to: '/identity/user-api-keys', mode: DEPRECATED },
  ],
  headers: [{ from: 'x-consumer-key', to: 'x-user-key', mode: DEPRECATED }],
  requestFields: NAMES_A_USER.flatMap(operation => [
    { operation, from: 'externalUserId', to: 'userId', mode: DEPRECATED },
    { operation, from: 'wallet.address', to: 'walletAddress', ignoreCase: true, mode: DEPRECATED },
  ]),
  responseFields: [
    { from: 'consumerApiKey', to: 'userApiKey', mode: DEPRECATED },
    { from: 'consumerKeyId', to: 'userKeyId', mode: DEPRECATED },
  ],
  scopes: [
    ...retired('user', 'deposits-swapped.read', 'deposits-swapped.write'),
    // Balances need no scope on the partner surface, so `balances.read`, which existing clients request, has no effect.
    ...retired('partner', 'deposits-swapped.read', 'deposits-swapped.write', 'balances.read'),
  ],
  schemes: [
    { from: 'ConsumerKey', to: 'UserKey', mode: DEPRECATED },
    { from: 'ConsumerSessionBearer', to: 'UserSessionBearer', mode: DEPRECATED },
  ],
}
