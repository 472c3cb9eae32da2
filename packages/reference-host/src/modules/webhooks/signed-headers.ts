import type { EpochMs } from '@gatewright/kernel'
import type { Webhook } from 'standardwebhooks'
import { HOST_VERSION } from '../../product/version.ts'

/** Makes the header fields of an attempt to send an event, by Standard Webhooks 1.0.0: one signature of each signer. */
export function signedHeaders(
  signers: readonly Webhook[],
  { eventId, body }: { readonly eventId: string; readonly body: string },
  now: EpochMs,
): Record<string, string> {
  const at = new Date(now)
  return {
    'content-type': 'application/json',
    'user-agent': `Gatewright/${HOST_VERSION}`,
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(now / 1000)),
    'webhook-signature': signers.map(signer => signer.sign(eventId, at, body)).join(' '),
  }
}
