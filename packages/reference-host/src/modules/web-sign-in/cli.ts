import { allow, type Verdict, type EpochMs } from '@gatewright/kernel'
import { addressBucket } from '@gatewright/kernel/address'
import * as Type from 'typebox/type'
import { component, idText, instant, nameText, text, textOrNull } from '@gatewright/host/schemas'
import { type WebTokens } from '@gatewright/host/internal'
import { PolicySchema } from '../credential-schemas.ts'
import { type HostServices, type Operation, type Success, operation } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import { checkPolicy, parseRequestedScopes, requestedScopes } from '../credential-fields.ts'
import { AT, LATER } from '../examples.ts'
import { denyLongPolicy } from './approved-key.ts'
import { endOf, enterCode, findOpen, poll, startRequest, type PollOutcome } from './cli-requests.ts'
import { denyOtherOrigin } from './cross-origin.ts'
import {
  challengeNotFound,
  cliRequestId,
  EXAMPLE_TOKEN,
  exampleSession,
  requestedKey,
  shownKey,
  shownSession,
  SignedIn,
  typedCode,
} from './fields.ts'

/** What the sign-in of a command line works with. */
interface CliServices
  extends Pick<HostServices, 'db' | 'clock' | 'limits' | 'origin' | 'aliases' | 'operationRules'> {
  readonly webTokens: WebTokens
}

const POLL_INTERVAL_MS = 1500

const StartBody = Type.Object(
  {
    clientName: Type.Optional(nameText(1, 60)),
    label: Type.Optional(nameText(1, 64)),
    scopes: Type.Optional(requestedScopes),
    policy: Type.Optional(PolicySchema),
  },
  component(
    'StartCliRequest',
    'A command line that wants to be signed in. What it names of its key binds the web token; what it leaves out is unlimited',
  ),
)
const Started = Type.Object(
  {
    requestToken: text('The secret to poll with'),
    code: text('For the person to type on the page'),
    url: text('The page to open. It holds neither token nor code'),
    expiresAt: instant('When the request ends'),
    pollIntervalMs: Type.Integer({ description: 'How long to wait between two polls' }),
  },
  component('CliRequestStarted', 'A request of a command line'),
)
const PollBody = Type.Object(
  { requestToken: idText(120, 'From the start') },
  component('PollCliRequest', 'Which request to look at'),
)
const PollResponse = Type.Object(
  {
    status: Type.Enum(['pending', 'completed']),
    expiresAt: Type.Optional(instant('When a pending request ends')),
    ...Type.Partial(SignedIn).properties,
  },
  component('CliRequestPolled', 'Pending (202), or completed with the web token, once'),
)
const InspectBody = Type.Object(
  { requestId: cliRequestId },
  component('InspectCliRequest', 'Which request to show'),
)
const Inspected = Type.Object(
  {
    clientName: textOrNull('The name that the command line gave itself, which nobody has verified'),
    clientAddress: text('The address that the request came from'),
    startedAt: instant('When it was started'),
    expiresAt: instant('When it ends'),
    sameNetwork: Type.Boolean({
      description: 'Whether the caller has the same address (IPv6: the same /64)',
    }),
    key: requestedKey,
  },
  component('CliRequest', 'Who asks to be signed in'),
)
const DenyBody = Type.Object(
  { requestId: cliRequestId, code: typedCode },
  component('DenyCliRequest', 'Which request to deny'),
)
const Denied = Type.Object(
  { status: Type.Enum(['denied']) },
  component('CliRequestDenied', 'A request that was denied'),
)
const common = { surface: 'public', method: 'POST', credential: 'none', topLevel: true } as const
const iso = (at: EpochMs): string => new Date(at).toISOString()

/** `/auth/cli/*`: a person signs in a command line by a browser (like RFC 8628). */
export function cliOperations(services: CliServices): Operation[] {
  return [start(services), pollOnce(services), inspect(services), denyRequest(services)]
}

function start({
  db,
  clock,
  origin,
  aliases,
  operationRules,
}: Pick<HostServices, 'db' | 'clock' | 'origin' | 'aliases' | 'operationRules'>): Operation {
  return operation({
    ...common,
    id: 'auth.startCli',
    title: 'Start to sign in a command line',
    paths: ['/auth/cli/start'],
    limit: 'bootstrap',
    unknownMembers: 'deny',
    body: StartBody,
    response: Started,
    example: {
      body: {
        clientName: 'gatewright-cli',
        scopes: ['payments.write'],
        policy: { dailySpendCapCents: 5000 },
      },
      response: {
        requestToken: EXAMPLE_TOKEN,
        code: 'BCDF-2345',
        expiresAt: LATER,
        url: 'https://pay.example/helper#request=5d1f5f0b9c0a4f0e',
        pollIntervalMs: POLL_INTERVAL_MS,
      },
    },
    async handle({ body, facts }) {
      const denial = denyOtherOrigin(facts, origin)
      if (denial) return denial
      const { clientName = null, label } = body
      const scopes = body.scopes && parseRequestedScopes('user', body.scopes, 'scopes', { aliases, facts })
      if (scopes && !scopes.ok) return scopes
      const policy = checkPolicy(body.policy, 'policy', operationRules)
      if (!policy.ok) return policy
      const tooLong = denyLongPolicy(policy.value.policy)
      if (tooLong) return tooLong
      const requestedKey = {
        ...(label === undefined ? {} : { label }),
        ...(scopes ? { scopes: scopes.value.scopes } : {}),
        ...policy.value,
      }
      const started = await startRequest(
        db,
        { clientName, clientAddress: facts.address, requestedKey },
        clock.now(),
      )
      const { requestToken, requestId, code, expiresAt } = started
      return allow({
        data: {
          requestToken,
          code: `${code.slice(0, 4)}-${code.slice(4)}`,
          expiresAt: iso(expiresAt),
          url: `${origin}/helper#request=${requestId}`,
          pollIntervalMs: POLL_INTERVAL_MS,
        },
        summary: 'Show the link and the code, then poll.',
      })
    },
  })
}

function pollOnce({
  db,
  clock,
  limits,
  webTokens,
}: Pick<CliServices, 'db' | 'clock' | 'limits' | 'webTokens'>): Operation {
  const pending = (expiresAt: EpochMs): Verdict<Success> =>
    allow({
      data: { status: 'pending', expiresAt: iso(expiresAt) },
      summary: 'Nobody has approved it yet.',
      status: 202,
    })
  const response = (polled: PollOutcome): Verdict<Success> => {
    if (polled.state === 'pending') return pending(polled.expiresAt)
    if (polled.state === 'unknown') return deny('challenge_not_found', 'no open request has this token')
    if (polled.state !== 'completed') return deny('challenge_not_found', `the request was ${polled.state}`)
    const { session } = polled
    return allow({
      data: { status: 'completed', token: webTokens.mint(session), session: shownSession(session) },
      summary: 'The command line is signed in.',
    })
  }
  return operation({
    ...common,
    id: 'auth.pollCli',
    title: 'Poll a sign-in request',
    paths: ['/auth/cli/poll'],
    limit: 'poll',
    body: PollBody,
    response: PollResponse,
    denies: [404],
    documentStatuses: [202],
    example: {
      body: { requestToken: EXAMPLE_TOKEN },
      response: { status: 'completed', token: EXAMPLE_TOKEN, session: exampleSession },
    },
    async handle({ body: { requestToken }, facts }) {
      const limited = await limits.poll(addressBucket(facts.address))
      const now = clock.now()
      const end = endOf(requestToken)
      if (end === undefined || now >= end) return response({ state: 'unknown' })
      // A poll that comes too soon is neither looked up nor denied: clients treat a 429 as the end of the request.
      return limited.ok ? response(await poll(db, requestToken, now)) : pending(end)
    },
  })
}

function inspect({ db, clock }: Pick<HostServices, 'db' | 'clock'>): Operation {
  return operation({
    ...common,
    id: 'auth.inspectCli',
    title: 'Get a sign-in request',
    paths: ['/auth/cli/inspect'],
    limit: 'bootstrap',
    body: InspectBody,
    response: Inspected,
    denies: [404],
    example: {
      body: { requestId: '5d1f5f0b9c0a4f0e' },
      response: {
        clientName: 'gatewright-cli',
        clientAddress: '192.0.2.1',
        sameNetwork: true,
        key: { label: null, scopes: ['payments.write'], policy: { dailySpendCapCents: 5000 } },
        startedAt: AT,
        expiresAt: LATER,
      },
    },
    async handle({ body: { requestId }, facts }) {
      const found = await findOpen(db, requestId, clock.now())
      if (!found) return challengeNotFound
      const { clientName, clientAddress, startedAt, expiresAt, requestedKey: key } = found
      const sameNetwork = addressBucket(clientAddress) === addressBucket(facts.address)
      return allow({
        data: {
          clientName,
          clientAddress,
          sameNetwork,
          key: shownKey(key),
          startedAt: iso(startedAt),
          expiresAt: iso(expiresAt),
        },
        summary: sameNetwork ? 'The request is open.' : 'The request is open, and came from another network.',
      })
    },
  })
}

function denyRequest({ db, clock }: Pick<HostServices, 'db' | 'clock'>): Operation {
  return operation({
    ...common,
    id: 'auth.denyCli',
    title: 'Deny a command line',
    paths: ['/auth/cli/deny'],
    limit: 'bootstrap',
    body: DenyBody,
    response: Denied,
    denies: [404],
    example: { body: { requestId: '5d1f5f0b9c0a4f0e', code: 'BCDF-2345' }, response: { status: 'denied' } },
    async handle({ body: { requestId, code } }) {
      const denied = await enterCode(db, { id: requestId, typed: code, next: 'deny' }, clock.now())
      if (!denied) return challengeNotFound
      return allow({ data: { status: 'denied' }, summary: 'The request is denied.' })
    },
  })
}
