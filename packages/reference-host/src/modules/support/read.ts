import * as Type from 'typebox/type'
import { type HostServices, type Operation, readOperation } from '@gatewright/host'
import { component, text, textOrNull } from '@gatewright/host/schemas'
import { HOST_VERSION } from '../../product/version.ts'
import type { Product } from '../../product/product.ts'

/** What the read of the support contacts works with. */
interface SupportServices extends Pick<HostServices, 'environment'> {
  readonly product: Product
}

const Support = Type.Object(
  {
    email: textOrNull('Where to write to'),
    url: textOrNull('Where to read on'),
    statusUrl: textOrNull('Where outages are announced'),
    hours: textOrNull('When somebody is there'),
  },
  component('Support', 'Where people find help; null where there is nothing'),
)
const ResponseData = Type.Object(
  {
    support: Support,
    environment: Type.Enum(['sandbox', 'live']),
    version: text('The version of the host'),
    accountId: text('The account'),
  },
  component('SupportResponse', 'Where to find help, and what to quote there'),
)

/** `GET /user/v1/support`: reads where people find help. */
export function readSupport({ product: { support }, environment }: SupportServices): Operation {
  return readOperation({
    id: 'support.read',
    title: 'Get support contacts',
    details: 'Where to find help, and what to quote there.',
    paths: ['/user/v1/support'],
    scopes: ['support.read'],
    response: ResponseData,
    example: {
      support: { email: 'support@example.com', url: null, statusUrl: null, hours: 'Mon-Fri 9-17 UTC' },
      environment,
      version: HOST_VERSION,
      accountId: 'acc_5b0b4f9be2b84b6a9d8d6a2f65d3e2aa',
    },
    read: async ({ accountId }) => ({
      data: { support, environment, version: HOST_VERSION, accountId },
      summary: 'Where to find help.',
    }),
  })
}
