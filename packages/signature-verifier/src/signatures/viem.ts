let loading: Promise<typeof import('viem/utils')> | undefined

/** Loads viem on the first call: only contract wallets need its 200 modules. */
export function loadViem(): Promise<typeof import('viem/utils')> {
  loading ??= import('viem/utils')
  return loading
}
