const docs = (...names) => names.map(name => `docs/${name}.md`)

/** The groups of the site, each with its pages in order. */
export const GROUPS = {
  Start: [
    ...docs('README', 'quick-start/express', 'quick-start/fastify', 'quick-start/koa', 'quick-start/nestjs'),
    ...docs('quick-start/nextjs', 'quick-start/fetch', 'quick-start/node-http', 'testing', 'run'),
  ],
  Guides: [
    ...docs(
      'keys-and-sessions',
      'policies',
      'idempotency',
      'requests',
      'web-sign-in',
      'wallet-clients',
      'templates',
    ),
    ...docs(
      'money',
      'subscriptions',
      'deposits-and-withdrawals',
      'cards',
      'card-authorizations',
      'identity-check',
      'people',
      'events',
    ),
    ...docs(
      'migrating/stripe-style-idempotency',
      'migrating/express-rate-limit',
      'migrating/home-grown-api-keys',
    ),
    ...docs('legacy', 'retiring-an-api', 'client', 'commonjs'),
  ],
  Reference: [
    ...docs('api', 'errors', '401', 'configuration', 'bounds', 'glossary'),
    ...[
      'gatewright',
      'create-gatewright',
      'client',
      'kernel',
      'signature-verifier',
      'session-issuer',
      'scope-guard',
    ].map(name => `packages/${name}/README.md`),
    ...['idempotency-store', 'legacy-alias-router', 'http', 'host', 'reference-host'].map(
      name => `packages/${name}/README.md`,
    ),
  ],
  Operate: [
    ...docs('production', 'upgrades', 'backup-and-restore', 'storage', 'clusters', 'engines'),
    ...docs('partitions', 'scale', 'operator-page'),
    ...[
      'README',
      'leaked-key',
      'lost-pepper',
      'signing-key',
      'redis-lost',
      'database-failed-over',
      'history-lost',
      'restored',
      'disk-full',
      'provider-down',
      'flood',
    ].map(name => `docs/runbooks/${name}.md`),
  ],
  Internals: docs('architecture', 'threat-model', 'agents'),
}
