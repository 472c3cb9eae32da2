// The pages for language models and coding agents, made from the pages for people.
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

const REPOSITORY = 'https://github.com/gatewright/gatewright/blob/main/'
const LINK = /\[([^\]]+)\]\(([^)]+)\)/g

/** The part of a page below a heading, with the heading, up to the next heading of the same or a higher level. */
export function section(page: string, heading: string): string {
  const lines = readFileSync(page, 'utf8').split('\n')
  const start = lines.indexOf(heading)
  if (start < 0) throw new Error(`${page} has no heading "${heading}"`)
  const level = heading.indexOf(' ')
  const rest = lines.slice(start + 1)
  const end = rest.findIndex(line => /^#+ /.test(line) && line.indexOf(' ') <= level)
  return [heading, ...rest.slice(0, end < 0 ? rest.length : end)].join('\n').trim()
}

/** A page up to its first heading of the second level, without its title. */
function introduction(page: string): string {
  const [first = ''] = readFileSync(page, 'utf8').split(/^## /m)
  return first.replace(/^# .*\n/, '').trim()
}

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

const AGENTS_FIRST = `Coding agents: read [the guide for agents](${REPOSITORY}docs/agents.md) before you write code.`

/** One line for each link of an item. What the item says after a colon stands behind each of them. */
function linesOfItem(item: string): string[] {
  const links = [...item.matchAll(LINK)]
  const said = item.replace(/^\[[^\]]+\]\([^)]+\)[: ]*/, '').replace(/[.;]$/, '')
  return links.map(
    ([link]) => `- ${absolute(link, 'docs')}${links.length === 1 && said !== '' ? `: ${said}` : ''}`,
  )
}

/** `docs/agents.md`: what an agent must know before it writes code that uses these packages. */
export function agentsPage(): string {
  const [example = ''] = /^```ts\n[^]*?^```$/m.exec(readFileSync('README.md', 'utf8')) ?? []
  return `# Guide for coding agents

Made from the other pages by \`npm run docs:update\`. It has what you must know before you add Gatewright to a server. All other pages are in
[llms.txt](llms.txt).

## Rules

- Give every write a name of the form \`tag.verb\`, and keep it: it is part of the record of each idempotency key.
- Pass \`effectId\` to the system that makes the effect, as its idempotency key. It is the same in every run of one request.
- Respond with 400, 402, 403 or 422 only if nothing happened: such a response frees the key. If you do not know, throw.
- Never write a token, an API key or an idempotency key of a client into a log.
- Do not catch a \`Fault\` to let a request pass: it means that a check could not be made.

## The smallest server

${example}

${section('docs/README.md', '# Documentation')
  .split('\n')
  .slice(1)
  .join('\n')
  .replace(/^\*\*The reference host[^]*/m, '')
  .replace('**Start**', 'The page of each framework:')
  .trim()}

${section('docs/idempotency.md', '## Which responses are stored')}

${section('docs/idempotency.md', '## When a key is free again')}

${section('docs/policies.md', '## Members')}

${section('docs/production.md', '## Money')}

## Errors

${introduction('docs/errors.md')}
`
}
