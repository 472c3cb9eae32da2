import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import type { Test } from 'tap'

/** Whether this process has the modules for runtimes without `node:crypto`; see `passOnTheWebPlatform`. */
export const isWebPlatform: boolean = process.env['GATEWRIGHT_PLATFORM'] === 'web'

/**
 * Counts the signature checks of this process by `node:crypto` and by Web Crypto until the test ends. `before` runs ahead of
 * each check by `node:crypto`.
 */
export function signatureChecks(
  test: Test,
  before: () => void = () => {},
): { readonly node: () => number; readonly web: () => number; readonly all: () => number } {
  const { subtle } = globalThis.crypto
  const [ofNode, ofWeb] = [crypto.verify, subtle.verify]
  let [node, web] = [0, 0]
  crypto.verify = ((...args: Parameters<typeof ofNode>) => {
    node++
    before()
    return ofNode(...args)
  }) as typeof ofNode
  subtle.verify = (...args: Parameters<typeof ofWeb>) => {
    web++
    return ofWeb.apply(subtle, args)
  }
  syncBuiltinESMExports()
  test.teardown(() => {
    crypto.verify = ofNode
    subtle.verify = ofWeb
    syncBuiltinESMExports()
  })
  return { node: () => node, web: () => web, all: () => node + web }
}
