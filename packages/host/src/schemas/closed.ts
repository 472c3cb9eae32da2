import type { TSchema } from 'typebox/type'

type Node = { readonly [name: string]: unknown }

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null

/**
 * Closes a schema: objects with declared members, at any depth, must have no others. A map (an object without declared members) stays
 * open.
 */
export function closed(schema: TSchema): TSchema {
  const node: Node = schema as unknown as Node
  const parts: Record<string, unknown> = {}
  if (isNode(node['properties'])) {
    const members = Object.entries(node['properties']).map(([name, each]) => [name, closed(each as TSchema)])
    Object.assign(parts, { properties: Object.fromEntries(members), additionalProperties: false })
  }
  if (isNode(node['items'])) parts['items'] = closed(node['items'])
  if (Array.isArray(node['anyOf'])) parts['anyOf'] = (node['anyOf'] as TSchema[]).map(closed)
  return { ...node, ...parts }
}
