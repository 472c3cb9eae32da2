import { allow, type Verdict } from '@gatewright/kernel'
import { deny, type AliasDenial } from './codes.ts'
import type { Alias, AliasUse } from './table.ts'

/** Requested scopes under current names. */
export interface ScopesRead {
  /** What may be granted, each once. */
  readonly scopes: string[]
  /** Retired ones: accepted, granting nothing, each once. */
  readonly ignored: string[]
  readonly used: readonly AliasUse[]
}

/** Compiles the scopes of a table: see `Aliases.readScopes`. */
export function scopeReader(
  aliases: readonly Alias[],
): (surface: string, requested: readonly string[]) => Verdict<ScopesRead, AliasDenial> {
  const rows = new Map(
    aliases.flatMap(alias => (alias.kind === 'scope' ? [[`${alias.within}:${alias.from}`, alias]] : [])),
  )
  return (surface, requested) => {
    const scopes = new Set<string>()
    const ignored = new Set<string>()
    const used = new Map<string, AliasUse>()
    for (const name of requested) {
      const alias = rows.get(`${surface}:${name}`)
      if (!alias) {
        scopes.add(name)
        continue
      }
      used.set(alias.id, { alias })
      if (alias.mode === 'gone') {
        const instead = alias.to === null ? 'leave it out' : `ask for ${alias.to}`
        return deny('gone', `the scope ${name} is gone: ${instead}`, [...used.values()])
      }
      if (alias.to === null) ignored.add(name)
      else scopes.add(alias.to)
    }
    return allow({ scopes: [...scopes], ignored: [...ignored], used: [...used.values()] })
  }
}
