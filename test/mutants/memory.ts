import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import type { Mutation } from './mutations.ts'

const DIRECTORY = 'build/mutants'
const FILE = `${DIRECTORY}/noticed.txt`

/** What earlier runs noticed, so that a run after new tests needs to repeat only the survivors. */
export interface Memory {
  wasNoticed(mutation: Mutation): boolean
  noticed(mutation: Mutation): void
}

/** Opens the list of noticed mutations. An entry names the code of the whole file: after a change of the file it no longer counts. */
export function openMemory(): Memory {
  mkdirSync(DIRECTORY, { recursive: true })
  const known = new Set(existsSync(FILE) ? readFileSync(FILE, 'utf8').split('\n') : [])
  const hashes = new Map<string, string>()
  const entry = ({ file, start, replacement }: Mutation): string => {
    const hash = hashes.get(file) ?? createHash('sha256').update(readFileSync(file)).digest('hex')
    hashes.set(file, hash)
    return createHash('sha256').update(`${hash} ${start} ${replacement}`).digest('hex')
  }
  return {
    wasNoticed: mutation => known.has(entry(mutation)),
    noticed: mutation => appendFileSync(FILE, `${entry(mutation)}\n`),
  }
}
