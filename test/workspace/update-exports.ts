// Records the public surface of the packages as it is now: `npm run exports:update`.
import { writeFileSync } from 'node:fs'
import { surfaces } from './surface.ts'

writeFileSync('test/workspace/exports.json', `${JSON.stringify(await surfaces(), null, 2)}\n`)
