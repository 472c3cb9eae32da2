import { basename, resolve } from 'node:path'
import type { Choices } from './choices.ts'
import { STORE_TEMPLATES } from './stores.ts'

const DOCS = 'https://github.com/gatewright/gatewright/blob/main/docs'

/** The README of a project. */
export function readme({ directory, framework, store, issuer, audience }: Choices, scope: string): string {
  const isNext = framework === 'next'
  const [server, start, path] = isNext
    ? ['src/payments.ts', 'npm run dev', '/api/payments']
    : ['src/app.ts', 'npm start', '/payments']
  const pay = isNext ? 'src/app/api/payments/route.ts' : server
  const ignore = isNext
    ? "\nBefore the first commit: `printf 'node_modules\\n.next\\ndist\\n.env\\n' > .gitignore`.\n"
    : ''
  return `# ${basename(resolve(directory))}

A payment API: one write, which runs once for each \`Idempotency-Key\` of an account, under a daily cap.

The packages of Gatewright are not on npm yet:
[install them from a checkout](https://github.com/gatewright/gatewright#packages). From npm it will be:

\`\`\`sh
npm install
npm test
${start}
\`\`\`
${ignore}
${STORE_TEMPLATES[store].needs}

\`npm test\` needs no identity provider and no database: see [Test your own routes](${DOCS}/testing.md).

## Try it

\`$TOKEN\` is an access token of ${issuer} for \`${audience}\` with the scope \`${scope}\`.

\`\`\`sh
curl -i http://localhost:3000${path} -H "Authorization: Bearer $TOKEN" -H 'Idempotency-Key: payment-0001' \\
  -H 'Content-Type: application/json' -d '{"amountCents":2500}'
\`\`\`

The same command again pays nothing and gets the same response. A 401? [Read this](${DOCS}/401.md).

## Next

- Replace \`pay\` in \`${pay}\` by your payment processor, with \`idempotencyKey\` as its idempotency key.
- Change the caps and the operations in \`${server}\`: [policies](${DOCS}/policies.md), [operations](https://github.com/gatewright/gatewright/tree/main/packages/gatewright#operations).
- Before real money moves, read [Production](${DOCS}/production.md).
`
}
