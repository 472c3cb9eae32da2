import { allow } from '@gatewright/kernel'
import { addressBucket } from '@gatewright/kernel/address'
import type { Verifier } from '@gatewright/signature-verifier'
import { toChecksumAddress } from '@gatewright/signature-verifier/internal'
import * as Type from 'typebox/type'
import { component, idText, instant, nameText, text } from '@gatewright/host/schemas'
import { type HostServices, type Operation, operation } from '@gatewright/host'
import type { WebTokens } from '@gatewright/host/internal'
import { isEthereumAddress } from '../../chain/addresses.ts'
import { chainIdInput, readChainId } from '../../chain/chain-id.ts'
import { deny } from '../../product/denials.ts'
import { LATER, WALLET } from '../examples.ts'
import { type ChallengeCodec, LOGIN_DIGEST } from './challenge.ts'
import { approvedKey } from './approved-key.ts'
import { approve, enterCode, findOpen } from './cli-requests.ts'
import {
  challengeNotFound,
  cliRequestId,
  EXAMPLE_TOKEN,
  exampleSession,
  lowerToInput,
  shownSession,
  SignedIn,
  TokenState,
  typedCode,
} from './fields.ts'
import { newWebSession } from './web-token.ts'
import type { UserStore } from '../users/store.ts'

/** What the sign-in of a wallet on the web works with. */
interface SignInServices extends Pick<HostServices, 'db' | 'clock'> {
  readonly challenges: ChallengeCodec
  readonly verifier: Verifier
  readonly users: UserStore
  readonly webTokens: WebTokens
}

const orNull = <T extends Type.TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))
const wallet = {
  address: idText(42, 'The address of the wallet: 0x and 40 hex digits'),
  connector: orNull(nameText(0, 40)),
  walletLabel: orNull(nameText(0, 120)),
  chainId: orNull(chainIdInput('The chain that the wallet is on')),
}
const ChallengeBody = Type.Object(
  {
    ...wallet,
    requestId: Type.Optional(cliRequestId),
    code: Type.Optional(typedCode),
    lowerTo: Type.Optional(lowerToInput),
  },
  component('ChallengeRequest', 'A wallet that wants to sign in; `requestId` and `code` for a command line'),
)
const ChallengeResponse = Type.Object(
  {
    nonce: text('The nonce of the text, usable once'),
    message: text('The text to sign (EIP-4361), with `personal_sign`'),
    siwe: Type.Boolean({ description: 'Always true: the text follows EIP-4361' }),
    expiresAt: instant('When the text expires'),
    challengeToken: text('Goes back with the signature, unchanged'),
  },
  component('Challenge', 'A text for the wallet to sign'),
)
// Only fields that must agree with the challenge are read. The challenge itself contains the others.
const LoginBody = Type.Object(
  {
    address: wallet.address,
    nonce: idText(128, 'As answered with the challenge'),
    challengeToken: idText(8192, 'As answered with the challenge'),
    signature: Type.String({ pattern: '^[!-~]*$', description: 'The signature of the text, in hex' }),
  },
  component('LoginRequest', 'A signed challenge'),
)
const SessionBody = Type.Object(
  { accessToken: idText(8192, 'A web token') },
  component('WebTokenRequest', 'A web token to look at'),
)
const common = { surface: 'public', method: 'POST', credential: 'none', topLevel: true } as const

/** Returns an address with its checksum; undefined if the text is not an address, or has a wrong checksum in mixed case. */
function readAddress(text: string): string | undefined {
  return isEthereumAddress(text) ? toChecksumAddress(text) : undefined
}

/** The denial for every cause, the same as that of the signature verifier. */
const notProven = deny('invalid_signature', 'The wallet proof is not valid.')

/** `/auth/challenge`, `/auth/login` and `/auth/session`: a wallet signs in on the web. */
export function signInOperations(services: SignInServices): Operation[] {
  return [challenge(services), login(services), session(services)]
}

function challenge({
  challenges,
  clock,
  db,
}: Pick<SignInServices, 'challenges' | 'clock' | 'db'>): Operation {
  return operation({
    ...common,
    id: 'auth.challenge',
    title: 'Get a sign-in challenge',
    details: 'The text that a wallet signs to sign in.',
    paths: ['/auth/challenge'],
    limit: 'bootstrap',
    body: ChallengeBody,
    response: ChallengeResponse,
    denies: [404],
    example: {
      body: { address: WALLET, connector: 'injected', chainId: 1 },
      response: {
        nonce: '8a52d1f6e3b7c9a05d1f5f0b9c0a4f0e',
        siwe: true,
        expiresAt: LATER,
        message: 'pay.example wants you to sign in with your Ethereum account:\n...',
        challengeToken: EXAMPLE_TOKEN,
      },
    },
    async handle({ body }) {
      const address = readAddress(body.address)
      if (address === undefined)
        return deny('invalid_request', 'address must be 0x and 40 hex digits, with a right checksum', {
          field: 'address',
        })
      const { connector = null, walletLabel = null, requestId, code, lowerTo } = body
      if (lowerTo && requestId === undefined)
        return deny('invalid_request', 'lowerTo needs the requestId of a command line', { field: 'lowerTo' })
      const chainId = body.chainId === undefined || body.chainId === null ? null : readChainId(body.chainId)
      const now = clock.now()
      const request =
        requestId === undefined ? undefined : await enterCode(db, { id: requestId, typed: code ?? '' }, now)
      if (requestId !== undefined && !request) return challengeNotFound
      const made = challenges.make(
        {
          address,
          connector,
          walletLabel,
          chainId,
          ...(request
            ? {
                cli: { requestId: request.requestId, code: request.code, ...(lowerTo ? { lowerTo } : {}) },
              }
            : {}),
        },
        now,
      )
      return allow({
        data: {
          nonce: made.nonce,
          message: challenges.message(made),
          siwe: true,
          expiresAt: new Date(made.expiresAt).toISOString(),
          challengeToken: challenges.seal(made),
        },
        summary: 'Let the wallet sign the message.',
        next: 'POST /auth/login with the signature',
      })
    },
  })
}

function login({ challenges, verifier, users, webTokens, clock, db }: SignInServices): Operation {
  return operation({
    ...common,
    id: 'auth.login',
    title: 'Sign in with a signed challenge',
    paths: ['/auth/login'],
    limit: 'bootstrap',
    body: LoginBody,
    response: SignedIn,
    denies: [401, 404],
    example: {
      body: { address: WALLET, nonce: '8a52d1f6e3b7c9a0', challengeToken: EXAMPLE_TOKEN, signature: '0x...' },
      response: { token: EXAMPLE_TOKEN, session: exampleSession },
    },
    async handle({ body, facts }) {
      const asked = challenges.open(body.challengeToken)
      if (!asked || asked.nonce !== body.nonce || asked.address.toLowerCase() !== body.address.toLowerCase())
        return notProven
      const verified = await verifier.verify(challenges.proof(asked, body.signature), {
        addressBucket: addressBucket(facts.address),
        requestDigest: LOGIN_DIGEST,
      })
      if (!verified.ok) return verified
      const { wallet, address } = verified.value
      const { connector, chainId, walletLabel, cli } = asked
      const now = clock.now()
      const request = cli && (await findOpen(db, cli.requestId, now))
      if (cli && !request) return challengeNotFound
      const key = request && approvedKey(request.requestedKey, cli.lowerTo)
      const user = await users.findOrCreateByWallet(
        { wallet, walletAddress: address, label: walletLabel ?? undefined },
        now,
      )
      const { id: userId, accountId } = user
      const person = { accountId, userId, address, connector, chainId, walletLabel }
      const signedIn = newWebSession(key ? { ...person, key } : person, now)
      if (cli && !(await approve(db, cli.requestId, signedIn, now))) return challengeNotFound
      return allow({
        data: { ...(cli ? {} : { token: webTokens.mint(signedIn) }), session: shownSession(signedIn) },
        summary: cli ? 'The command line is signed in: go back to it.' : 'The wallet is signed in.',
        ...(cli ? {} : { next: 'POST /identity/user-api-keys makes one key' }),
      })
    },
  })
}

function session({ webTokens, clock }: Pick<SignInServices, 'webTokens' | 'clock'>): Operation {
  return operation({
    ...common,
    id: 'auth.session',
    title: 'Inspect a web token',
    paths: ['/auth/session'],
    limit: 'token-check',
    body: SessionBody,
    response: TokenState,
    example: { body: { accessToken: EXAMPLE_TOKEN }, response: { session: exampleSession } },
    async handle({ body: { accessToken } }) {
      const found = webTokens.read(accessToken)
      if (!found)
        return allow({ data: { session: { status: 'invalid' } }, summary: 'This is not a web token.' })
      const status = clock.now() < found.expiresAt ? 'valid' : 'expired'
      return allow({ data: { session: shownSession(found, status) }, summary: `The web token is ${status}.` })
    },
  })
}
