/** Returns a chain id without the namespace of CAIP-2: `eip155:1` and `1` name one chain. Other texts are unchanged. */
export function plainChainId(text: string): string {
  return /^eip155:[1-9]\d*$/.test(text) ? text.slice('eip155:'.length) : text
}
