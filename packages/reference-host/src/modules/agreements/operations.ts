import { allow } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, type Success, operation, readOperation } from '@gatewright/host'
import { text, component, instantOrNull } from '@gatewright/host/schemas'
import { deny } from '../../product/denials.ts'
import { type Product, MAX_AGREEMENTS, MAX_LINKS } from '../../product/product.ts'
import * as examples from '../examples.ts'
import type { AgreementAcceptances } from '../agreement-acceptances.ts'
import type { KycRecords } from '../kyc/records.ts'

/** What the operations on agreements work with. */
interface AgreementServices extends Pick<HostServices, 'db' | 'clock'> {
  readonly acceptances: AgreementAcceptances
  readonly kyc: KycRecords
  readonly product: Product
}

const AgreementSchema = Type.Object(
  {
    id: text('Names the agreement'),
    text: text('What is accepted'),
    links: Type.Array(Type.Object({ label: Type.String(), url: Type.String() }), {
      maxItems: MAX_LINKS,
    }),
  },
  component('Agreement', 'A text that people accept before they may move money'),
)
const ResponseData = Type.Object(
  {
    agreements: Type.Array(AgreementSchema, { maxItems: MAX_AGREEMENTS }),
    accepted: Type.Boolean({ description: 'Whether all of them are accepted in their current version' }),
    acceptedAt: instantOrNull('When they were first accepted'),
  },
  component('AgreementList', 'What is to be accepted, and whether it is'),
)
const Body = Type.Object(
  { accepted: Type.Boolean({ description: 'Must be `true`' }) },
  component('AcceptRequest', 'Accepts all agreements in their current version'),
)
const response = {
  agreements: [{ id: 'terms', text: 'I accept the terms of service.', links: [] }],
  accepted: true,
  acceptedAt: examples.AT,
}
const SURFACES: readonly Surface[] = ['user', 'partner']

/** Reads and accepts the agreements, on both surfaces. Partner sessions need no scope for them. */
export function agreementOperations(services: AgreementServices): Operation[] {
  return SURFACES.flatMap(surface => [list(surface, services), accept(surface, services)])
}

const scopesOf = (surface: Surface, scope: string): string[] => (surface === 'user' ? [scope] : [])

async function read(
  { db, acceptances, product: { agreements } }: Pick<AgreementServices, 'db' | 'acceptances' | 'product'>,
  accountId: string,
): Promise<Success> {
  const at = await acceptances.acceptedAt(db, accountId)
  // Without agreements `at` is 0, and there is no time of acceptance.
  const acceptedAt = at ? new Date(at).toISOString() : null
  const accepted = at !== undefined
  return {
    data: { agreements: [...agreements], accepted, acceptedAt },
    summary: accepted ? 'The agreements are accepted.' : 'The agreements are not accepted yet.',
  }
}

function list(
  surface: Surface,
  services: Pick<AgreementServices, 'db' | 'acceptances' | 'product'>,
): Operation {
  return readOperation({
    id: 'agreements.list',
    title: 'Read the agreements',
    surface,
    paths: [`/${surface}/v1/agreements`],
    response: ResponseData,
    example: response,
    scopes: scopesOf(surface, 'agreements.read'),
    read: ({ accountId }) => read(services, accountId),
  })
}

function accept(surface: Surface, services: AgreementServices): Operation {
  const { db, clock, kyc, acceptances } = services
  return operation({
    id: 'agreements.accept',
    personOnly: true,
    title: 'Accept the agreements',
    surface,
    method: 'POST',
    paths: [`/${surface}/v1/agreements`],
    credential: 'session',
    body: Body,
    response: ResponseData,
    scopes: scopesOf(surface, 'agreements.write'),
    example: { body: { accepted: true }, response },
    ...(surface === 'partner' ? { denies: [409] } : {}),
    async handle({ caller: { session }, body }) {
      if (!body.accepted)
        return deny('invalid_request', 'accepted must be true: acceptance cannot be withdrawn here', {
          field: 'accepted',
        })
      const { accountId, keyId } = session
      if (surface === 'partner' && (await kyc.read(db, accountId)).status !== 'approved')
        return deny('invalid_state', 'kyc required: submit an application and wait until it is approved')
      await acceptances.accept(db, { accountId, keyId }, clock.now())
      return allow(await read(services, accountId))
    },
  })
}
