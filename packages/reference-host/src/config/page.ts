import { DEFAULT_LIMITS } from './rate-limits.ts'
import { UNSUPPORTED, variables } from './variables.ts'

/** The text of `docs/configuration.md`, made from the table of variables. */
export function configurationPage(): string {
  const rows = Object.entries(variables).map(
    ([name, { shown, meaning }]) => `| \`${name}\` | ${shown} | ${meaning} |`,
  )
  return `# Configuration

Environment variables only, read once at start. All problems are listed together, each by its variable, and the process ends with 1.
An empty variable counts as unset. This page is made by \`npm run docs:update\`.

| Variable | Default | Meaning |
|---|---|---|
${rows.join('\n')}

\`RATE_LIMITS\` takes ${Object.keys(DEFAULT_LIMITS)
    .map(name => `\`${name}\``)
    .join(', ')}. Windows are fixed: around the edge of two windows up to twice a limit can pass.

${UNSUPPORTED.map(name => `\`${name}\``).join(', ')} have a meaning in the design and none in this version: the host refuses to start with them.

## Live

\`GATEWRIGHT_ENV=live\` starts only with \`DATABASE_URL\`, \`KEY_PEPPERS\`, \`SIGNING_KEY_ENCRYPTION_KEY\`, \`TRUST_PROXY\` and an https \`PUBLIC_URL\`, and never
with \`RATE_LIMITS=off\` or \`REQUIRE_HTTPS=off\`. It generates no secrets, makes no sandbox partner, and accepts a partner key only after
\`gatewright partner-keys validate\`.
`
}
