import { randomUUID } from 'node:crypto'

/** Makes a new id: the kind, `_` and 32 random hexadecimal digits. */
export function newId(kind: string): string {
  return `${kind}_${randomUUID().replaceAll('-', '')}`
}
