import type { AliasTable } from '@gatewright/legacy-alias-router'

/** When the legacy names were deprecated. They stay supported, so there is no sunset (contract section 1). */
const DEPRECATED = { deprecatedSince: Date.UTC(2026, 0, 1) }

const RETIRED = ['deposits-swapped.read', 'deposits-swapped.write']

/** Every old name the host still serves (contract section 1). */
export const aliasTable: AliasTable = {
  paths: [
    { from: '/consumer/v1', to: '/user/v1', mode: DEPRECATED },
    { from: '/identity/consumer-api-keys', to: '/identity/user-api-keys', mode: DEPRECATED },
  ],
  headers: [{ from: 'x-consumer-key', to: 'x-user-key', mode: 'serve' }],
  answerTwins: { userApiKey: 'consumerApiKey', userKeyId: 'consumerKeyId' },
  // Balances need no scope on the partner surface, so existing proxies may ask for it in vain.
  retiredScopes: { user: RETIRED, partner: [...RETIRED, 'balances.read'] },
}
