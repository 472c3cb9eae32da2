import { parseInstant } from '@gatewright/kernel/internal'
import type { EpochMs } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, readOperation } from '@gatewright/host'
import { instant, text, component, textOrNull } from '@gatewright/host/schemas'
import { counted } from '@gatewright/host/internal'
import { type Product, MAX_NOTICES } from '../../product/product.ts'

/** What the list of offers works with. */
interface SpotlightServices extends Pick<HostServices, 'clock'> {
  readonly product: Product
}

const Item = Type.Object(
  {
    id: text('Names the notice'),
    title: text('Its heading, one line'),
    text: text('What it says. Plain text'),
    url: textOrNull('Where to read on, https'),
    startsAt: instant('When it is first shown'),
    endsAt: instant('When it stops being shown'),
  },
  component('SpotlightItem', 'A notice of the operator'),
)
const ResponseData = Type.Object(
  { items: Type.Array(Item, { maxItems: MAX_NOTICES }) },
  component('SpotlightList', 'The notices that are shown now, in the order of the operator'),
)

/** `GET /user/v1/spotlight`: lists the notices that are shown now. */
export function listSpotlight({ product, clock }: SpotlightServices): Operation {
  const items = product.spotlight.map(item => ({
    item,
    from: parseInstant(item.startsAt) as EpochMs,
    until: parseInstant(item.endsAt) as EpochMs,
  }))
  return readOperation({
    id: 'spotlight.list',
    title: 'List the notices that are shown now',
    paths: ['/user/v1/spotlight'],
    scopes: ['spotlight.read'],
    response: ResponseData,
    example: {
      items: [
        {
          id: 'maintenance',
          title: 'Maintenance',
          text: 'Cards cannot be made on Sunday.',
          url: null,
          startsAt: '2026-11-01T00:00:00.000Z',
          endsAt: '2026-11-02T00:00:00.000Z',
        },
      ],
    },
    async read() {
      const now = clock.now()
      const shown = items.filter(({ from, until }) => from <= now && now < until).map(({ item }) => item)
      return { data: { items: shown }, summary: `${counted(shown.length, 'notices')}.` }
    },
  })
}
