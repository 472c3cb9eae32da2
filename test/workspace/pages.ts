import { configurationPage } from '@gatewright/reference-host'

/** Every page that is made from code, by its path. `npm run docs:update` writes them. */
export const pages: Readonly<Record<string, () => string>> = {
  'docs/configuration.md': configurationPage,
}
