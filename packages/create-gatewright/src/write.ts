import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ChoiceError } from './choices.ts'
import type { ProjectFiles } from './project.ts'

/** Throws a `ChoiceError` unless the folder is empty or does not exist. An empty repository counts as empty. */
export function assertEmpty(directory: string): void {
  const found = statSync(directory, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isDirectory()) throw new ChoiceError(`${directory} is a file: name a new folder`)
  const names = readdirSync(directory).filter(name => name !== '.git')
  if (names.length > 0)
    throw new ChoiceError(
      `${directory} is not empty (it has ${names.slice(0, 3).join(', ')}): name a new folder`,
    )
}

/** Writes the files. Never overwrites one: a file that has appeared meanwhile is an error. */
export function writeProject(directory: string, files: ProjectFiles): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { flag: 'wx' })
  }
}
