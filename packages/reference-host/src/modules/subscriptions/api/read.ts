import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import type { TObject } from 'typebox/type'
import { deny } from '../../../http/codes.ts'
import { operation, type Example, type Operation } from '../../../http/operation.ts'
import { component, nextCursor } from '../../../schemas/fields.ts'
import { CURSOR } from '../../examples.ts'
import { cutPage, pagingQuery, readPaging } from '../../paging.ts'
import type { ModuleServices } from '../../services.ts'
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

interface ListRule<T extends { readonly position: number }> {
  readonly id: string
  readonly title: string
  readonly path: string
  /** Name of the list in the answer. */
  readonly name: string
  /** Name of the answer's schema in the API description. */
  readonly listName: string
  readonly item: TObject
  readonly example: Example
  page(accountId: string, position: number, limit: number): Promise<readonly T[]>
  wire(item: T): Record<string, unknown>
}

/** Declares a paged list of the caller's records. */
function listOperation<T extends { readonly position: number }>({
  id,
  title,
  path,
  name,
  listName,
  item,
  example,
  page,
  wire,
}: ListRule<T>): Operation {
  return operation({
    ...{ id, title, surface: 'user', method: 'GET', paths: [path], credential: 'session' },
    scopes: ['subscriptions.read'],
    query: pagingQuery,
    answer: Type.Object({ [name]: Type.Array(item), nextCursor }, component(listName, `A page of ${name}`)),
    example,
    async handle({ caller, facts }) {
      const paging = readPaging(facts.query)
      if (!paging.ok) return paging
      const { after, limit } = paging.value
      // One more than the limit, to know whether there is a next page.
      const found = await page(caller.session.accountId, after, limit + 1)
      const { items, nextCursor } = cutPage(found, limit)
      return allow({
        data: { [name]: items.map(wire), nextCursor },
        summary: `${items.length} ${name}.`,
      })
    },
  })
}

/** Read operations on subscriptions, plans and pay-ins. */
export function subscriptionReads(services: ModuleServices): readonly Operation[] {
  const { clock, db, payins, plans, subscriptions } = services
  const numbered = plans.map((plan, index) => ({ plan, position: index + 1 }))
  return [
    listOperation({
      id: 'subscriptions.list',
      title: 'List the subscriptions, newest first',
      path: '/user/v1/subscriptions',
      ...{ name: 'subscriptions', listName: 'SubscriptionList' },
      item: SubscriptionSchema,
      example: {
        answer: {
          subscriptions: [
            { ...examples.subscription, status: 'active', paidThrough: '2026-12-01T12:00:00.000Z' },
          ],
          nextCursor: null,
        },
      },
      page: (accountId, position, limit) => subscriptions.page(db, accountId, position, limit),
      wire: subscription => subscriptionData(subscription, clock.now()),
    }),
    listOperation({
      id: 'subscriptions.plans',
      title: 'List the plans',
      path: '/user/v1/subscriptions/plans',
      ...{ name: 'plans', listName: 'PlanList' },
      item: PlanSchema,
      example: {
        answer: {
          plans: [{ id: 'basic', title: 'Basic', amountCents: 500, currency: 'USD', interval: 'month' }],
          nextCursor: null,
        },
      },
      page: async (_accountId, position, limit) => numbered.slice(position, position + limit),
      wire: ({ plan }) => planData(plan),
    }),
    listOperation({
      id: 'subscriptions.payins',
      title: 'List the pay-ins, newest first',
      path: '/user/v1/subscriptions/payins',
      ...{ name: 'payins', listName: 'PayinList' },
      item: PayinSchema,
      example: { answer: { payins: [examples.onchainPayin], nextCursor: CURSOR } },
      page: (accountId, position, limit) => payins.page(db, accountId, position, limit),
      wire: payinData,
    }),
    readPayin(services),
  ]
}

const PayinDetailAnswer = Type.Object(
  { payin: PayinDetailSchema },
  component('PayinDetailAnswer', 'A pay-in with its history'),
)

/** `GET /user/v1/subscriptions/payins/{id}`: reads one pay-in with its history. */
function readPayin({ db, payins }: ModuleServices): Operation {
  return operation({
    id: 'subscriptions.readPayin',
    title: 'Read a pay-in and its history',
    surface: 'user',
    method: 'GET',
    paths: ['/user/v1/subscriptions/payins/{id}'],
    credential: 'session',
    scopes: ['subscriptions.read'],
    answer: PayinDetailAnswer,
    example: { answer: { payin: examples.payinDetail } },
    refuses: [404],
    async handle({ caller, params }) {
      const id = params['id'] as string
      const payin = await payins.find(db, caller.session.accountId, id)
      if (!payin) return deny('not_found', 'no such pay-in')
      const history = await payins.history(db, payin.id)
      return allow({
        data: { payin: payinDetailData(payin, history) },
        summary: `The pay-in is ${payin.status}.`,
      })
    },
  })
}
