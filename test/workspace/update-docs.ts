// Writes every page and source that is made from code: npm run docs:update
import { writeFileSync } from 'node:fs'
import { startTestHost } from '../harness/host.ts'
import { clientSources } from './client-source.ts'
import { pages } from './pages.ts'

for (const [path, make] of Object.entries(pages)) writeFileSync(path, await make())

const host = await startTestHost()
const { body } = await host.send('/openapi.json?for=sdk')
await host.close()
for (const [path, text] of Object.entries(await clientSources(body))) writeFileSync(path, text)
