import { createCipheriv, randomBytes } from 'node:crypto'
import { allow, type Session, type Verdict } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import { component, idText, text } from '@gatewright/host/schemas'
import { type HostServices, type Operation, ledgerWrite, operation, type HostDenial } from '@gatewright/host'
import type { Sealer } from '@gatewright/host/internal'
import { deny } from '../../product/denials.ts'
import type { CardSecrets } from '../../providers/cards/port.ts'
import { invalidState } from '../invalid-state.ts'
import { checkBelowCaller } from './caller-policies.ts'
import type { Card } from './card.ts'
import { issuerOf } from './issue.ts'
import { denyEndedKey } from './ended-keys.ts'
import { noSuchCard } from './read.ts'
import { denyFrozen } from '../onboarding/requirements.ts'
import { recordReveal } from './revealed-by.ts'
import { cards } from './store.ts'
import type { CardServices } from './services.ts'

const SESSION_MS = 300_000
const PURPOSE = 'card secrets session'
const KEY_BYTES = 16
const IV_BYTES = 12

const members = {
  sessionId: text('For the reveals of the next 5 minutes, with the session that opened it'),
  secretKey: text('32 hexadecimal digits: the AES-128-GCM key of what is revealed. Shown only now'),
}
const Opened = {
  user: Type.Object(
    { secrets: Type.Object(members, component('CardSecretsSession', 'Opens what reveals answer')) },
    component('CardSecretsSessionResponse', 'Opens what reveals answer'),
  ),
  partner: Type.Object(members, component('PartnerCardSecretsSession', 'Opens what reveals answer')),
} as const
const Sealed = Type.Object(
  {
    iv: text('12 bytes, base64'),
    data: text('Ciphertext and 16-byte tag, base64'),
  },
  component('RevealedText', 'A text that the `secretKey` of the secrets session opens: AES-128-GCM'),
)
const revealed = { encryptedPan: Sealed, encryptedCvc: Sealed }
const Revealed = {
  user: Type.Object(
    { secrets: Type.Object(revealed, component('RevealedCard', 'Number and security code, encrypted')) },
    component('RevealedCardResponse', 'Number and security code, encrypted'),
  ),
  partner: Type.Object(
    {
      ...revealed,
      expirationMonth: Type.Integer(),
      expirationYear: Type.Integer(),
      last4: text('The last four digits of the number'),
      brand: Type.Enum(['visa']),
      keyId: text('The issuer'),
    },
    component('PartnerRevealedCard', 'Number and security code, encrypted'),
  ),
} as const
const RevealBody = Type.Object(
  { sessionId: idText(1000, 'From `secrets/session`') },
  component('RevealCardRequest', 'Which secrets session opens the answer'),
)
const sessionExample = {
  sessionId: 'sandbox-1.q83vASNFZ4mrze8BZm9vYmFyYmF6cXV4',
  secretKey: '000102030405060708090a0b0c0d0e0f',
}
const sealedExample = { iv: 'q83vASNFZ4mrze8B', data: 'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6' }
const common = {
  method: 'POST',
  credential: 'session',
  scopes: ['cards.secrets.read'],
  cardSecrets: true,
} as const

const ownerOf = ({ accountId, sessionId }: Session): string => `${accountId} ${sessionId}`

/** `cards.openSecrets`: the client keeps the key as an encrypted text and sends it back, so nothing is stored. */
export function openSecrets(
  surface: Surface,
  { clock, sealer }: Pick<HostServices, 'clock' | 'sealer'>,
): Operation {
  return operation({
    ...common,
    id: 'cards.openSecrets',
    title: 'Get the key for card details',
    details: 'The key that opens what reveals return.',
    surface,
    paths: [`/${surface}/v1/cards/secrets/session`],
    response: Opened[surface] as typeof Opened.user,
    example: {
      response: (surface === 'user' ? { secrets: sessionExample } : sessionExample) as {
        secrets: typeof sessionExample
      },
    },
    async handle({ caller: { session } }) {
      const secretKey = randomBytes(KEY_BYTES).toString('hex')
      const sealed = `${secretKey} ${clock.now() + SESSION_MS}`
      const secrets = { sessionId: sealer.seal(PURPOSE, ownerOf(session), sealed), secretKey }
      return allow({
        data: surface === 'user' ? { secrets } : secrets,
        summary: 'The secrets session is open for 5 minutes.',
      })
    },
  })
}

/** Decrypts the key of a secrets session; undefined if the text is not such a key, has expired, or belongs to another session. */
function openKey(sealer: Sealer, session: Session, sessionId: string, now: number): Buffer | undefined {
  const [key, endsAt] = sealer.openFromClient(PURPOSE, ownerOf(session), sessionId)?.split(' ') ?? []
  return key !== undefined && now < Number(endsAt) ? Buffer.from(key, 'hex') : undefined
}

/** `cards.reveal`: the card number and security code come from the issuer, are encrypted for the client, and are not stored. */
export function revealCard(
  surface: Surface,
  services: Pick<CardServices, 'cardKeyPolicies' | 'clock' | 'db' | 'issuer' | 'providers' | 'sealer'>,
): Operation {
  const { clock, db, sealer } = services
  const canceled = invalidState(surface, 'a canceled card cannot be revealed', 'status')
  const prepare = async (
    session: Session,
    cardId: string,
    sessionId: string,
  ): Promise<Verdict<{ readonly secrets: CardSecrets; readonly key: Buffer }, HostDenial>> => {
    const key = openKey(sealer, session, sessionId, clock.now())
    if (!key)
      return deny('not_found', 'no open secrets session has this id: open another', { field: 'sessionId' })
    const card = await cards.find(db, session.accountId, cardId)
    if (!card) return noSuchCard
    if (card.status === 'canceled') return canceled
    const below = await checkBelowCaller(services, session, card)
    if (!below.ok) return below
    const { signal } = new AbortController()
    return allow({ key, secrets: await issuerOf(services, card.issuer).reveal(card.id, signal) })
  }
  return ledgerWrite<typeof RevealBody, typeof Revealed.user, { secrets: CardSecrets; key: Buffer }>({
    ...common,
    id: 'cards.reveal',
    title: 'Reveal a card',
    details: 'Its number and security code, encrypted for the caller.',
    surface,
    paths: [`/${surface}/v1/cards/{cardId}/secrets`],
    idempotency: 'none',
    spends: false,
    body: RevealBody,
    response: Revealed[surface] as typeof Revealed.user,
    example: {
      body: { sessionId: sessionExample.sessionId },
      response: revealedExample(surface) as { secrets: typeof revealedMembers },
    },
    denies: surface === 'user' ? [404] : [404, 409],
    prepare: ({ caller, params, body }) =>
      prepare(caller.session, params['cardId'] as string, body.sessionId),
    async write({ caller: { session }, params }, { tx, prepared: { secrets, key } }) {
      const { accountId } = session
      const live = await denyEndedKey(tx, session)
      if (!live.ok) return live
      const open = await denyFrozen(tx, session)
      if (!open.ok) return open
      const card = await cards.lock(tx, accountId, params['cardId'] as string)
      if (!card) return noSuchCard
      if (card.status === 'canceled') return canceled
      await recordReveal(tx, session, card.id, clock.now())
      const encrypted = {
        encryptedPan: encryptFor(key, secrets.pan),
        encryptedCvc: encryptFor(key, secrets.cvc),
      }
      return allow({ data: revealedData(surface, card, encrypted), summary: 'The card is revealed.' })
    },
  })
}

function encryptFor(key: Buffer, value: string): { readonly iv: string; readonly data: string } {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-128-gcm', key, iv)
  const data = Buffer.concat([cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return { iv: iv.toString('base64'), data: data.toString('base64') }
}

type EncryptedSecrets = Readonly<
  Record<keyof typeof revealed, { readonly iv: string; readonly data: string }>
>

function revealedData(
  surface: Surface,
  { expirationMonth, expirationYear, last4, issuer }: Omit<Card, 'accountId'> | typeof shownExample,
  secrets: EncryptedSecrets,
): Record<string, unknown> {
  if (surface === 'user') return { secrets }
  return { ...secrets, expirationMonth, expirationYear, last4, brand: 'visa', keyId: issuer }
}

const shownExample = { expirationMonth: 4, expirationYear: 2028, last4: '2699', issuer: 'sandbox' }
const revealedMembers = { encryptedPan: sealedExample, encryptedCvc: sealedExample }
const revealedExample = (surface: Surface): unknown => revealedData(surface, shownExample, revealedMembers)
