import { allow, type Verdict, type EpochMs } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import type { SqlQueries } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import {
  type HostServices,
  type Operation,
  type Success,
  ledgerWrite,
  listOperation,
  events,
  type HostDenial,
} from '@gatewright/host'
import { component, idText, nameText } from '@gatewright/host/schemas'
import { deny } from '../../../product/denials.ts'
import { invalidState } from '../../invalid-state.ts'
import { cardPolicies } from './decide.ts'
import { authorizationTable, type Authorization } from './store.ts'
import { authorizationData, AuthorizationSchema, exampleAuthorization, withHistory } from './wire.ts'
import { cards } from '../store.ts'
import type { Authorizations } from './service.ts'
import type { CardServices } from '../services.ts'

const SURFACES: readonly Surface[] = ['user', 'partner']
/** The default merchant of a simulated payment. */
const MERCHANT = { name: 'Sandbox Merchant', mcc: '5734', city: null, country: 'US' }
const ResponseData = Type.Object(
  { authorization: AuthorizationSchema },
  component('AuthorizationResponse', 'The state of an authorization'),
)
const Amount = Type.Integer({ minimum: 0, maximum: 100_000_000, description: 'US cents' })
const AuthorizationBody = Type.Object(
  {
    cardId: idText(120, 'The card that pays'),
    amountCents: { ...Amount, description: 'US cents. 0: an account check, which holds nothing' },
    currency: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$', description: 'Default USD' })),
    merchant: Type.Optional(
      Type.Object({
        name: nameText(1, 40),
        mcc: Type.Optional(Type.String({ pattern: '^\\d{4}$', description: 'Default 5734' })),
        city: Type.Optional(nameText(1, 40)),
        country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$', description: 'Default US' })),
      }),
    ),
  },
  component('SimulatedAuthorization', 'A payment by card, as a merchant would request it'),
)
const AmountBody = Type.Object(
  { amountCents: Type.Optional(Amount) },
  component('SimulatedAmount', 'The amount to clear or to refund. Default: all that is left'),
)
const NoBody = Type.Object({}, component('SimulatedReversal', 'No members'))

/** Makes the operations on authorizations: the list, and the simulations of a sandbox, in which the caller acts as the merchant. */
export function authorizationOperations(
  services: Pick<CardServices, 'authorizations' | 'cardKeyPolicies' | 'clock' | 'db' | 'environment'>,
): Operation[] {
  const simulations = SURFACES.flatMap(surface => [
    simulateAuthorization(surface, services),
    ...ENDINGS.map(ending => simulateEnding(surface, ending, services)),
  ])
  return [listAuthorizations(services), ...(services.environment === 'sandbox' ? simulations : [])]
}

/** `GET /user/v1/cards/{cardId}/authorizations`: lists the authorizations of a card, newest first. */
function listAuthorizations({ db }: Pick<HostServices, 'db'>): Operation {
  return listOperation({
    id: 'cards.authorizations',
    title: 'List authorizations of a card',
    details: 'Newest first.',
    path: '/user/v1/cards/{cardId}/authorizations',
    scopes: ['transactions.read'],
    byCreation: true,
    name: 'authorizations',
    component: component('AuthorizationList', 'A page of authorizations'),
    item: AuthorizationSchema,
    example: exampleAuthorization,
    async rows(accountId, page, { params }) {
      const card = await cards.find(db, accountId, params['cardId'] as string)
      if (!card) return deny('not_found', 'no such card')
      return authorizationTable.page(db, accountId, page, { cardId: card.id })
    },
    async write(rows, accountId) {
      const ids = rows.map(row => row.id)
      const histories = await events.histories(db, accountId, 'authorization', ids)
      return rows.map(row => authorizationData(row, histories.get(row.id) ?? []))
    },
  })
}

/** `cards.simulateAuthorization`: a merchant requests a payment. A decline is a result of the operation, not an error. */
function simulateAuthorization(
  surface: Surface,
  services: Pick<CardServices, 'authorizations' | 'cardKeyPolicies' | 'clock' | 'db'>,
): Operation {
  const { db, clock, cardKeyPolicies, authorizations } = services
  return ledgerWrite({
    id: 'cards.simulateAuthorization',
    title: 'Simulate a card payment',
    details: 'Pays with a card, as a merchant does.',
    surface,
    method: 'POST',
    paths: [`/${surface}/v1/sandbox/authorizations`],
    credential: 'session',
    scopes: ['cards.write'],
    body: AuthorizationBody,
    response: ResponseData,
    denies: [404],
    spends: 'card',
    example: {
      body: { cardId: exampleAuthorization.cardId, amountCents: 1250, merchant: { name: 'Corner Shop' } },
      response: { authorization: exampleAuthorization },
    },
    // Policies can be in Redis, so they are read before the transaction.
    async prepare({ caller, body }) {
      const card = await cards.find(db, caller.session.accountId, body.cardId)
      return card ? allow({ policies: await cardPolicies(cardKeyPolicies, card) }) : noCard
    },
    async write({ caller, body }, { tx, effectId, prepared: { policies } }) {
      const { amountCents, currency = 'USD' } = body
      const card = await cards.lock(tx, caller.session.accountId, body.cardId)
      if (!card) return noCard
      const request = {
        id: `auth_${effectId}`,
        amountCents,
        currency,
        merchant: { ...MERCHANT, ...body.merchant },
      }
      const at = { card, policies, now: clock.now() }
      const { row, history } = await authorizations.authorize(tx, at, request)
      return success(history ? authorizationData(row, history) : await withHistory(tx, row))
    },
  })
}

const noCard: HostDenial = deny('not_found', 'no such card', { field: 'cardId' })
const noAuthorization: HostDenial = deny('not_found', 'no such authorization')

function success(authorization: Type.Static<typeof AuthorizationSchema>): Verdict<Success> {
  return allow({ data: { authorization }, summary: `The authorization is ${authorization.status}.` })
}

/** A simulated action of a merchant on an authorization. */
interface Ending {
  readonly verb: 'clear' | 'reverse' | 'refund'
  readonly id: string
  readonly title: string
  readonly details?: string
  /** The status that it requires. */
  readonly from: Authorization['status']
  /** The smallest amount. */
  readonly least: 0 | 1
  /** Returns the amount that is left for this action. */
  most(row: Authorization): number
  apply(
    authorizations: Authorizations,
    tx: SqlQueries,
    row: Authorization,
    at: { readonly amountCents: number; readonly effectId: string; readonly now: EpochMs },
  ): Promise<Authorization>
}

const ENDINGS: readonly Ending[] = [
  {
    verb: 'clear',
    id: 'cards.simulateClearing',
    from: 'authorized',
    title: 'Simulate a clearing',
    details: 'Clears an authorization, as a merchant does.',
    least: 0,
    most: row => row.heldCents,
    apply: (all, tx, row, { amountCents, effectId, now }) =>
      all.clear(tx, row, { id: effectId, amountCents, final: true }, now),
  },
  {
    verb: 'reverse',
    id: 'cards.simulateReversal',
    from: 'authorized',
    title: 'Simulate a reversal',
    details: 'Reverses an authorization, as a merchant does.',
    least: 0,
    most: row => row.heldCents,
    apply: (all, tx, row, { effectId: id, now }) => all.reverse(tx, row, { cause: 'reversed', id }, now),
  },
  {
    verb: 'refund',
    id: 'cards.simulateRefund',
    from: 'cleared',
    title: 'Simulate a refund',
    details: 'Refunds a cleared authorization, as a merchant does.',
    least: 1,
    most: row => row.clearedCents - row.refundedCents,
    apply: (all, tx, row, { amountCents, effectId: id, now }) =>
      all.refund(tx, row, { id, amountCents }, now),
  },
]

function simulateEnding(
  surface: Surface,
  ending: Ending,
  services: Pick<CardServices, 'authorizations' | 'clock'>,
): Operation {
  const { id, title, details, verb, from, least, most, apply } = ending
  const { clock, authorizations } = services
  const response = { clear: 'cleared', reverse: 'reversed', refund: 'cleared' } as const
  return ledgerWrite({
    id,
    title,
    ...(details === undefined ? {} : { details }),
    surface,
    method: 'POST',
    credential: 'session',
    scopes: ['cards.write'],
    paths: [`/${surface}/v1/sandbox/authorizations/{id}/${verb}`],
    body: verb === 'reverse' ? NoBody : AmountBody,
    response: ResponseData,
    spends: 'card',
    example: {
      body: {},
      response: { authorization: { ...exampleAuthorization, status: response[verb] } },
    },
    denies: surface === 'partner' ? [404, 409] : [404],
    async write({ caller, params, body }, { tx, effectId }) {
      const row = await authorizationTable.lock(tx, caller.session.accountId, params['id'] as string)
      if (!row) return noAuthorization
      if (row.status !== from)
        return invalidState(surface, `an authorization that is ${row.status} cannot ${verb}`, 'id')
      const amountCents = (body as Type.Static<typeof AmountBody>).amountCents ?? most(row)
      if (amountCents > most(row) || amountCents < least)
        return invalidState(surface, `at most ${most(row)} US cents are left to ${verb}`, 'amountCents')
      const changed = await apply(authorizations, tx, row, { amountCents, effectId, now: clock.now() })
      return success(await withHistory(tx, changed))
    },
  })
}
