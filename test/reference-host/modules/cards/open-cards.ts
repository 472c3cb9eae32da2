// The operations of cards, called without a host around them, and an issuer whose replies a test chooses.
import { allow } from '@gatewright/kernel'
import type { CardIssuer } from '@gatewright/reference-host'
import type { Operation } from '@gatewright/host'
import type { Issuer } from '@gatewright/session-issuer'
import type { Test } from 'tap'
import { NEW_CARD } from './card-bench.ts'
import * as internals from '../../../harness/internals.ts'
import {
  openMoney,
  type MoneySetUp,
  type OperationRequest,
  type OperationResult,
} from '../../harness/money-operations.ts'
import { uniqueName } from '../../../harness/stores.ts'
import { newKey, setUp } from '../../../session-issuer/fixtures.ts'

export const SURFACES = ['user', 'partner'] as const
type Surface = (typeof SURFACES)[number]
/** What the issuer replies, and what it reveals. */
export const ISSUED = { last4: '2699', expirationMonth: 4, expirationYear: 2028 }
export const SECRETS = { pan: '4242424242424242', cvc: '123' }
export const NOTE = { v: 1, iv: 'q83vASNFZ4mrze8B', ct: 'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6' } as const
/** The code of a denial for the state, by surface. */
export const WRONG_STATE = { user: 'invalid_request', partner: 'invalid_state' } as const
type NewCard = Parameters<typeof internals.cards.insert>[2][number]

/** An account with a key and a session of it. */
interface Owner {
  readonly accountId: string
  readonly session: object
}

/** What is outside of the operations. A test can change it for itself. */
interface Outside {
  /** What the issuer replies when it is asked for a card. */
  reply: Awaited<ReturnType<CardIssuer['issue']>>
  /** What else happens while the issuer is called for a card. */
  meanwhile: (id: string) => Promise<void>
  /** Whether the account meets the requirements. */
  onboarding: unknown
  /** The cards that the issuer was asked to make. */
  asked: string[]
}

export interface OpenCards extends MoneySetUp {
  readonly issuer: Issuer
  readonly outside: Outside
  readonly all: readonly Operation[]
  operation(id: string, surface: string): Operation
  owner(): Promise<Owner>
  call(owner: Owner, id: string, request?: OperationRequest, surface?: Surface): Promise<OperationResult>
  /** Stores a card without asking the issuer, and returns its id. */
  stored(owner: Owner, card?: Partial<NewCard>): Promise<string>
  find(id: string): ReturnType<typeof internals.cards.anyAccount.find>
  /** The events of a card: from, to and cause. */
  events(owner: Owner, id: string): Promise<readonly unknown[]>
}

/** Opens a database with the operations of cards. */
export async function openCards(t: Test): Promise<OpenCards> {
  const outside: Outside = {
    reply: ISSUED,
    meanwhile: async () => {},
    onboarding: allow(undefined),
    asked: [],
  }
  const usual = { ...outside }
  t.beforeEach(() => void Object.assign(outside, usual, { asked: [] }))
  const provider: CardIssuer = {
    name: 'sandbox',
    async issue(id) {
      outside.asked.push(id)
      await outside.meanwhile(id)
      return outside.reply
    },
    async reveal(id) {
      await outside.meanwhile(id)
      return SECRETS
    },
  }
  const setUpMoney = await openMoney(t, { cards: provider })
  const { db, clock, services, addAccount, run, history } = setUpMoney
  const { issuer } = setUp({ clock })
  const own = {
    ...services,
    issuer,
    sealer: internals.createSealer([{ id: 'one', secret: Buffer.alloc(32, 1) }]),
    cardKeyPolicies: internals.cardKeyPolicies(db, issuer),
    requirements: { check: async () => outside.onboarding },
  } as unknown as typeof services
  const all = internals.cardOperations(own)
  const operation = (id: string, surface: string): Operation =>
    all.find(each => each.id === `cards.${id}` && each.surface === surface) as Operation

  return {
    ...setUpMoney,
    services: own,
    issuer,
    outside,
    all,
    operation,
    async owner() {
      const accountId = await addAccount()
      const { key } = await newKey(issuer, [], { accountId })
      return { accountId, session: { keyId: key.id, policyIds: [], sessionId: `ses_${accountId}` } }
    },
    call: ({ accountId, session }, id, request = {}, surface = 'user') =>
      run(operation(id, surface), accountId, { session, ...request }),
    async stored({ accountId }, card = {}) {
      const id = card.id ?? `card_${uniqueName()}`
      const made = { ...NEW_CARD, ...ISSUED, ...card, id }
      await db.transaction(tx => internals.cards.insert(tx, accountId, [made], clock.now()))
      return id
    },
    find: id => internals.cards.anyAccount.find(db, id),
    events: async ({ accountId }, id) =>
      (await history(accountId, 'card', id)).map(([from, to, cause]) => [from, to, cause]),
  }
}
