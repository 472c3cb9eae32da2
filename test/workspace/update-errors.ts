// Writes docs/errors.md as the code lists are now: `npm run errors:update`.
import { writeFileSync } from 'node:fs'
import { errorsPage } from './errors.ts'

writeFileSync('docs/errors.md', await errorsPage())
