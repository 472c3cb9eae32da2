import { allow, type Verdict } from '@gatewright/kernel'
import { deny, type AliasDenial } from './codes.ts'
import type { Alias, MatchedAlias } from './table.ts'

/** Requested scopes under current names. */
export interface TranslatedScopes {
  /** The scopes that may be granted, without repeats. */
  readonly scopes: string[]
  /** Retired scopes, which are accepted and grant nothing, without repeats. */
  readonly ignored: string[]
  readonly used: readonly MatchedAlias[]
}

/** Makes `Aliases.readScopes` for a table. */
export function createScopeReader(
  aliases: readonly Alias[],
): (surface: string, requested: readonly string[]) => Verdict<TranslatedScopes, AliasDenial> {
  const rows = new Map(
    aliases.flatMap(alias => (alias.kind === 'scope' ? [[`${alias.within}:${alias.from}`, alias]] : [])),
  )
  return (surface, requested) => {
    const scopes = new Set<string>()
    const ignored = new Set<string>()
    const used = new Map<string, MatchedAlias>()
    for (const name of requested) {
      const alias = rows.get(`${surface}:${name}`)
      if (!alias) {
        scopes.add(name)
        continue
      }
      used.set(alias.id, { alias })
      if (alias.mode === 'gone') {
        const instead = alias.to === null ? 'leave it out' : `request ${alias.to}`
        return deny('gone', `the scope ${name} is gone: ${instead}`, [...used.values()])
      }
      if (alias.to === null) ignored.add(name)
      else scopes.add(alias.to)
    }
    return allow({ scopes: [...scopes], ignored: [...ignored], used: [...used.values()] })
  }
}
