let loading: Promise<typeof import('viem/utils')> | undefined

/** viem, loaded by the first call: it is 200 modules, which only contract wallets and its own recovery need. */
export function loadViem(): Promise<typeof import('viem/utils')> {
  loading ??= import('viem/utils')
  return loading
}
