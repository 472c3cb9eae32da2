import type { Values } from './variables.ts'

/**
 * Nodes reached over plain http. The problem names only the chain, since a node's URL often holds an API key.
 */
export function unencryptedNodes({
  RPC_URLS: nodes = [],
  RPC_PRIVATE_NETWORK: declared,
}: Partial<Values>): string[] {
  const open = nodes.filter(({ url }) => !declared && isUnencrypted(new URL(url)))
  return open.map(
    ({ chainId }) =>
      `RPC_URLS must use https for chain ${chainId}: anyone on the network path to its node could forge payments; ` +
      'set RPC_PRIVATE_NETWORK=on if the network in between is private',
  )
}

/** Whether traffic to this URL can be read and changed on the way. `localhost` is loopback by RFC 6761. */
function isUnencrypted({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}
