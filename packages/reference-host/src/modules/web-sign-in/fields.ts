import * as Type from 'typebox/type'
import { component, idText, instant, text, textOrNull } from '@gatewright/host/schemas'
import { grantedScopes, PolicySchema } from '../credential-schemas.ts'
import type { ApprovedKey, WebSession } from '@gatewright/host/internal'
import type { HostDenial } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import { userScopes } from '../../product/scopes.ts'
import { LATER, owner, WALLET } from '../examples.ts'
import { lowered } from './approved-key.ts'

/** The denial for a request of a command line that is unknown or has ended, or for a wrong code. */
export const challengeNotFound: HostDenial = deny(
  'challenge_not_found',
  'no open request has this id and code: start again in the terminal',
)

/** Schema of the code that a person types. */
export const typedCode: Type.TString = Type.String({
  pattern: '^[ -~]{1,20}$',
  description: 'The code that the terminal shows, as the person typed it',
})

/** Schema of the id of a command line's request. */
export const cliRequestId: Type.TString = idText(
  120,
  'From the link that the terminal shows. A request token is taken in its place',
)

/** Schema of the amounts that a person lowers. */
export const lowerToInput = Type.Object(
  {
    maxAuthAmountCents: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    dailySpendCapCents: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  },
  component('LowerTo', 'The most that the key of a command line may spend, whatever it requested'),
)

/** Schema of the rights of the key that a command line gets. */
export const requestedKey = Type.Object(
  {
    label: textOrNull('What the key is called'),
    scopes: grantedScopes,
    policy: Type.Union([PolicySchema, Type.Null()], { description: 'Null: no limit' }),
  },
  component('RequestedKey', 'What the key of a command line may do. Where nothing was requested, everything'),
)

const Session = Type.Object(
  {
    sessionId: text('The id of the sign-in'),
    address: text('The wallet that signed, in lower case'),
    userId: text('The user of the wallet'),
    connector: textOrNull('As sent with the challenge'),
    chainId: Type.Union([Type.Integer(), Type.Null()], { description: 'As sent with the challenge' }),
    walletLabel: textOrNull('As sent with the challenge'),
    expiresAt: instant('When the web token stops working'),
    status: Type.Enum(['valid', 'expired']),
    key: Type.Optional(requestedKey),
  },
  component('WebSession', 'A sign-in on the web'),
)

/** Schema of a response with a sign-in. */
export const SignedIn = Type.Object(
  {
    token: Type.Optional(
      Type.String({ description: 'The web token: a secret that makes one key. Not for a sign-in to a CLI' }),
    ),
    session: Session,
  },
  component('SignedIn', 'A sign-in, with its web token unless it is for a command line'),
)

/** Schema of the state of a web token. */
export const TokenState = Type.Object(
  {
    session: Type.Union([
      Session,
      Type.Object({ status: Type.Enum(['invalid']) }, component('NoWebSession', 'The text is no web token')),
    ]),
  },
  component('WebTokenState', 'What a web token is worth'),
)

/** Converts a sign-in for responses. */
export function shownSession(session: WebSession, status: 'valid' | 'expired' = 'valid') {
  const { sessionId, address, userId, connector, chainId, walletLabel, expiresAt, key } = session
  return {
    sessionId,
    address,
    userId,
    connector,
    chainId,
    walletLabel,
    status,
    expiresAt: new Date(expiresAt).toISOString(),
    ...(key ? { key: shownKey(key) } : {}),
  }
}

/** Converts the rights of the key of a command line for responses. */
export function shownKey({ label, scopes, policy, lowerTo: most }: ApprovedKey) {
  return {
    label: label ?? null,
    scopes: scopes ?? userScopes.names,
    policy: lowered(policy, most) ?? null,
  }
}

/** A sign-in in examples. */
export const exampleSession = {
  sessionId: '5d1f5f0b9c0a4f0e8a52d1f6e3b7c9a0',
  address: WALLET,
  userId: owner.userId,
  connector: 'injected',
  chainId: 1,
  walletLabel: 'Main',
  expiresAt: LATER,
  status: 'valid' as const,
}
/** A web token in examples, without its secret part. */
export const EXAMPLE_TOKEN = 'sandbox-1.q83v...'
