import * as Type from 'typebox/type'

const DECIMAL = '(?:eip155:)?([1-9][0-9]{0,14})'

/**
 * A chain in a request, by its EIP-155 number: a number, the same as text, in hex as wallets report it, or as a CAIP-2 id such as
 * `eip155:8453`. `readChainId` reads it.
 */
export const chainIdInput = (description: string) =>
  Type.Union(
    [
      Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
      Type.String({ pattern: `^(?:${DECIMAL}|0x[1-9a-f][0-9a-f]{0,11})$` }),
    ],
    { description: `${description}, such as 8453 or \`eip155:8453\`` },
  )

/** Reads a chain that has the form of `chainIdInput`. */
export function readChainId(given: number | string): number {
  return Number(String(given).replace(/^eip155:/, ''))
}

/** Reads a chain of the configuration: a decimal number, with or without `eip155:` before it; undefined for another text. */
export function configuredChainId(text: string): number | undefined {
  const [, digits] = new RegExp(`^${DECIMAL}$`).exec(text) ?? []
  return digits === undefined ? undefined : Number(digits)
}
