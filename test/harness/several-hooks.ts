import type { ResolveHook } from 'node:module'

/** Gives each test file that imports tap a test of its own (`own-tap.ts`), and tap our `Domain`. */
export const resolve: ResolveHook = (specifier, context, next) => {
  const from = context.parentURL ?? ''
  if (specifier === 'async-hook-domain')
    return { url: new URL('./own-domain.js', import.meta.url).href, format: 'module', shortCircuit: true }
  if (specifier !== 'tap' || !/\.(?:test|slow)\.js$/.test(from)) return next(specifier, context)
  const url = new URL('./own-tap.js', import.meta.url)
  url.searchParams.set('for', from)
  return { url: url.href, format: 'module', shortCircuit: true }
}
