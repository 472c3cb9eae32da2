// Writes every page that is made from code: npm run docs:update
import { writeFileSync } from 'node:fs'
import { pages } from './pages.ts'

for (const [path, make] of Object.entries(pages)) writeFileSync(path, await make())
