import * as Type from 'typebox/type'
import { type HostServices, type Operation, listOperation, readOperation } from '@gatewright/host'
import { component } from '@gatewright/host/schemas'
import { deny } from '../../../product/denials.ts'
import { csvExport } from '../../csv-export.ts'
import { keyFilter } from '../../transactions/filters.ts'
import { payinColumns } from './columns.ts'
import * as examples from './examples.ts'
import {
  PayinDetailSchema,
  PayinSchema,
  PlanSchema,
  SubscriptionSchema,
  payinData,
  payinDetailData,
  planData,
  subscriptionData,
} from './fields.ts'
import { searchFilter, searchOf, textsOf, type Searched } from '../../search.ts'
import type { ListedPayin } from '../payins/payin.ts'
import { payins } from '../payins/payin-store.ts'
import { PAYIN_STATUSES } from '../payins/states.ts'
import { subscriptions } from '../subscription-store.ts'
import type { Plan } from '../../../product/plans.ts'

/** What the reads of plans and pay-ins work with. */
interface SubscriptionServices extends Pick<HostServices, 'db' | 'clock' | 'report'> {
  readonly plans: readonly Plan[]
}

const statuses = PAYIN_STATUSES.join(', ')
const ID = '^payin_[A-Za-z0-9_-]{1,110}$'
const payinFilters = {
  id: Type.Optional(
    Type.String({
      pattern: ID,
      description: 'Only the pay-in with this id',
      expected: 'must be the id of a pay-in',
    }),
  ),
  keyId: keyFilter,
  q: searchFilter,
  status: Type.Optional(
    Type.Array(Type.Enum([...PAYIN_STATUSES]), {
      description: `Only these statuses, with commas between them: ${statuses}`,
      expected: `must be a comma list of ${statuses}`,
    }),
  ),
}

const PayinFilters = Type.Object(payinFilters)

function filterOf({
  keyId,
  q,
  status,
  ...given
}: Type.Static<typeof PayinFilters>): Parameters<typeof payins.page>[3] {
  // An id is found by its index, however old it is.
  const id = given.id ?? (q !== undefined && new RegExp(ID).test(q.trim()) ? q.trim() : undefined)
  const found = q === undefined ? undefined : searchOf(q)
  return {
    id,
    keyId,
    matches: found && (payin => found(searchedOf(payin))),
    statuses: status && PAYIN_STATUSES.filter(each => status.includes(each)),
  }
}

const searchedOf = (payin: ListedPayin): Searched => ({
  ids: [payin.id, payin.subscriptionId, payin.seen?.txHash ?? payin.submittedTx],
  amountCents: payin.amountCents,
  texts: [
    payin.description,
    payin.planId,
    payin.payTo?.address,
    payin.payTo?.asset,
    ...textsOf(payin.properties),
  ],
})

/** Read operations on subscriptions, plans and pay-ins. */
export function subscriptionReads(services: SubscriptionServices): readonly Operation[] {
  const { clock, db, plans } = services
  const numbered = plans.map((plan, index) => ({ plan, position: index + 1 }))
  return [
    listOperation({
      id: 'subscriptions.list',
      title: 'List the subscriptions, newest first',
      path: '/user/v1/subscriptions',
      scopes: ['subscriptions.read'],
      byCreation: true,
      name: 'subscriptions',
      component: component('SubscriptionList', 'A page of subscriptions'),
      item: SubscriptionSchema,
      example: { ...examples.subscription, status: 'active', paidThrough: '2026-12-01T12:00:00.000Z' },
      rows: (accountId, page) => subscriptions.page(db, accountId, page),
      write: rows => rows.map(subscription => subscriptionData(subscription, clock.now())),
    }),
    listOperation({
      id: 'subscriptions.plans',
      title: 'List the plans',
      path: '/user/v1/subscriptions/plans',
      scopes: ['subscriptions.read'],
      name: 'plans',
      component: component('PlanList', 'A page of plans'),
      item: PlanSchema,
      example: { id: 'basic', title: 'Basic', amountCents: 500, currency: 'USD', interval: 'month' },
      rows: async (_accountId, { after, limit }) => numbered.slice(after, after + limit),
      write: rows => rows.map(({ plan }) => planData(plan)),
    }),
    listOperation({
      newestFirst: true,
      id: 'subscriptions.payins',
      title: 'List the pay-ins, newest first',
      path: '/user/v1/subscriptions/payins',
      scopes: ['subscriptions.read'],
      name: 'payins',
      component: component('PayinList', 'A page of payins'),
      item: PayinSchema,
      example: examples.onchainPayin,
      filters: payinFilters,
      rows: (accountId, page, { query }) => payins.page(db, accountId, page, filterOf(query)),
      write: rows => rows.map(payinData),
    }),
    readPayin(services),
    csvExport(services, {
      id: 'subscriptions.exportPayins',
      title: 'Export pay-ins as CSV',
      path: '/user/v1/subscriptions/payins.csv',
      scopes: ['subscriptions.read'],
      filters: payinFilters,
      columns: payinColumns,
      page: (accountId, page, query) => payins.page(db, accountId, page, filterOf(query)),
    }),
  ]
}

const PayinDetailResponse = Type.Object(
  { payin: PayinDetailSchema },
  component('PayinDetailResponse', 'A pay-in with its history'),
)

/** `GET /user/v1/subscriptions/payins/{id}`: reads one pay-in with its history. */
function readPayin({ db }: Pick<HostServices, 'db'>): Operation {
  return readOperation({
    id: 'subscriptions.readPayin',
    title: 'Read a pay-in and its history',
    paths: ['/user/v1/subscriptions/payins/{id}'],
    scopes: ['subscriptions.read'],
    response: PayinDetailResponse,
    example: { payin: examples.payinDetail },
    notFound: deny('not_found', 'no such pay-in'),
    async read({ accountId }, id) {
      const payin = await payins.find(db, accountId, id)
      const properties = await payins.properties(db, accountId, id)
      if (!payin || !properties) return undefined
      const history = await payins.history(db, accountId, payin.id)
      return {
        data: { payin: payinDetailData(payin, properties, history) },
        summary: `The pay-in is ${payin.status}.`,
      }
    },
  })
}
