import { denialAnswer } from '@gatewright/http'
import type { Verdict } from '@gatewright/kernel'
import type { AliasDenial, Aliases, AliasUse } from '@gatewright/legacy-alias-router'
import type { Middleware } from 'koa'
import { deny } from './codes.ts'
import { shapeOfPath, type CanonicalFacts, type ExchangeState } from './exchange.ts'

/** Adds the old names that a reader found to the request's facts, whatever its verdict. */
export function noted<T extends { readonly used: readonly AliasUse[] }>(
  { oldNames }: Pick<CanonicalFacts, 'oldNames'>,
  read: Verdict<T, AliasDenial>,
): Verdict<T, AliasDenial> {
  oldNames.push(...(read.ok ? read.value.used : read.used))
  return read
}

/**
 * Turns old names into current ones before routing. The router matches the translated path itself (`newRouterPath`);
 * `ctx.url` and all that Koa derives from it keep what came. A request target that is not a path (absolute form, `*`)
 * is refused: it would carry a foreign host into links and keys.
 */
export function aliasStage(aliases: Aliases): Middleware<ExchangeState> {
  return async (ctx, next) => {
    const { exchange } = ctx.state
    const received = exchange.facts
    if (!received.path.startsWith('/')) {
      exchange.answer = denialAnswer(deny('invalid_request', 'the request target must be a path'), 'plain')
      return
    }
    const resolved = noted(received, aliases.resolve(received))
    if (!resolved.ok) {
      exchange.answer = denialAnswer(resolved, shapeOfPath(received.path))
      return
    }
    const { path, headers } = resolved.value
    exchange.facts = { ...received, path, header: name => headers[name] ?? received.header(name) }
    ctx['newRouterPath'] = path
    await next()
  }
}
