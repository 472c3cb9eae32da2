// The pages for language models and coding agents, made from the pages for people.
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

const REPOSITORY = 'https://github.com/gatewright/gatewright/blob/main/'
const LINK = /\[([^\]]+)\]\(([^)]+)\)/g

/** Links that work outside the repository. */
function absolute(markdown: string, folder: string): string {
  return markdown.replace(LINK, (_, text: string, target: string) => {
    const isComplete = /^[a-z]+:/.test(target)
    return `[${text}](${isComplete ? target : REPOSITORY + posix.join(folder, target)})`
  })
}

/** `docs/llms.txt` in the form that llmstxt.org describes: what the project is, then each list of docs/README.md. */
export function llmsText(): string {
  const [, title = '', summary = ''] = /^# (.+)\n\n(.+)\n/.exec(readFileSync('README.md', 'utf8')) ?? []
  const lists = readFileSync('docs/README.md', 'utf8')
    .replace(/\n {2}(?=\S)/g, ' ')
    .split('\n')
    .flatMap(line => {
      if (line.startsWith('**')) return ['', `## ${line.replaceAll('**', '')}`, '']
      return line.startsWith('- ') ? linesOfItem(line.slice(2)) : []
    })
  return [`# ${title}`, '', `> ${summary}`, '', AGENTS_FIRST, ...lists, ''].join('\n')
}

const AGENTS_FIRST = `Not on npm yet: the first lines of [the guide for coding agents](${REPOSITORY}docs/coding-agents.md) say how to install. Read it before you write code.`

/** One line for each link of an item. What the item says after a colon stands behind each of them. */
function linesOfItem(item: string): string[] {
  const links = [...item.matchAll(LINK)]
  const said = item.replace(/^\[[^\]]+\]\([^)]+\)[: ]*/, '').replace(/[.;]$/, '')
  return links.map(
    ([link]) => `- ${absolute(link, 'docs')}${links.length === 1 && said !== '' ? `: ${said}` : ''}`,
  )
}

/** `docs/coding-agents.md`: what an agent must know before it writes code that uses these packages. */
export function agentsPage(): string {
  return `# Guide for coding agents

**Install.** The packages are not on npm yet. In a checkout of this repository run \`npm ci && npm run pack:packages\`, then in your project
\`npm install PATH/gatewright/build/tarballs/*.tgz\` ([packages](../README.md#packages)). All other pages are in [llms.txt](llms.txt).

## Rules

- Give every write a name of the form \`tag.verb\`, and keep it: it is part of the record of each idempotency key.
- Pass \`effectId\` to the system that makes the effect, as its idempotency key. It is the same in every run of one request.
- Respond with 400, 402, 403 or 422 only if nothing happened: such a response frees the key. If you do not know, throw.
- An error that a handler throws leaves the outcome unknown. If nothing had happened, throw \`nothingHappened(error)\`.
- Amounts are integer US cents. Name every cap in \`policy\`, and say in \`spends\` what a write spends.
- Never write a token, an API key or an idempotency key of a client into a log.
- Do not catch a \`Fault\` to let a request pass: it means that a check could not be made.

The smallest server is in the [README](../README.md). To test it, use \`gatewright/testing\`: it has an issuer whose tokens are really verified, a clock, and a payment processor ([Test your own routes](testing.md)).
Send one request to each route, one repeat with its key, and one payment above the cap.
`
}
