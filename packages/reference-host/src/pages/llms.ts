import { docsLink } from '@gatewright/kernel/internal'
import type { HostFacts } from './document.ts'

/** Makes `/llms.txt` (llmstxt.org): what a program that reads this host's documentation finds where. */
export function llmsText({ serviceName, environment, origin, pages }: HostFacts): string {
  const money =
    environment === 'sandbox' ? 'It is a sandbox: all money is play money.' : 'It moves real money.'
  return `# ${serviceName}

> A payment API with API keys that have limits of their own. ${money}

## This host

- [API description](${origin}/openapi.json?for=sdk): OpenAPI 3.1, for generators of clients
- [Errors](${origin}/errors): each code and rule, and what to do
${pages.docs ? `- [API reference](${origin}/docs): the description for people\n` : ''}${pages.helper ? `- [Console](${origin}/helper): a person signs in with a wallet, makes a key and sets its limits\n` : ''}
## Gatewright, the software of this host

- [Guide for coding agents](${docsLink('coding-agents.md')}): how to install and use it
- [Connect an agent](${docsLink('agents.md')}): the tools of this host for Claude, Cursor, VS Code and others
- [For partners](${docsLink('partners.md')}): from a key to live money, call by call
- [All pages](${docsLink('llms.txt')})
`
}
