import { allow, type Verdict, type EpochMs } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { component, idText, instant, text, Currency, textOrNull } from '@gatewright/host/schemas'
import { type HostDenial, type HostServices, type Operation, ledgerWrite } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import { EncryptedNote } from '../encryption/fields.ts'
import * as examples from '../examples.ts'
import { invalidState } from '../invalid-state.ts'
import { NO_LABELS, type LimitFrequency } from './card.ts'
import { insertIssued, issueCard, type CardTerms, type IssuedCardWithOrigin } from './issue.ts'
import { CardSchema, cardData, cardExample, Frequency } from './wire.ts'
import type { CardServices } from './services.ts'

const PROPOSAL_MS = 900_000
const PURPOSE = 'card proposal'

const ProposeBody = Type.Object(
  {
    amountCents: Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'US cents' }),
    currency: Type.Optional(Currency),
    limitFrequency: Type.Optional(Frequency),
    autoCancelAfterAuth: Type.Optional(
      Type.Boolean({
        description: 'Whether its first payment cancels it. Default: only with perAuthorization',
      }),
    ),
  },
  component('ProposeCardRequest', 'What a disposable card is for'),
)
const ExecuteBody = Type.Object(
  { proposalId: idText(1000), encryptedName: Type.Optional(EncryptedNote) },
  component('ExecuteProposalRequest', 'Which proposal to make a card of'),
)
const Disposable = Type.Object(
  {
    proposalId: text('Executes the proposal'),
    status: Type.Enum(['proposed', 'executed']),
    amountCents: Type.Integer({ description: 'The limit of the card, in US cents' }),
    currency: Currency,
    limitFrequency: Frequency,
    autoCancelAfterAuth: Type.Boolean({ description: 'Whether its first payment cancels the card' }),
    expiresAt: instant('Until when it can be executed'),
    createdAt: instant('When it was proposed'),
    executedAt: Type.Optional(instant('When the card was made')),
    cardId: textOrNull('The card, once it is made'),
  },
  component('DisposableCard', 'A card for one purpose: proposed, then executed'),
)
const Proposed = Type.Object({ disposable: Disposable }, component('ProposalResponse', 'A proposal'))
const Executed = Type.Object(
  { disposable: Disposable, card: CardSchema.user },
  component('ExecutedProposalResponse', 'A disposable card'),
)
const example = {
  proposalId: 'sandbox-1.q83vASNFZ4mrze8BZm9vYmFyYmF6cXV4',
  status: 'proposed' as const,
  amountCents: 2500,
  currency: 'USD' as const,
  limitFrequency: 'perAuthorization' as const,
  autoCancelAfterAuth: true,
  expiresAt: examples.LATER,
  createdAt: examples.AT,
  cardId: null,
}
const common = {
  surface: 'user',
  method: 'POST',
  credential: 'session',
  scopes: ['cards.write'],
  spends: false,
} as const

/** The content of a proposal. The client keeps it as an encrypted text, so no row is needed. */
interface Proposal {
  /** The id of the card that it makes: the same however often it is executed. */
  readonly cardId: string
  readonly amountCents: number
  readonly limitFrequency: LimitFrequency
  readonly autoCancelAfterAuth: boolean
  readonly createdAt: EpochMs
}

function disposableData(proposalId: string, proposal: Proposal, executedAt?: EpochMs) {
  const { cardId, createdAt, amountCents, limitFrequency, autoCancelAfterAuth } = proposal
  const iso = (at: EpochMs): string => new Date(at).toISOString()
  return {
    proposalId,
    amountCents,
    currency: 'USD',
    limitFrequency,
    autoCancelAfterAuth,
    expiresAt: iso(createdAt + PROPOSAL_MS),
    createdAt: iso(createdAt),
    ...(executedAt === undefined
      ? { status: 'proposed', cardId: null }
      : { status: 'executed', executedAt: iso(executedAt), cardId }),
  }
}

/** Makes the operations on disposable cards: a proposal, and the card that is made from it. */
export function disposableOperations(
  services: Pick<CardServices, 'clock' | 'db' | 'issuer' | 'providers' | 'sealer'>,
): Operation[] {
  return [propose(services), execute(services)]
}

function propose({ clock, sealer }: Pick<HostServices, 'clock' | 'sealer'>): Operation {
  return ledgerWrite({
    ...common,
    id: 'cards.propose',
    title: 'Propose a disposable card',
    paths: ['/user/v1/cards/disposable/proposals'],
    body: ProposeBody,
    response: Proposed,
    example: { body: { amountCents: 2500 }, response: { disposable: example } },
    async write({ caller: { session }, body }, { effectId }) {
      const limitFrequency = body.limitFrequency ?? 'perAuthorization'
      const autoCancelAfterAuth = body.autoCancelAfterAuth ?? limitFrequency === 'perAuthorization'
      const cardId = `card_${effectId}`
      const { amountCents } = body
      const proposal = { cardId, amountCents, limitFrequency, autoCancelAfterAuth, createdAt: clock.now() }
      const proposalId = sealer.seal(PURPOSE, session.accountId, JSON.stringify(proposal))
      return allow({
        data: { disposable: disposableData(proposalId, proposal) },
        summary: 'The card is proposed: execute it within 15 minutes.',
      })
    },
  })
}

/** A decrypted proposal, with the card at its issuer. */
interface IssuedProposal extends IssuedCardWithOrigin {
  readonly proposal: Proposal
  readonly terms: CardTerms
}

function execute(
  services: Pick<CardServices, 'clock' | 'db' | 'issuer' | 'providers' | 'sealer'>,
): Operation {
  const { clock, sealer } = services
  const executedBefore = invalidState('user', 'the proposal was executed before', 'proposalId')
  const open = (accountId: string, proposalId: string): Verdict<Proposal, HostDenial> => {
    const text = sealer.openFromClient(PURPOSE, accountId, proposalId)
    if (text === undefined) return deny('not_found', 'no proposal has this id', { field: 'proposalId' })
    const proposal = JSON.parse(text) as Proposal
    return clock.now() < proposal.createdAt + PROPOSAL_MS
      ? allow(proposal)
      : invalidState('user', 'the proposal has expired: propose again', 'proposalId')
  }
  return ledgerWrite<typeof ExecuteBody, typeof Executed, IssuedProposal>({
    ...common,
    id: 'cards.execute',
    title: 'Make the card of a proposal, once',
    requires: 'onboarding',
    paths: ['/user/v1/cards/disposable/execute'],
    body: ExecuteBody,
    response: Executed,
    example: {
      body: { proposalId: example.proposalId },
      response: {
        disposable: {
          ...example,
          status: 'executed',
          executedAt: examples.AT,
          cardId: 'card_ba30b49c6d3c40fab2f1c1894b801b80',
        },
        card: cardExample('user'),
      },
    },
    denies: [404],
    async prepare({ caller: { session }, body }) {
      const opened = open(session.accountId, body.proposalId)
      if (!opened.ok) return opened
      const { cardId, amountCents, limitFrequency, autoCancelAfterAuth } = opened.value
      const terms: CardTerms = {
        id: cardId,
        limit: { amountCents, frequency: limitFrequency },
        disposable: true,
        autoCancelAfterAuth,
        folderId: null,
        ...NO_LABELS,
        encryptedName: body.encryptedName ?? null,
      }
      const issued = await issueCard(services, session, terms)
      if (!issued.ok) return issued
      return issued.value ? allow({ ...issued.value, proposal: opened.value, terms }) : executedBefore
    },
    async write({ body }, { tx, prepared: { proposal, terms, ...issued } }) {
      const made = await insertIssued(services, tx, terms, issued)
      if (!made.ok) return made
      const card = made.value
      if (!card) return executedBefore
      return allow({
        data: {
          disposable: disposableData(body.proposalId, proposal, card.createdAt),
          card: cardData('user', card),
        },
        summary: 'The disposable card is made.',
      })
    },
  })
}
