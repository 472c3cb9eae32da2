#!/usr/bin/env node
// The command `gatewright`. This file is in the repository, because npm links a command only if its file exists at the installation,
// which is before the first build.
import { existsSync } from 'node:fs'

const main = new URL('dist/programs/command.js', import.meta.url)
if (existsSync(main)) await import(main.href)
else {
  process.stderr.write(
    'gatewright is not built yet: run npm run build, or npm start, and then the same command again\n',
  )
  process.exitCode = 1
}
