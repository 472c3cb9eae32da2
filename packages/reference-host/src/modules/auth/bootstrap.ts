import { allow, missingScopes } from '@gatewright/kernel'
import { addressBucket } from '@gatewright/kernel/address'
import { requestDigest } from '@gatewright/signature-verifier'
import * as Type from 'typebox/type'
import { deny } from '../../server/codes.ts'
import { operation, type Example, type Operation } from '../../server/operation.ts'
import { nameText } from '../../schemas/text.ts'
import { checkedPolicy, grantable, requestedScopes } from '../credentials.ts'
import { keyFields, keyShape, sessionFields, sessionShape, ttlSeconds } from '../credentials.ts'
import * as examples from '../examples.ts'
import type { ModuleServices } from '../services.ts'
import { named, Policy, text, textOrNull } from '../shapes.ts'

// What the statement must be is the verifier's decision.
const statement = (description: string): Type.TUnknown => Type.Unknown({ description })
const Body = Type.Object(
  {
    address: statement('The address of the wallet, as it stands in the signed text'),
    signature: statement('The signature of the text, in hex'),
    nonce: statement('The nonce of the text: good once'),
    issuedAt: statement('When the text was made, as it stands there'),
    expiresAt: statement('Until when the text is good, as it stands there'),
    connector: Type.Optional(Type.Union([nameText(0, 120), Type.Null()])),
    walletLabel: Type.Optional(nameText(0, 120)),
    scopes: Type.Optional(requestedScopes),
    sessionScopes: Type.Optional(requestedScopes),
    sessionTtlSeconds: Type.Optional(ttlSeconds),
    policy: Type.Optional(Policy),
    sessionPolicy: Type.Optional(Policy),
  },
  named('BootstrapRequest', 'A signed statement of a wallet, and what the key and the session are to be'),
)

const Answer = Type.Object(
  {
    ...keyShape,
    ...sessionShape,
    walletAddress: text('The wallet that signed, in lower case'),
    userId: textOrNull('The user of the wallet'),
  },
  named('Bootstrapped', 'The first key of a wallet and a session. The key is shown this once'),
)
const example: Example<typeof Body, typeof Answer> = {
  body: {
    address: '0x52908400098527886E0F7030069857D2E4169EE7',
    signature: '0x...',
    nonce: '2478963d-df90-4e94-82d6-f2b67c430166',
    issuedAt: examples.AT,
    expiresAt: '2026-11-01T12:05:00.000Z',
    scopes: ['keys.write', 'subscriptions.write'],
    sessionScopes: ['subscriptions.write'],
    policy: { dailySpendCapCents: 100_000 },
  },
  answer: { ...examples.key, ...examples.session, ...examples.owner },
}

/** `POST /user/v1/bootstrap`: a wallet's signed statement becomes a user, a key and a session (contract section 3). */
export function bootstrap({ verifier, issuer, users, aliases, clock }: ModuleServices): Operation {
  return operation({
    id: 'auth.bootstrap',
    title: 'Turn a signed wallet statement into an API key and a session',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/bootstrap'],
    credential: 'none',
    limit: 'bootstrap',
    topLevel: true,
    body: Body,
    answer: Answer,
    example,
    async handle({ body, facts }) {
      // Everything that can be refused is checked before the nonce is claimed, so a refusal stores nothing.
      const names = { aliases, facts }
      const scopes = grantable('user', body.scopes, 'scopes', names)
      if (!scopes.ok) return scopes
      const sessionScopes = grantable(
        'user',
        body.sessionScopes ?? scopes.value.scopes,
        'sessionScopes',
        names,
      )
      if (!sessionScopes.ok) return sessionScopes
      const beyond = missingScopes(sessionScopes.value.scopes, scopes.value.scopes)
      if (beyond.length > 0) {
        const message = `sessionScopes asks for more than the key has: ${beyond.join(' ')}`
        return deny('insufficient_scope', message, {
          field: 'sessionScopes',
          details: { scope: beyond.join(' ') },
        })
      }
      const policy = checkedPolicy(body.policy, 'policy')
      if (!policy.ok) return policy
      const sessionPolicy = checkedPolicy(body.sessionPolicy, 'sessionPolicy')
      if (!sessionPolicy.ok) return sessionPolicy

      const proven = await verifier.verify(body, {
        addressBucket: addressBucket(facts.address),
        ...requested(body),
      })
      if (!proven.ok) return proven
      const { wallet: principal, address } = proven.value
      const user = await users.ofWallet(
        { principal, walletAddress: address, label: body.walletLabel },
        clock.now(),
      )
      const created = await issuer.createKey({
        surface: 'user',
        rootBy: 'wallet',
        accountId: user.accountId,
        userId: user.id,
        walletAddress: address,
        scopes: scopes.value.scopes,
        ...policy.value,
      })
      if (!created.ok) return created
      const session = await issuer.issueSession(created.value.key, {
        scopes: sessionScopes.value.scopes,
        ...(body.sessionTtlSeconds === undefined ? {} : { ttlSeconds: body.sessionTtlSeconds }),
        ...sessionPolicy.value,
      })
      if (!session.ok) return session
      const ignored = [...new Set([...scopes.value.ignored, ...sessionScopes.value.ignored])]
      return allow({
        data: {
          ...keyFields(created.value),
          ...sessionFields(session.value),
          walletAddress: address,
          userId: user.id,
          ...(ignored.length > 0 ? { ignoredScopes: ignored } : {}),
        },
        summary: 'The wallet is proven: keep the key, use the session.',
        next: 'POST /user/v1/sessions with X-User-Key mints the next session',
      })
    },
  })
}

/** What a v2 or EIP-4361 statement binds of the request. */
function requested(body: object): { requestDigest?: string } {
  const digest = requestDigest(body)
  return digest === undefined ? {} : { requestDigest: digest }
}
