import { moneyExamples } from './money-examples.ts'

/** One operation's example: the body it takes, where it takes one, and the `data` (or document) it answers. */
export interface Example {
  readonly body?: Readonly<Record<string, unknown>>
  readonly answer: Readonly<Record<string, unknown>>
}

const AT = '2026-11-01T12:00:00.000Z'
const LATER = '2026-11-01T12:15:00.000Z'
const WALLET = '0x52908400098527886e0f7030069857d2e4169ee7'
// Shapes only: the parts that would be secret are left out.
const KEY = 'gw_sandbox_user_...'
const TOKEN = 'eyJ...'

const session = {
  sessionToken: TOKEN,
  sessionId: 'Zy3cQk1vPm8sT0aB',
  expiresAt: LATER,
  scopes: ['subscriptions.write'],
}
const newKey = {
  ...{
    userApiKey: KEY,
    userKeyId: 'a1B2c3D4e5F6g7H8',
    consumerApiKey: KEY,
    consumerKeyId: 'a1B2c3D4e5F6g7H8',
  },
  keyPrefix: 'gw_sandbox_user_a1B2c3D4e5F6g7H8',
}
const owner = { walletAddress: WALLET, userId: 'usr_79db7a61096340598de4661d67683883' }
const keyItem = {
  ...{
    id: 'a1B2c3D4e5F6g7H8',
    keyPrefix: 'gw_sandbox_user_a1B2c3D4e5F6g7H8',
    scopes: ['subscriptions.write'],
  },
  policy: { maxAuthAmountCents: 5000 },
  ...{ createdBy: { keyId: 'Q7r8S9t0U1v2W3x4', sessionId: session.sessionId }, rotatedBy: null },
  ...{ createdAt: AT, lastUsedAt: null, expiresAt: null, revokedAt: null },
}

/** An example for every operation, by its id. A test holds each against its schemas. */
export const examples: Readonly<Record<string, Example>> = {
  'auth.bootstrap': {
    body: {
      address: '0x52908400098527886E0F7030069857D2E4169EE7',
      signature: '0x...',
      nonce: '2478963d-df90-4e94-82d6-f2b67c430166',
      issuedAt: AT,
      expiresAt: '2026-11-01T12:05:00.000Z',
      scopes: ['keys.write', 'subscriptions.write'],
      sessionScopes: ['subscriptions.write'],
      policy: { dailySpendCapCents: 100_000 },
    },
    answer: { ...newKey, ...session, ...owner },
  },
  'keys.create': {
    body: { scopes: ['subscriptions.write'], policy: { maxAuthAmountCents: 5000 } },
    answer: { ...newKey, ...owner, scopes: ['subscriptions.write'] },
  },
  'keys.list': { answer: { keys: [keyItem] } },
  'keys.change': { body: { policy: { maxAuthAmountCents: 5000 } }, answer: keyItem },
  'keys.rotate': {
    body: { overlapSeconds: 86_400 },
    answer: { ...newKey, ...owner, scopes: ['subscriptions.write'] },
  },
  'keys.revoke': { answer: { ...keyItem, revokedAt: LATER } },
  'sessions.create': { body: { scopes: ['subscriptions.write'], ttlSeconds: 900 }, answer: session },
  'sessions.list': {
    answer: {
      sessions: [
        {
          ...{ sessionId: session.sessionId, keyId: newKey.userKeyId, scopes: session.scopes, label: null },
          ...{ createdAt: AT, expiresAt: LATER, current: true },
        },
      ],
    },
  },
  'sessions.end': { answer: { ended: 1, revokedKeys: 2 } },
  'users.resolve': {
    body: { userId: 'user-1', walletLabel: 'Main' },
    answer: { userId: 'user-1', walletAddress: null, kycStatus: 'not_submitted', createdAt: AT },
  },
  'sessions.createForPartner': {
    body: { userId: 'user-1', scopes: ['cards.read'] },
    answer: { ...session, scopes: ['cards.read'], userId: 'user-1' },
  },
  ...moneyExamples,
  'cards.list': {
    answer: {
      cards: [
        {
          ...{ cardId: 'card_ba30b49c6d3c40fab2f1c1894b801b80', last4: '2699', status: 'active' },
          limit: { amountCents: 161_000, frequency: 'per30DayPeriod' },
          ...{ expirationMonth: 4, expirationYear: 2028, createdAt: AT, encryptedName: null },
        },
      ],
      nextCursor: 'YWZ0ZXI6MQ',
    },
  },
  'system.jwks': {
    answer: { keys: [{ kid: 'k1', kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA', x: '...' }] },
  },
  'system.openapi': { answer: { openapi: '3.1.0' } },
  'system.healthz': { answer: { status: 'ok' } },
  'system.readyz': { answer: { status: 'ready', dependencies: { database: 'ok' } } },
  'system.metrics': { answer: {} },
}
