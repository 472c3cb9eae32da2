import { Counter, Gauge, type Registry } from 'prom-client'

/** What came of an attempt to send an event. `given_up`: it failed, and there is no other attempt. */
export type DeliveryOutcome = 'delivered' | 'failed' | 'given_up'

/** What happens to the events of a webhook endpoint: they arrive, the last attempt failed, or none are sent. */
export type EndpointState = 'working' | 'failing' | 'disabled'

/** The metrics of this product, beside those of every host. Labels are bounded and not secret. */
export interface ProductMetrics {
  /** Sets how many deposit addresses of a list are free. */
  freeAddresses(chainId: number, asset: string, free: number): void
  /** Sets the next index of an xpub. `xpub` is the id of its branch. */
  nextIndex(xpub: string, index: number): void
  /** Sets how long ago the newest block was mined up to which a chain was read for payments, in ms. */
  chainReadAge(chainId: number, ageMs: number): void
  /** Sets how many final blocks the search for unmatched transfers has yet to read. */
  unsearchedBlocks(chainId: number, blocks: number): void
  /** Counts a transfer to one of the host's addresses that matches no pay-in. */
  unmatched(chainId: number, reason: string): void
  /** Counts a decision about a payment by card: `authorized`, or `declined` with its reason. */
  authorization(outcome: string, reason: string): void
  /** Sets how many rows of a kind the operator must look at. */
  attention(kind: string, rows: number): void
  /** Counts an attempt to send an event to a webhook endpoint. */
  delivery(outcome: DeliveryOutcome): void
  /** Sets how many webhook endpoints are in a state. */
  webhookEndpoints(state: EndpointState, endpoints: number): void
}

/** Registers the metrics of this product. */
export function productMetrics(registry: Registry): ProductMetrics {
  const metrics = {
    free: new Gauge({
      name: 'gatewright_deposit_addresses_free',
      help: 'Deposit addresses of a list that are still free',
      labelNames: ['chain', 'asset'],
      registers: [registry],
    }),
    next: new Gauge({
      name: 'gatewright_deposit_next_index',
      help: 'Index of the next address of an xpub',
      labelNames: ['xpub'],
      registers: [registry],
    }),
    readAge: new Gauge({
      name: 'gatewright_chain_read_age_seconds',
      help: 'Age of the newest block up to which a chain was read for payments',
      labelNames: ['chain'],
      registers: [registry],
    }),
    unsearched: new Gauge({
      name: 'gatewright_unmatched_search_blocks',
      help: 'Final blocks that the search for unmatched payments has yet to read',
      labelNames: ['chain'],
      registers: [registry],
    }),
    unmatched: new Counter({
      name: 'gatewright_unmatched_transfers_total',
      help: 'Transfers to addresses of the host that match no pay-in, found by this host',
      labelNames: ['chain', 'reason'],
      registers: [registry],
    }),
    decisions: new Counter({
      name: 'gatewright_authorizations_total',
      help: 'Decisions about payments by card, by outcome and reason of the decline',
      labelNames: ['outcome', 'reason'],
      registers: [registry],
    }),
    attention: new Gauge({
      name: 'gatewright_rows_with_attention',
      help: 'Rows that the operator must look at, by kind',
      labelNames: ['kind'],
      registers: [registry],
    }),
    deliveries: new Counter({
      name: 'gatewright_webhook_deliveries_total',
      help: 'Attempts of this host to send an event to a webhook endpoint, by outcome; given_up: the last attempt failed too',
      labelNames: ['outcome'],
      registers: [registry],
    }),
    endpoints: new Gauge({
      name: 'gatewright_webhook_endpoints',
      help: 'Webhook endpoints by state: working, failing or disabled',
      labelNames: ['state'],
      registers: [registry],
    }),
  }
  return {
    freeAddresses: (chainId, asset, count) => metrics.free.set({ chain: String(chainId), asset }, count),
    nextIndex: (xpub, index) => metrics.next.set({ xpub }, index),
    chainReadAge: (chainId, ageMs) => metrics.readAge.set({ chain: String(chainId) }, ageMs / 1000),
    unsearchedBlocks: (chainId, blocks) => metrics.unsearched.set({ chain: String(chainId) }, blocks),
    unmatched: (chainId, reason) => metrics.unmatched.inc({ chain: String(chainId), reason }),
    authorization: (outcome, reason) => metrics.decisions.inc({ outcome, reason }),
    attention: (kind, count) => metrics.attention.set({ kind }, count),
    delivery: outcome => metrics.deliveries.inc({ outcome }),
    webhookEndpoints: (state, count) => metrics.endpoints.set({ state }, count),
  }
}
