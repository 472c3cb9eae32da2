import type { HostServices, Module, Chore } from '@gatewright/host'
import { createEventLanes, skipLostPlaces } from './publish-events.ts'
import type { EndpointState, ProductMetrics } from '../../product/metrics.ts'
import { deliveryRounds } from './delivery-rounds.ts'
import { endpoints, stateOf } from './endpoints.ts'
import { partnerEvents } from './operations.ts'
import { eventPublisher } from './publish.ts'
import { publishedEvents } from './published-events.ts'
import { webhookSender } from './send.ts'

/** How soon after its commit an event is published, and how soon after that it is sent. */
const SOON_MS = 1000
const MEASURE_MS = 5000

/** What publishing and sending work with. */
interface WebhookServices extends Pick<HostServices, 'db' | 'clock' | 'sealer' | 'environment' | 'report'> {
  readonly productMetrics: ProductMetrics
}

/** What partners and the operator are told: a feed of events, and their delivery to endpoints. */
export const webhooksModule: Module<WebhookServices> = {
  operations: services => [partnerEvents(services)],
  start: ({ db }) => createEventLanes(db),
  chores: webhookChores,
  collectors: ({ db, clock }) => [limit => publishedEvents.collect(db, limit, clock.now())],
  async restored({ db }) {
    await skipLostPlaces(db)
    return { done: ['Cursors of the event feed stay valid.'], differences: [] }
  },
  commands: () => import('./commands.ts'),
}

function webhookChores(services: WebhookServices): readonly Chore[] {
  const { db, clock, sealer, environment, report, productMetrics } = services
  const publish = eventPublisher(services, recipients => endpoints.wake(db, recipients, clock.now()))
  const deliver = deliveryRounds({
    db,
    clock,
    sealer,
    report,
    send: webhookSender(environment === 'sandbox' ? { isAllowed: () => true } : {}),
    count: outcome => productMetrics.delivery(outcome),
  })
  return [
    { name: 'publish events', everyMs: SOON_MS, run: publish },
    { name: 'deliver events', everyMs: SOON_MS, run: deliver },
    {
      name: 'measure webhooks',
      everyMs: MEASURE_MS,
      async run() {
        const all = await endpoints.list(db)
        for (const state of ['working', 'failing', 'disabled'] satisfies EndpointState[])
          productMetrics.webhookEndpoints(state, all.filter(each => stateOf(each) === state).length)
      },
    },
  ]
}
