import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Files below `directory` whose name ends in `suffix`, sorted. */
export function filesBelow(directory: string, suffix: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith(suffix))
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => !path.includes('node_modules'))
    .sort()
}
