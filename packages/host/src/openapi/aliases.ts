import { listAliases, type AliasTable, type Alias } from '@gatewright/legacy-alias-router'
import type { AliasKind } from '@gatewright/legacy-alias-router/internal'
import type { TObject } from 'typebox/type'
import type { Json } from './components.ts'

function served(aliases: AliasTable, kind: AliasKind): readonly Alias[] {
  return listAliases(aliases).filter(alias => alias.kind === kind && alias.mode !== 'gone')
}

/** Lists the names of a security scheme: the current one and its legacy names. */
export function schemeNames(name: string, aliases: AliasTable): readonly string[] {
  return [name, ...served(aliases, 'scheme').flatMap(({ from, to }) => (to === name ? [from] : []))]
}

/** Adds each security scheme under its legacy names. A legacy key scheme names the legacy header field. */
export function withLegacySchemes(
  schemes: Readonly<Record<string, Json>>,
  aliases: AliasTable,
): Readonly<Record<string, Json>> {
  const legacy = served(aliases, 'scheme').map(({ from, to }) => {
    const { name, ...scheme } = schemes[to as string] ?? {}
    const header = served(aliases, 'header').find(row => row.to === String(name).toLowerCase())
    const named = header?.from.replaceAll(/\b[a-z]/g, letter => letter.toUpperCase()) ?? name
    const description = `The old name of ${to}.`
    return [from, { ...scheme, ...(name === undefined ? {} : { name: named }), description }] as const
  })
  return { ...schemes, ...Object.fromEntries(legacy) }
}

/**
 * Adds the legacy names of a body's members, marked deprecated. Names inside an object are part of the schema
 * itself.
 */
export function withLegacyFields(schema: TObject, operation: string, aliases: AliasTable): Json {
  const { properties } = schema
  const legacy = served(aliases, 'request-field').flatMap(({ within, from, to }) => {
    const field = within === operation && !from.includes('.') ? properties[to as string] : undefined
    return field ? [[from, { ...field, deprecated: true }] as const] : []
  })
  return { ...schema, properties: { ...properties, ...Object.fromEntries(legacy) } }
}
