import { legacyPage } from '@gatewright/legacy-alias-router'
import { aliasTable } from '#packages/reference-host/dist/product/aliases.js'
import { agentsPage, llmsText } from './agent-pages.ts'
import { boundsPage } from './bounds.ts'
import { configurationPage } from './configuration-page.ts'
import { errorsPage } from './errors.ts'
import { readmes } from './option-lists.ts'
import { unauthorizedPage } from './unauthorized.ts'

/** Every page that is made from code, by its path. `npm run docs:update` writes them. */
export const pages: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/401.md': unauthorizedPage,
  'docs/bounds.md': boundsPage,
  'docs/configuration.md': configurationPage,
  'docs/errors.md': errorsPage,
  'docs/legacy.md': () => legacyPage(aliasTable),
  ...readmes,
  // Last, because they are made from the other pages.
  'docs/coding-agents.md': agentsPage,
  'docs/llms.txt': llmsText,
}
