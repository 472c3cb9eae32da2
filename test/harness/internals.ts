// Parts of the host and of the reference host that their packages do not export, for the tests of those parts.
type Host = typeof import('../../packages/reference-host/dist/modules/webhooks/publish-events.js') &
  typeof import('../../packages/reference-host/dist/chain/addresses.js') &
  typeof import('../../packages/reference-host/dist/chain/log-reader.js') &
  typeof import('../../packages/reference-host/dist/chain/unspendable.js') &
  typeof import('../../packages/reference-host/dist/modules/subscriptions/onchain/search-progress.js') &
  typeof import('../../packages/reference-host/dist/modules/webhooks/delivery-rounds.js') &
  typeof import('../../packages/reference-host/dist/modules/webhooks/deliver.js') &
  typeof import('../../packages/reference-host/dist/modules/webhooks/endpoint-url.js') &
  typeof import('../../packages/reference-host/dist/modules/webhooks/endpoints.js') &
  typeof import('../../packages/reference-host/dist/modules/webhooks/publish.js') &
  typeof import('../../packages/reference-host/dist/modules/webhooks/published-events.js') &
  typeof import('../../packages/reference-host/dist/modules/webhooks/retries.js') &
  typeof import('../../packages/reference-host/dist/modules/webhooks/send.js') &
  typeof import('../../packages/reference-host/dist/chain/rpc-clients.js') &
  typeof import('../../packages/reference-host/dist/cli/account/host-client.js') &
  typeof import('../../packages/host/dist/records/jobs.js') &
  typeof import('../../packages/host/dist/records/sealed.js') &
  typeof import('../../packages/host/dist/records/events.js') &
  typeof import('../../packages/host/dist/records/request-log.js') &
  typeof import('../../packages/host/dist/records/requests.js') &
  typeof import('../../packages/host/dist/records/columns.js') &
  typeof import('../../packages/host/dist/records/table.js') &
  typeof import('../../packages/reference-host/dist/product/migrate.js') &
  typeof import('../../packages/reference-host/dist/product/scopes.js') &
  typeof import('../../packages/host/dist/http/app.js') &
  typeof import('../../packages/host/dist/http/operations/operation.js') &
  typeof import('../../packages/host/dist/http/credentials/limits.js') &
  typeof import('../../packages/host/dist/http/provider-events/apply-event.js') &
  typeof import('../../packages/host/dist/http/credentials/provider-messages.js') &
  typeof import('../../packages/host/dist/http/request/query.js') &
  typeof import('../../packages/host/dist/http/mount/open-responses.js') &
  typeof import('../../packages/host/dist/http/request/request-target.js') &
  typeof import('../../packages/host/dist/http/request/request-time.js') &
  typeof import('../../packages/host/dist/http/request/unknown-names.js') &
  typeof import('../../packages/host/dist/http/credentials/key-session.js') &
  typeof import('../../packages/host/dist/http/operations/paging.js') &
  typeof import('../../packages/reference-host/dist/modules/web-sign-in/redirects.js') &
  typeof import('../../packages/reference-host/dist/modules/web-sign-in/console.js') &
  typeof import('../../packages/reference-host/dist/modules/web-sign-in/cli.js') &
  typeof import('../../packages/reference-host/dist/modules/web-sign-in/sign-in.js') &
  typeof import('../../packages/host/dist/http/operations/list.js') &
  typeof import('../../packages/reference-host/dist/providers/calls.js') &
  typeof import('../../packages/reference-host/dist/providers/cards/card-numbers.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/card-above-caller.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/caller-policies.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/change.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/operations.js') &
  typeof import('../../packages/reference-host/dist/modules/folders/store.js') &
  typeof import('../../packages/reference-host/dist/modules/csv-export.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/cancel.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/sandbox-cards.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/operations.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/events.js') &
  typeof import('../../packages/host/dist/ledger/check.js') &
  typeof import('../../packages/host/dist/config/rate-limits.js') &
  typeof import('../../packages/host/dist/ledger/money.js') &
  typeof import('../../packages/host/dist/ledger/differences.js') &
  typeof import('../../packages/reference-host/dist/product/held-money.js') &
  typeof import('../../packages/host/dist/ledger/transactions.js') &
  typeof import('../../packages/reference-host/dist/providers/decimal.js') &
  typeof import('../../packages/reference-host/dist/providers/deposits/port.js') &
  typeof import('../../packages/reference-host/dist/providers/withdrawals/port.js') &
  typeof import('../../packages/reference-host/dist/providers/ports.js') &
  typeof import('../../packages/reference-host/dist/modules/deposits/deposit.js') &
  typeof import('../../packages/reference-host/dist/modules/deposits/records.js') &
  typeof import('../../packages/reference-host/dist/modules/deposits/job.js') &
  typeof import('../../packages/reference-host/dist/modules/deposits/report-event.js') &
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
  typeof import('../../packages/reference-host/dist/modules/users/freeze.js') &
  typeof import('../../packages/reference-host/dist/modules/users/lock-account.js') &
  typeof import('../../packages/host/dist/schemas/check.js') &
  typeof import('../../packages/host/dist/schemas/names.js') &
  typeof import('../../packages/reference-host/dist/modules/onboarding/requirements.js') &
  typeof import('../../packages/reference-host/dist/modules/agreement-acceptances.js') &
  typeof import('../../packages/reference-host/dist/modules/kyc/records.js') &
  typeof import('../../packages/reference-host/dist/modules/kyc/states.js') &
  typeof import('../../packages/reference-host/dist/modules/kyc/job.js') &
  typeof import('../../packages/reference-host/dist/modules/notifications/texts.js') &
  typeof import('../../packages/reference-host/dist/modules/balances/user-money.js') &
  typeof import('../../packages/reference-host/dist/modules/tokens/list.js') &
  typeof import('../../packages/host/dist/http/provider-events/provider-events.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/store.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/key-policies.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/limits.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/service.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/network-request.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/decide.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/increment-store.js') &
  typeof import('../../packages/reference-host/dist/modules/cards/authorizations/store.js') &
  typeof import('../../packages/reference-host/dist/modules/subscriptions/payins/payin-store.js') &
  typeof import('../../packages/host/dist/composition/job-rounds.js') &
  typeof import('../../packages/reference-host/dist/modules/subscriptions/subscription-store.js') &
  typeof import('../../packages/reference-host/dist/modules/subscriptions/payins/collect.js') &
  typeof import('../../packages/reference-host/dist/modules/subscriptions/payins/expiry.js') &
  typeof import('../../packages/reference-host/dist/modules/subscriptions/payins/settlement.js') &
  typeof import('../../packages/reference-host/dist/modules/users/erase.js') &
  typeof import('../../packages/host/dist/observability/history.js') &
  typeof import('../../packages/host/dist/observability/quantile.js') &
  typeof import('../../packages/host/dist/observability/feed-age.js') &
  typeof import('../../packages/reference-host/dist/operator/ledger-check.js') &
  typeof import('../../packages/host/dist/observability/over-time.js') &
  typeof import('../../packages/reference-host/dist/pages/prefers-json.js') &
  typeof import('../../packages/host/dist/schemas/unknown-members.js')

const FILES = [
  'reference-host/dist/chain/addresses',
  'reference-host/dist/chain/log-reader',
  'reference-host/dist/chain/unspendable',
  'reference-host/dist/modules/subscriptions/onchain/search-progress',
  'reference-host/dist/modules/webhooks/publish-events',
  'reference-host/dist/modules/webhooks/delivery-rounds',
  'reference-host/dist/modules/webhooks/deliver',
  'reference-host/dist/modules/webhooks/endpoint-url',
  'reference-host/dist/modules/webhooks/endpoints',
  'reference-host/dist/modules/webhooks/publish',
  'reference-host/dist/modules/webhooks/published-events',
  'reference-host/dist/modules/webhooks/retries',
  'reference-host/dist/modules/webhooks/send',
  'reference-host/dist/chain/rpc-clients',
  'reference-host/dist/cli/account/host-client',
  'host/dist/observability/history',
  'host/dist/observability/quantile',
  'host/dist/observability/feed-age',
  'reference-host/dist/operator/ledger-check',
  'host/dist/observability/over-time',
  'reference-host/dist/pages/prefers-json',
  'host/dist/records/jobs',
  'host/dist/records/sealed',
  'host/dist/records/events',
  'host/dist/records/request-log',
  'host/dist/records/requests',
  'host/dist/records/columns',
  'host/dist/records/table',
  'reference-host/dist/product/migrate',
  'reference-host/dist/product/scopes',
  'host/dist/http/app',
  'host/dist/http/operations/operation',
  'host/dist/http/credentials/limits',
  'host/dist/http/provider-events/apply-event',
  'host/dist/http/credentials/provider-messages',
  'reference-host/dist/providers/calls',
  'reference-host/dist/providers/cards/card-numbers',
  'reference-host/dist/modules/cards/card-above-caller',
  'reference-host/dist/modules/cards/caller-policies',
  'reference-host/dist/modules/cards/change',
  'reference-host/dist/modules/cards/operations',
  'reference-host/dist/modules/folders/store',
  'reference-host/dist/modules/csv-export',
  'reference-host/dist/modules/cards/cancel',
  'reference-host/dist/modules/cards/sandbox-cards',
  'reference-host/dist/modules/cards/authorizations/operations',
  'reference-host/dist/modules/cards/authorizations/events',
  'host/dist/ledger/check',
  'host/dist/ledger/money',
  'host/dist/ledger/differences',
  'reference-host/dist/product/held-money',
  'host/dist/ledger/transactions',
  'reference-host/dist/providers/decimal',
  'reference-host/dist/providers/deposits/port',
  'reference-host/dist/providers/withdrawals/port',
  'reference-host/dist/providers/ports',
  'reference-host/dist/modules/deposits/deposit',
  'reference-host/dist/modules/deposits/records',
  'reference-host/dist/modules/deposits/job',
  'reference-host/dist/modules/deposits/report-event',
  'reference-host/dist/modules/withdrawals/records',
  'reference-host/dist/modules/withdrawals/job',
  'reference-host/dist/modules/withdrawals/withdrawal',
  'reference-host/dist/modules/withdrawals/create',
  'reference-host/dist/modules/withdrawals/destination',
  'reference-host/dist/modules/withdrawals/terms',
  'reference-host/dist/modules/withdrawals/operations',
  'reference-host/dist/modules/deposits/create',
  'reference-host/dist/modules/deposits/operations',
  'reference-host/dist/modules/deposits/transfer',
  'reference-host/dist/modules/deposits/wire',
  'reference-host/dist/modules/deposits/play-money',
  'reference-host/dist/modules/payments/operations',
  'reference-host/dist/modules/bills/operations',
  'reference-host/dist/modules/contracts/operations',
  'reference-host/dist/modules/contracts/store',
  'reference-host/dist/modules/users/store',
  'reference-host/dist/modules/users/freeze',
  'reference-host/dist/modules/users/lock-account',
  'host/dist/schemas/check',
  'host/dist/schemas/names',
  'reference-host/dist/modules/onboarding/requirements',
  'reference-host/dist/modules/agreement-acceptances',
  'reference-host/dist/modules/kyc/records',
  'reference-host/dist/modules/kyc/states',
  'reference-host/dist/modules/kyc/job',
  'reference-host/dist/modules/notifications/texts',
  'reference-host/dist/modules/balances/user-money',
  'reference-host/dist/modules/tokens/list',
  'host/dist/http/provider-events/provider-events',
  'reference-host/dist/modules/cards/store',
  'reference-host/dist/modules/cards/key-policies',
  'reference-host/dist/modules/cards/authorizations/limits',
  'reference-host/dist/modules/cards/authorizations/service',
  'reference-host/dist/modules/cards/authorizations/network-request',
  'reference-host/dist/modules/cards/authorizations/decide',
  'reference-host/dist/modules/cards/authorizations/increment-store',
  'reference-host/dist/modules/cards/authorizations/store',
  'reference-host/dist/modules/subscriptions/payins/payin-store',
  'host/dist/composition/job-rounds',
  'host/dist/config/rate-limits',
  'reference-host/dist/modules/users/erase',
  'host/dist/schemas/unknown-members',
  'host/dist/http/request/query',
  'host/dist/http/mount/open-responses',
  'host/dist/http/request/request-target',
  'host/dist/http/request/request-time',
  'host/dist/http/request/unknown-names',
  'host/dist/http/credentials/key-session',
  'reference-host/dist/modules/subscriptions/subscription-store',
  'reference-host/dist/modules/subscriptions/payins/collect',
  'reference-host/dist/modules/subscriptions/payins/expiry',
  'reference-host/dist/modules/subscriptions/payins/settlement',
  'host/dist/http/operations/paging',
  'reference-host/dist/modules/web-sign-in/redirects',
  'reference-host/dist/modules/web-sign-in/console',
  'reference-host/dist/modules/web-sign-in/cli',
  'reference-host/dist/modules/web-sign-in/sign-in',
  'host/dist/http/operations/list',
]
const load = (file: string): Promise<object> =>
  import(`${process.cwd()}/packages/${file}.js`) as Promise<object>

/** What those files export. */
export const internals: Host = Object.assign({}, ...(await Promise.all(FILES.map(load)))) as Host
