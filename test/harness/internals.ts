// Parts of the reference host that its package does not export, for the tests of those parts.
type Host = typeof import('../../packages/reference-host/dist/records/jobs.js') &
  typeof import('../../packages/reference-host/dist/records/sealed.js') &
  typeof import('../../packages/reference-host/dist/records/events.js') &
  typeof import('../../packages/reference-host/dist/records/columns.js') &
  typeof import('../../packages/reference-host/dist/records/table.js') &
  typeof import('../../packages/reference-host/dist/storage/migrate.js') &
  typeof import('../../packages/reference-host/dist/product/scopes.js') &
  typeof import('../../packages/reference-host/dist/http/app.js') &
  typeof import('../../packages/reference-host/dist/http/operation.js') &
  typeof import('../../packages/reference-host/dist/http/limits.js') &
  typeof import('../../packages/reference-host/dist/http/query.js') &
  typeof import('../../packages/reference-host/dist/http/provider-messages.js') &
  typeof import('../../packages/reference-host/dist/http/paging.js') &
  typeof import('../../packages/reference-host/dist/modules/web-sign-in/redirects.js') &
  typeof import('../../packages/reference-host/dist/modules/web-sign-in/console.js') &
  typeof import('../../packages/reference-host/dist/modules/web-sign-in/cli.js') &
  typeof import('../../packages/reference-host/dist/modules/web-sign-in/sign-in.js') &
  typeof import('../../packages/reference-host/dist/http/list.js') &
  typeof import('../../packages/reference-host/dist/http/open-responses.js') &
  typeof import('../../packages/reference-host/dist/http/request-target.js') &
  typeof import('../../packages/reference-host/dist/http/request-time.js') &
  typeof import('../../packages/reference-host/dist/http/unknown-names.js') &
  typeof import('../../packages/reference-host/dist/http/key-session.js') &
  typeof import('../../packages/reference-host/dist/providers/calls.js') &
  typeof import('../../packages/reference-host/dist/providers/cards/card-numbers.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/card-above-caller.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/caller-policies.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/change.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/operations.js') &
  typeof import('../../packages/reference-host/dist/modules/folders/store.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/cancel.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/sandbox-cards.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/operations.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/events.js') &
  typeof import('../../packages/reference-host/dist/ledger/check.js') &
  typeof import('../../packages/reference-host/dist/config/rate-limits.js') &
  typeof import('../../packages/reference-host/dist/ledger/money.js') &
  typeof import('../../packages/reference-host/dist/ledger/transactions.js') &
  typeof import('../../packages/reference-host/dist/providers/decimal.js') &
  typeof import('../../packages/reference-host/dist/providers/deposits/port.js') &
  typeof import('../../packages/reference-host/dist/providers/withdrawals/port.js') &
  typeof import('../../packages/reference-host/dist/providers/ports.js') &
  typeof import('../../packages/reference-host/dist/modules/deposits/deposit.js') &
  typeof import('../../packages/reference-host/dist/modules/deposits/records.js') &
  typeof import('../../packages/reference-host/dist/modules/deposits/job.js') &
  typeof import('../../packages/reference-host/dist/modules/withdrawals/records.js') &
  typeof import('../../packages/reference-host/dist/modules/withdrawals/job.js') &
  typeof import('../../packages/reference-host/dist/modules/withdrawals/withdrawal.js') &
  typeof import('../../packages/reference-host/dist/modules/withdrawals/create.js') &
  typeof import('../../packages/reference-host/dist/modules/withdrawals/destination.js') &
  typeof import('../../packages/reference-host/dist/modules/withdrawals/terms.js') &
  typeof import('../../packages/reference-host/dist/modules/withdrawals/operations.js') &
  typeof import('../../packages/reference-host/dist/modules/deposits/create.js') &
  typeof import('../../packages/reference-host/dist/modules/deposits/operations.js') &
  typeof import('../../packages/reference-host/dist/modules/deposits/transfer.js') &
  typeof import('../../packages/reference-host/dist/modules/deposits/wire.js') &
  typeof import('../../packages/reference-host/dist/modules/deposits/play-money.js') &
  typeof import('../../packages/reference-host/dist/modules/payments/operations.js') &
  typeof import('../../packages/reference-host/dist/modules/bills/operations.js') &
  typeof import('../../packages/reference-host/dist/modules/contracts/operations.js') &
  typeof import('../../packages/reference-host/dist/modules/contracts/store.js') &
  typeof import('../../packages/reference-host/dist/modules/users/store.js') &
  typeof import('../../packages/reference-host/dist/schemas/check.js') &
  typeof import('../../packages/reference-host/dist/schemas/names.js') &
  typeof import('../../packages/reference-host/dist/modules/onboarding/requirements.js') &
  typeof import('../../packages/reference-host/dist/modules/agreements/acceptance.js') &
  typeof import('../../packages/reference-host/dist/modules/kyc/records.js') &
  typeof import('../../packages/reference-host/dist/modules/kyc/states.js') &
  typeof import('../../packages/reference-host/dist/modules/kyc/job.js') &
  typeof import('../../packages/reference-host/dist/modules/notifications/texts.js') &
  typeof import('../../packages/reference-host/dist/ledger/user-money.js') &
  typeof import('../../packages/reference-host/dist/modules/tokens/list.js') &
  typeof import('../../packages/reference-host/dist/modules/system/provider-events.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/store.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/key-policies.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/limits.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/service.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/network-request.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/decide.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/increment-store.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/store.js') &
  typeof import('../../packages/reference-host/dist/modules/subscriptions/payins/payin-store.js') &
  typeof import('../../packages/reference-host/dist/modules/subscriptions/subscription-store.js') &
  typeof import('../../packages/reference-host/dist/modules/subscriptions/payins/collect.js') &
  typeof import('../../packages/reference-host/dist/modules/subscriptions/payins/expiry.js') &
  typeof import('../../packages/reference-host/dist/modules/subscriptions/payins/settlement.js') &
  typeof import('../../packages/reference-host/dist/composition/job-rounds.js') &
  typeof import('../../packages/reference-host/dist/modules/users/erase.js') &
  typeof import('../../packages/reference-host/dist/observability/history.js') &
  typeof import('../../packages/reference-host/dist/observability/quantile.js') &
  typeof import('../../packages/reference-host/dist/observability/feed-age.js') &
  typeof import('../../packages/reference-host/dist/operator/ledger-check.js') &
  typeof import('../../packages/reference-host/dist/pages/prefers-json.js') &
  typeof import('../../packages/reference-host/dist/schemas/unknown-members.js')

const FILES = [
  'observability/history',
  'observability/quantile',
  'observability/feed-age',
  'operator/ledger-check',
  'pages/prefers-json',
  'records/jobs',
  'records/sealed',
  'records/events',
  'records/columns',
  'records/table',
  'storage/migrate',
  'product/scopes',
  'http/app',
  'http/operation',
  'http/limits',
  'http/query',
  'http/provider-messages',
  'http/paging',
  'modules/web-sign-in/redirects',
  'modules/web-sign-in/console',
  'modules/web-sign-in/cli',
  'modules/web-sign-in/sign-in',
  'http/list',
  'http/open-responses',
  'http/request-target',
  'http/request-time',
  'http/unknown-names',
  'http/key-session',
  'providers/calls',
  'providers/cards/card-numbers',
  'modules/cards/card-above-caller',
  'modules/cards/caller-policies',
  'modules/cards/change',
  'modules/cards/operations',
  'modules/folders/store',
  'modules/cards/cancel',
  'modules/cards/sandbox-cards',
  'modules/cards/authorizations/operations',
  'modules/cards/authorizations/events',
  'ledger/check',
  'ledger/money',
  'ledger/transactions',
  'providers/decimal',
  'providers/deposits/port',
  'providers/withdrawals/port',
  'providers/ports',
  'modules/deposits/deposit',
  'modules/deposits/records',
  'modules/deposits/job',
  'modules/withdrawals/records',
  'modules/withdrawals/job',
  'modules/withdrawals/withdrawal',
  'modules/withdrawals/create',
  'modules/withdrawals/destination',
  'modules/withdrawals/terms',
  'modules/withdrawals/operations',
  'modules/deposits/create',
  'modules/deposits/operations',
  'modules/deposits/transfer',
  'modules/deposits/wire',
  'modules/deposits/play-money',
  'modules/payments/operations',
  'modules/bills/operations',
  'modules/contracts/operations',
  'modules/contracts/store',
  'modules/users/store',
  'schemas/check',
  'schemas/names',
  'modules/onboarding/requirements',
  'modules/agreements/acceptance',
  'modules/kyc/records',
  'modules/kyc/states',
  'modules/kyc/job',
  'modules/notifications/texts',
  'ledger/user-money',
  'modules/tokens/list',
  'modules/system/provider-events',
  'modules/cards/store',
  'modules/cards/key-policies',
  'modules/cards/authorizations/limits',
  'modules/cards/authorizations/service',
  'modules/cards/authorizations/network-request',
  'modules/cards/authorizations/decide',
  'modules/cards/authorizations/increment-store',
  'modules/cards/authorizations/store',
  'modules/subscriptions/payins/payin-store',
  'modules/subscriptions/subscription-store',
  'modules/subscriptions/payins/collect',
  'modules/subscriptions/payins/expiry',
  'modules/subscriptions/payins/settlement',
  'composition/job-rounds',
  'config/rate-limits',
  'modules/users/erase',
  'schemas/unknown-members',
]
const load = (file: string): Promise<object> =>
  import(`${process.cwd()}/packages/reference-host/dist/${file}.js`) as Promise<object>

/** What those files export. */
export const internals: Host = Object.assign({}, ...(await Promise.all(FILES.map(load)))) as Host
