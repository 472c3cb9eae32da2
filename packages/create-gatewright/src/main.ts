#!/usr/bin/env node
import { HELP, readArguments } from './arguments.ts'
import { ask } from './ask.ts'
import { ChoiceError } from './choices.ts'
import { projectFiles } from './project.ts'
import { assertEmpty, writeProject } from './write.ts'

async function main(): Promise<void> {
  const given = readArguments(process.argv.slice(2))
  if (given === 'help') return console.log(HELP)
  // Before the questions: nobody answers them in vain.
  if (given.directory !== undefined) assertEmpty(given.directory)
  const choices = await ask(given)
  assertEmpty(choices.directory)
  const files = projectFiles(choices)
  writeProject(choices.directory, files)
  console.log(
    `Wrote ${Object.keys(files).length} files to ${choices.directory}. Its README.md says how to go on.`,
  )
}

try {
  await main()
} catch (error) {
  // An aborted question: the user has pressed Ctrl+C.
  const isAbort = error instanceof Error && error.name === 'AbortError'
  if (!(error instanceof ChoiceError) && !isAbort) throw error
  console.error(error.message)
  process.exitCode = 1
}
